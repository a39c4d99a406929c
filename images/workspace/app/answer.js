import { asRefusal } from './refusal.js'

/** @import { IncomingMessage, ServerResponse } from 'node:http' */

/**
 * For the app's own pages, not for the user's files.
 * `'self'` is the whole host, other containers included; other hosts are excluded.
 * Inline styles have to be allowed: the terminal and the editor set their sizes with them.
 */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
].join('; ')

export const ownHeaders = {
  'content-security-policy': contentSecurityPolicy,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
}

/**
 * @param {ServerResponse} response
 * @param {number} status
 * @param {unknown} body
 * @param {Readonly<Record<string, string>>} [headers]
 */
export function sendJson(response, status, body, headers = {}) {
  const text = JSON.stringify(body)
  response.writeHead(status, {
    ...ownHeaders,
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(text)),
    'cache-control': 'no-store',
    ...headers,
  })
  response.end(text)
}

/**
 * @param {ServerResponse} response
 * @param {number} status
 * @param {string} html
 */
export function sendPage(response, status, html) {
  response.writeHead(status, {
    ...ownHeaders,
    'content-type': 'text/html; charset=utf-8',
    'content-length': String(Buffer.byteLength(html)),
    'cache-control': 'no-store',
  })
  response.end(html)
}

/**
 * Responds with `{error}`; a bug is logged with its cause and answered as 500 without it.
 * @param {IncomingMessage} request
 * @param {ServerResponse} response
 * @param {unknown} error
 */
export function sendError(request, response, error) {
  if (request.destroyed && !request.complete) return void response.destroy() // The client has disconnected.
  const refusal = asRefusal(error)
  if (!refusal) console.error(`${request.method} ${request.url?.split('?')[0]} failed:`, error)
  if (response.headersSent) return void response.destroy()
  // A refused body is read to its end and dropped: closing the connection during the upload would lose the response.
  request.resume()
  const message = refusal?.message ?? 'Something went wrong inside the workspace. Its log says more.'
  sendJson(response, refusal?.status ?? 500, { error: message }, refusal?.headers)
}
