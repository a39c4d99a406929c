import { isContainerLabel } from '#/basics/host-label.ts'
import { gatewayRefusals } from '#/pages/gateway-refusals.ts'
import { redirectResponse, type GatewayResponse } from '#/pages/gateway-response.ts'
import { isServiceWorkerScript } from '#/http1/browser-request.ts'
import type { RequestHead } from '#/http1/request-head.ts'
import { isContainerSegment, type RequestPath } from '#/http1/request-path.ts'
import type { ContainerHost, ContainerHosts } from './container-hosts.ts'

/** A request to a container's host, as if it had been sent below the path of the container: all of its path is the app's. */
export function pathOnHost({ prefix }: ContainerHost, target: string, { query }: RequestPath): RequestPath {
  return { segment: prefix, rest: target.slice(0, target.length - query.length), query }
}

/**
 * The answer to `/{slug}-{type}/...` of the platform's host: the same path of the container's host, with or without a
 * sign-in, and whether there is such a container or not. The host is made of the settings and of one label, so it cannot lead elsewhere.
 * @param isRoute whether there is a container with this prefix: its owner's slug may be reserved since then
 * @returns undefined for every other path @throws {GatewayRefusal} 403 for the script of a worker that would have the scope `/`
 */
export function redirectToHost(
  hosts: ContainerHosts,
  { reservedSlugs, isRoute }: { reservedSlugs: ReadonlySet<string>; isRoute: (prefix: string) => boolean },
  head: RequestHead,
  { segment, rest, query }: RequestPath,
): GatewayResponse | undefined {
  if (!isContainerLabel(segment)) return undefined
  if (!isContainerSegment(segment, reservedSlugs) && !isRoute(segment)) return undefined
  // Browsers follow no redirect of a worker's script, so below the prefix none is registered either. One from the time of
  // path routing is ended by the front end, at whose origin it would go on.
  if (rest === '' && isServiceWorkerScript(head)) throw gatewayRefusals.workerOnBarePrefix()
  return redirectResponse(308, `${hosts.originOf(segment)}${rest === '' ? '/' : rest}${query}`)
}
