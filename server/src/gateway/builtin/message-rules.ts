import type { IncomingMessage } from 'node:http'
import { gatewayRefusals } from './gateway-refusals.ts'

/**
 * Refuses what two programs could read in two ways, which is how requests are smuggled, and methods that no app should see.
 * Node's parser has refused the rest already: two lengths, length with coding, spaces before colons, folded lines.
 * @throws {GatewayRefusal} 400, 405 or 501
 */
export function checkMessage(request: IncomingMessage): void {
  if (request.method === 'TRACE' || request.method === 'CONNECT') throw gatewayRefusals.method()
  if (countHeaders(request, 'host') > 1) throw gatewayRefusals.badMessage('It names two hosts.')
  const coding = request.headers['transfer-encoding']
  if (coding === undefined) return
  // RFC 9112, 6.1: an HTTP/1.0 message with a transfer coding has faulty framing.
  if (request.httpVersion === '1.0') throw gatewayRefusals.badMessage('HTTP/1.0 knows no transfer coding.')
  // Node accepts `gzip, chunked` and undoes only the chunks; passing the rest on would change its meaning.
  if (coding.toLowerCase() !== 'chunked') throw gatewayRefusals.unknownCoding()
}

/**
 * A page of another site could open a WebSocket with this site's cookies, because no browser asks before it does.
 * No Origin means no browser. @param scheme `http` or `https`, as people see it
 * @throws {GatewayRefusal} 403 when the Origin is not our own
 */
export function checkOrigin(request: IncomingMessage, scheme: string): void {
  const origin = request.headers.origin
  if (origin === undefined) return
  if (origin.toLowerCase() !== ownOrigin(request, scheme)) throw gatewayRefusals.foreignOrigin()
}

/** Scheme and host under which this client sees us, lower-cased; what a browser sends as `Origin`. */
export function ownOrigin(request: IncomingMessage, scheme: string): string {
  return `${scheme}://${request.headers.host ?? ''}`.toLowerCase()
}

/** Whether bytes of a body belong to the request (RFC 9112, 6.3: only these two headers say so). */
export function hasBody(request: IncomingMessage): boolean {
  return request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0
}

/** A WebSocket's opening handshake, RFC 6455, 4.1. Everything else that wants to upgrade (h2c, TLS) stays plain HTTP. */
export function opensWebSocket(request: IncomingMessage): boolean {
  return request.method === 'GET' && request.headers.upgrade?.toLowerCase() === 'websocket' && !hasBody(request)
}

function countHeaders(request: IncomingMessage, name: string): number {
  return request.rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === name).length
}
