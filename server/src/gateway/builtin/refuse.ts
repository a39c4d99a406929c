import type { IncomingMessage, ServerResponse } from 'node:http'
import type { GatewayParts } from '../gateway.ts'
import type { GatewayRefusal } from './gateway-refusals.ts'
import { isNavigation } from './navigation.ts'
import { pagePolicy, refusalPage } from './refusal-page.ts'

/** Where people are led from a refusal. */
export type WaysOn = Pick<GatewayParts, 'loginUrl' | 'dashboardUrl'>

const always = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' }

/**
 * Answers with a refusal: the login page for a browser without a token, a page for other navigations, `{error}` for all else.
 * When the answer has begun already it cannot be taken back: the connection is cut, so that nobody takes a part for the whole.
 */
export function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  refusal: GatewayRefusal,
  ways: WaysOn,
): void {
  if (response.headersSent) {
    response.destroy()
    return
  }
  if (!isNavigation(request)) sendJson(response, refusal)
  else if (refusal.status === 401) redirect(response, 302, loginAddress(ways.loginUrl, request.url ?? '/'))
  else sendPage(response, refusal, ways.dashboardUrl)
}

/** Sends the client elsewhere. @param to goes into `Location` as it is */
export function redirect(response: ServerResponse, status: 302 | 308, to: string): void {
  response.writeHead(status, { ...always, location: to, 'content-length': 0 })
  response.end()
}

function sendJson(response: ServerResponse, refusal: GatewayRefusal): void {
  const body = JSON.stringify({ error: refusal.message })
  send(response, refusal, { 'content-type': 'application/json; charset=utf-8' }, body)
}

function sendPage(response: ServerResponse, refusal: GatewayRefusal, dashboardUrl: string): void {
  const page = refusalPage(refusal.status, refusal.message, dashboardUrl)
  send(response, refusal, { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': pagePolicy }, page)
}

function send(response: ServerResponse, refusal: GatewayRefusal, type: Record<string, string>, body: string): void {
  const length = { 'content-length': Buffer.byteLength(body) }
  response.writeHead(refusal.status, { ...always, ...refusal.headers, ...type, ...length })
  response.end(body)
}

/** The login page with the way back: path and query only, so that it can never lead to another host. */
function loginAddress(loginUrl: string, target: string): string {
  return `${loginUrl}${loginUrl.includes('?') ? '&' : '?'}next=${encodeURIComponent(target)}`
}
