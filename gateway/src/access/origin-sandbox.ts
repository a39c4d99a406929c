import { isHtmlNavigation, isServiceWorkerScript } from '#/http1/browser-request.ts'
import { headerValue } from '#/http1/header-lines.ts'
import type { RequestHead } from '#/http1/request-head.ts'
import { gatewayRefusals } from '#/pages/gateway-refusals.ts'
import type { Caller } from '#/tokens/token-verifier.ts'
import type { Route } from '#/upstream/route.ts'

/**
 * Every app shares its origin with all others and with the front end, and a browser sends its cookies along whichever page
 * asks. So a page that runs in the browser of a visitor who does not own the container gets an origin of its own: without
 * that it reads and changes everything in its visitor's own containers. Why, and what it costs: decision 032.
 */

/** Whether the pages of this route must not share the origin with the other pages of this caller's browser. */
export function isIsolated({ rules, entry }: Route, caller: Caller | undefined): boolean {
  if (caller?.acting !== undefined && caller.acting !== null) return true
  const isVisitor = caller === undefined ? rules.access !== 'owner' : caller.userId !== entry.ownerId
  return isVisitor && rules.sandboxVisitors !== false
}

/** What a page loads as from another site when its origin is opaque, and may not read the text of. */
const subresourceDestinations = new Set(['script', 'style', 'font'])

/**
 * Whether a page in such a sandbox loads a part of a public app: module scripts and fonts need the permission of CORS then.
 * Nothing in the request tells our page from one elsewhere, whose origin may be `null` as well. So it is given for what
 * pages of other sites may include anyway, and not for what `fetch` reads: an app that wants that says so itself.
 * @param lines of the request's head, each with its CRLF
 */
export function isSandboxedSubresource(route: Route, caller: Caller | undefined, lines: string): boolean {
  if (route.rules.access !== 'public' || caller !== undefined || !isIsolated(route, caller)) return false
  const text = `\r\n${lines}`
  return (
    headerValue(text, 'origin') === 'null' && subresourceDestinations.has(headerValue(text, 'sec-fetch-dest') ?? '')
  )
}

/**
 * Refuses what outlives the page, or could not work in a sandbox. A service worker of a visitor's from before is ended by
 * the answer to 404.
 * @throws {GatewayRefusal} 403 for the scripts of workers, and for an administrator's browser that is about to open a page
 *   of a user for whom they act · 404 for a visitor's service worker
 */
export function refuseUnsandboxable(route: Route, head: RequestHead, caller: Caller | undefined): void {
  if (!isIsolated(route, caller)) return
  const isActing = caller?.acting !== undefined && caller.acting !== null
  if (isServiceWorkerScript(head))
    throw isActing ? gatewayRefusals.workerWhileActing() : gatewayRefusals.visitorsWorker()
  if (headerValue(head.text, 'sec-fetch-dest') === 'sharedworker') throw gatewayRefusals.workerWhileActing()
  // In a sandbox its scripts and styles would be asked for without a cookie: an empty page that does not say why.
  const isByBrowser = headerValue(head.text, 'sec-fetch-mode') === 'navigate' && isHtmlNavigation(head)
  if (isActing && isByBrowser && route.rules.access !== 'public') throw gatewayRefusals.pageWhileActing()
}
