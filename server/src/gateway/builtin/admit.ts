import type { IncomingMessage } from 'node:http'
import type { Caller, Destination, GatewayParts, Route } from '../gateway.ts'
import type { Target } from './first-segment.ts'
import { gatewayRefusals } from './gateway-refusals.ts'
import { isNavigation, isWorkerScript } from './navigation.ts'

/** What an admitted request gets: the app, or another address. */
export type Admission =
  | { readonly kind: 'app'; readonly route: Route; readonly caller: Caller | undefined }
  | { readonly kind: 'redirect'; readonly status: 302 | 308; readonly to: string }

/**
 * Decides who may pass and where to. Without a token the answer is the same whether the address exists or not,
 * and both questions are always asked, so that neither words nor time tell which addresses there are.
 * @throws {GatewayRefusal} 401 without a token, 404 nothing there, 403 not yours or blocked
 */
export async function admit(parts: GatewayParts, request: IncomingMessage, target: Target): Promise<Admission> {
  const [caller, destination] = await Promise.all([parts.identify(request), parts.find(target.segment)])
  const entered = allow(caller, destination)
  if (target.rest === '' && isWorkerScript(request)) throw gatewayRefusals.workerOnBarePrefix()
  if (entered.kind === 'home') return { kind: 'redirect', status: 302, to: homeAddress(entered.path, target) }
  if (entered.isBlocked) throw gatewayRefusals.containerBlocked()
  // A page at `/ann-dev` would resolve its relative links beside its prefix instead of under it.
  if (target.rest === '' && isNavigation(request))
    return { kind: 'redirect', status: 308, to: `/${target.segment}/${target.query}` }
  return { kind: 'app', route: entered, caller }
}

// An administrator is no owner: an app's page would otherwise run with the administrator's session at this origin.
function allow(caller: Caller | undefined, destination: Destination | undefined): Destination {
  const access = destination?.kind === 'route' ? destination.access : 'owner'
  if (caller === undefined && access !== 'public') throw gatewayRefusals.noToken()
  if (destination === undefined) throw gatewayRefusals.nothingHere()
  if (caller?.isBlocked) throw gatewayRefusals.callerBlocked()
  if (access === 'owner' && caller?.userId !== destination.ownerId) throw gatewayRefusals.notYours()
  return destination
}

function homeAddress(path: string, target: Target): string {
  return (target.rest === '' ? path : path.replace(/\/$/, '') + target.rest) + target.query
}
