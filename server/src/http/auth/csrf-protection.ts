import type { Endpoint } from '@berth/api/endpoints.ts'
import type { FastifyRequest } from 'fastify'
import type { Session, SessionAuthenticator } from '#/accounts/sessions/session-authenticator.ts'
import { refusals } from '#/refusals/errors.ts'
import { isLoopbackHost } from '@berth/gateway/basics/ip-address.ts'
import { hostName, type CookieSettings } from '@berth/gateway/tokens/token-selection.ts'

export interface CsrfParts {
  readonly authenticator: Pick<SessionAuthenticator, 'isCsrfToken'>
  readonly cookie: CookieSettings
}

const isSafe = ({ method }: FastifyRequest) => method === 'GET' || method === 'HEAD'

/** A page of another site may not change anything here, whatever it sends. @throws {Refusal} 403 */
export function refuseCrossSite(request: FastifyRequest): void {
  if (!isSafe(request) && request.headers['sec-fetch-site'] === 'cross-site') throw refusals.forgeable()
}

/**
 * CSRF protection. A browser sends the cookie with every request, and the pages of containers share our origin, so that
 * neither `Origin`, `Referer` nor `Sec-Fetch-Site` tells them from our own. The CSRF token does: only our own documents
 * contain it. It is required of browsers, for every change and for data that an app does not know of its visitor
 * anyway; a command-line client runs no other site's pages and needs none. @throws {Refusal} 403
 */
export function refuseForgeable(
  { authenticator, cookie }: CsrfParts,
  { access, guarded }: Endpoint,
  session: Session,
  request: FastifyRequest,
): void {
  const isOpen = isSafe(request) && access !== 'admin' && !guarded
  if (session.via === 'header' || isOpen) return
  refuseForgeableWithout((proof) => authenticator.isCsrfToken(session.claims, proof), request, cookie)
}

/** Refuses a browser that cannot prove that a page of ours asks. @throws {Refusal} 403 */
export function refuseForgeableWithout(
  isProof: (proof: string) => boolean,
  request: FastifyRequest,
  cookie: CookieSettings,
): void {
  if (!isBrowser(request, cookie)) return
  const proof = request.headers['x-csrf-token']
  if (typeof proof !== 'string' || !isProof(proof)) throw refusals.forgeable()
}

/**
 * Browsers of recent years send `Sec-Fetch-Site`, and `Origin` with every change. On plain http away from this machine,
 * a page that only reads sends neither, and may send any `User-Agent`: there every request with the cookie counts as a
 * browser's, and other clients send the token in a header. `Sec-Fetch-Mode` would not do: the `fetch` of Node.js sends
 * it, too.
 */
const isBrowser = ({ headers }: FastifyRequest, { isSecure }: CookieSettings) =>
  headers['sec-fetch-site'] !== undefined ||
  headers.origin !== undefined ||
  headers['user-agent']?.startsWith('Mozilla/') === true ||
  !(isSecure || isLoopbackHost(hostName(headers.host)))
