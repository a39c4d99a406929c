import type { Person, TypeRules } from '../gateway.ts'
import type { AbsentContainer } from './absence-answer.ts'
import { headerValue } from './header-lines.ts'
import { refuseWhatLasts } from './isolation.ts'
import { isNavigation, isWorkerScript } from './navigation.ts'
import type { Caller, People } from './people.ts'
import { gatewayRefusals } from './refusals.ts'
import type { RequestHead } from './request-head.ts'
import type { Route } from './route.ts'
import type { Destination, Routes } from './routes.ts'
import { checkTarget, type Target } from './target.ts'

/** What an admitted request gets: the app, another address, or the word that there is no app yet. */
export type Admission =
  | { readonly kind: 'app'; readonly route: Route }
  | { readonly kind: 'missing'; readonly container: AbsentContainer }
  | { readonly kind: 'redirect'; readonly status: 302 | 308; readonly to: string }

/**
 * Decides who may pass and where to. Without a token the answer is the same whether the address exists or not.
 * An administrator is no owner (decision 003), because an app's page would otherwise run with the administrator's
 * session at this origin.
 * @throws {GatewayRefusal} 400 bad path, 401 without a token, 404 nothing there, 403 not yours or blocked
 */
export function admit(
  { routes, people, scheme }: { routes: Routes; people: People; scheme: string },
  head: RequestHead,
  target: Target,
  caller: Caller | undefined,
): Admission {
  checkTarget(target)
  const destination = routes.find(target.segment)
  const entered = allow(people, caller, destination)
  if (head.fields.opensWebSocket) checkOrigin(head, scheme)
  if (target.rest === '' && isWorkerScript(head)) throw gatewayRefusals.workerOnBarePrefix()
  if (entered.kind === 'home') return { kind: 'redirect', status: 302, to: homeAddress(entered.path, target) }
  if (entered.owner.isBlocked || (entered.kind === 'route' && entered.route.place.isBlocked))
    throw gatewayRefusals.containerBlocked()
  // A page at `/ann-dev` would resolve its relative links beside its prefix instead of under it. An app that keeps its prefix
  // decides that itself: one that redirects to the address without the slash would be sent back and forth for ever.
  if (target.rest === '' && rulesOf(entered).stripPrefix && isNavigation(head))
    return { kind: 'redirect', status: 308, to: `/${target.segment}/${target.query}` }
  if (entered.kind === 'route') {
    refuseWhatLasts(entered.route, head, caller)
    return { kind: 'app', route: entered.route }
  }
  const { prefix, type, rules } = entered
  const isOwner = isOwned(entered.owner, caller)
  return { kind: 'missing', container: { prefix, type, displayName: rules.displayName, isOwner } }
}

function allow(people: People, caller: Caller | undefined, destination: Destination | undefined): Destination {
  const { access } = rulesOf(destination)
  if (caller === undefined && access !== 'public') throw gatewayRefusals.noToken()
  if (destination === undefined) throw gatewayRefusals.nothingHere()
  if (caller && people.get(caller.userId)?.isBlocked) throw gatewayRefusals.callerBlocked()
  if (access === 'owner' && !isOwned(destination.owner, caller)) throw gatewayRefusals.notYours()
  return destination
}

const isOwned = (owner: Person, caller: Caller | undefined) => caller?.userId === owner.userId

const closed = { access: 'owner', stripPrefix: true } as const

function rulesOf(destination: Destination | undefined): Pick<TypeRules, 'access' | 'stripPrefix'> {
  if (destination === undefined || destination.kind === 'home') return closed
  return destination.kind === 'route' ? destination.route.rules : destination.rules
}

/**
 * A page of another site could open a WebSocket with this site's cookies, because no browser asks before it does.
 * No Origin means no browser.
 */
function checkOrigin({ text, fields: { host } }: RequestHead, scheme: string): void {
  const origin = headerValue(text, 'origin')
  if (origin === undefined) return
  if (/\r\norigin:[^]*\r\norigin:/i.test(text)) throw gatewayRefusals.foreignOrigin()
  if (origin.toLowerCase() !== `${scheme}://${host ?? ''}`.toLowerCase()) throw gatewayRefusals.foreignOrigin()
}

function homeAddress(path: string, target: Target): string {
  return (target.rest === '' ? path : path.replace(/\/$/, '') + target.rest) + target.query
}
