import type { Endpoint } from '@berth/api/endpoints.ts'
import { grants } from '@berth/api/scopes.ts'
import type { FastifyRequest } from 'fastify'
import type { ApiTokenAuthenticator } from '#/accounts/api-tokens/api-token-authenticator.ts'
import type { AuthenticationResult, Session, SessionAuthenticator } from '#/accounts/sessions/session-authenticator.ts'
import { refusals } from '#/errors.ts'
import { isLoopbackHost } from '#/ip-address.ts'
import { clientAddress } from '#/http/request/client-address.ts'
import { bearerApiToken } from '#/tokens/api-token-form.ts'
import { clearTokenCookies, hostName, type CookieSettings } from '#/tokens/clear-cookies.ts'

export interface AuthorizationParts {
  readonly authenticator: SessionAuthenticator
  readonly apiTokens: ApiTokenAuthenticator
  readonly cookie: CookieSettings
}

/**
 * Authenticates and authorizes a request to an endpoint by its access.
 * @returns the session, or undefined where none is needed
 * @throws {Refusal} 401 · 403
 */
export async function authorizeRequest(
  parts: AuthorizationParts,
  endpoint: Endpoint,
  request: FastifyRequest,
  now: Date,
): Promise<Session | undefined> {
  const { authenticator, cookie } = parts
  const { access } = endpoint
  refuseCrossSite(request)
  if (access === 'public') return undefined
  const { session: good, wasSent, isTossed } = await authenticate(parts, request, now)
  if (isTossed) throw refusals.tossedTokens(clearTokenCookies(request.url, request.headers.host, cookie))
  const session = good ?? (endpoint.endsTakeover ? await authenticator.endedTakeover(request.headers) : undefined)
  if (!session) throw wasSent ? refusals.invalidToken() : refusals.noToken()
  refuseForgeable(parts, endpoint, session, request)
  refuseMissingScope(endpoint, session)
  if (access === 'admin' && session.claims.acting !== null) throw refusals.takenOver()
  if (access === 'admin' && !(session.user?.isAdmin && !session.user.isBlocked)) throw refusals.notAdministrator()
  return session
}

/** An API token is accepted in the header alone, and then nothing else is read. */
async function authenticate(
  { authenticator, apiTokens }: AuthorizationParts,
  request: FastifyRequest,
  now: Date,
): Promise<AuthenticationResult> {
  const token = bearerApiToken(request.headers.authorization)
  if (token === undefined) return authenticator.authenticate(request.headers, now)
  const session = await apiTokens.authenticate(token, clientAddress(request.raw), now)
  return { session, wasSent: true, isTossed: false }
}

/** @throws {Refusal} 403 that names the scope, or says that no API token may call this endpoint */
function refuseMissingScope({ scope }: Endpoint, { scopes }: Session): void {
  if (scopes === undefined) return
  if (scope === undefined) throw refusals.notForApiTokens()
  if (!grants(scopes, scope)) throw refusals.missingScope(scope)
}

const isSafe = ({ method }: FastifyRequest) => method === 'GET' || method === 'HEAD'

/** A page of another site may not change anything here, whatever it sends. */
function refuseCrossSite(request: FastifyRequest): void {
  if (!isSafe(request) && request.headers['sec-fetch-site'] === 'cross-site') throw refusals.forgeable()
}

/**
 * CSRF protection. A browser sends the cookie with every request, and the pages of containers share our origin, so that
 * neither `Origin`, `Referer` nor `Sec-Fetch-Site` tells them from our own. The CSRF token does: only our own documents
 * contain it. It is required of browsers, for every change and for data that an app does not know of its visitor
 * anyway; a command-line client runs no other site's pages and needs none.
 */
function refuseForgeable(
  { authenticator, cookie }: AuthorizationParts,
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

/** Host names for which browsers behave as with https. */
