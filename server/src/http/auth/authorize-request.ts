import type { FastifyRequest } from 'fastify'
import type { Endpoint } from '@berth/api/endpoints.ts'
import { BlockedBody } from '@berth/api/schemas/error.ts'
import { grants } from '@berth/api/scopes.ts'
import { isLoopbackHost } from '@berth/gateway/basics/ip-address.ts'
import { bearerApiToken } from '@berth/gateway/tokens/opaque-secrets.ts'
import { clearTokenCookies, hostName, type CookieSettings } from '@berth/gateway/tokens/token-selection.ts'
import type { ApiTokenAuthenticator } from '#/accounts/api-tokens.ts'
import type { Revocations } from '#/accounts/sessions/revocations.ts'
import type { AuthenticationResult, Session, SessionAuthenticator } from '#/accounts/sessions/session-authenticator.ts'
import { refusalForBlockedUser } from '#/containers/blocked-containers.ts'
import { clientAddress } from '#/http/request-headers.ts'
import { refusals } from '#/refusals/errors.ts'
import type { Database } from '#/store/database.ts'
import { isActiveAdministrator } from '#/store/users.ts'
import type { Templates } from '#/templates/template.ts'

export interface AuthorizationParts {
  readonly authenticator: SessionAuthenticator
  readonly apiTokens: Pick<ApiTokenAuthenticator, 'authenticate'>
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
  const { session: good, wasSent, isTossed, candidates } = await authenticate(parts, request, now)
  if (isTossed) throw refusals.tossedTokens(clearTokenCookies(request.url, request.headers.host, cookie))
  const session =
    good ?? (endpoint.endsTakeover ? await authenticator.endedTakeover(request.headers, candidates) : undefined)
  if (!session) throw wasSent ? refusals.invalidToken() : refusals.noToken()
  refuseForgeable(parts, endpoint, session, request)
  refuseMissingScope(endpoint, session)
  if (access === 'admin' && session.claims.acting !== null) throw refusals.takenOver()
  if (access === 'admin' && !isActiveAdministrator(session.user)) throw refusals.notAdministrator()
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
  return { session, wasSent: true, isTossed: false, isUnbound: false, candidates: [] }
}

/** @throws {Refusal} 403 that names the scope, or says that no API token may call this endpoint */
function refuseMissingScope({ scope }: Endpoint, { scopes }: Session): void {
  if (scopes === undefined) return
  if (scope === undefined) throw refusals.notForApiTokens()
  if (!grants(scopes, scope)) throw refusals.missingScope(scope)
}

export interface CsrfParts {
  readonly authenticator: Pick<SessionAuthenticator, 'isCsrfToken'>
  readonly cookie: CookieSettings
}

const isSafe = ({ method }: FastifyRequest) => method === 'GET' || method === 'HEAD'

/** A page of another site may not change anything here, whatever it sends. @throws {Refusal} 403 */
function refuseCrossSite(request: FastifyRequest): void {
  if (!isSafe(request) && request.headers['sec-fetch-site'] === 'cross-site') throw refusals.forgeable()
}

/**
 * CSRF protection. A browser sends the cookie with every request, and the pages of containers share our origin, so that
 * neither `Origin`, `Referer` nor `Sec-Fetch-Site` tells them from our own. The CSRF token does: only our own documents
 * contain it. It is required of browsers, for every change and for data that an app does not know of its visitor
 * anyway; a command-line client runs no other site's pages and needs none. @throws {Refusal} 403
 */
function refuseForgeable(
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

export interface BlockedParts {
  readonly database: Pick<Database, 'db'>
  readonly templates: Templates
}

/**
 * Refuses a blocked user unless the endpoint's row has `blocked: 'may read'`. A block between this check and the work
 * is found by the use case itself, in its transaction or flight.
 * @param params of the path, already validated
 * @throws {Refusal} 404 user gone · 400 unknown container type · 403 blocked
 */
export async function refuseBlocked(
  { database, templates }: BlockedParts,
  endpoint: Endpoint,
  session: Session | undefined,
  params: unknown,
): Promise<void> {
  if (endpoint.access !== 'user' || endpoint.blocked === 'may read') return
  if (!session?.user) throw refusals.userGone()
  const { user } = session
  if (!user.isBlocked) return
  const { container_type: type = templates.first.type } = Object(params) as { container_type?: string }
  if (!templates.get(type)) throw refusals.unknownType(templates.openTypes)
  // A container with a block of its own answers with its time.
  if (endpoint.refusals[403] === BlockedBody) throw await refusalForBlockedUser(database.db, user.id, type)
  throw refusals.userBlocked()
}

/**
 * Refuses a token whose session a block has ended where something would last longer than the request: a stream, an API
 * token, a takeover. Elsewhere it is answered until it expires. To be called after `refuseBlocked`: as long as the block
 * lasts, the block is the reason.
 * @throws {Refusal} 401
 */
export function refuseEndedSession(
  revocations: Pick<Revocations, 'isEndedByBlock'>,
  { stream, needsSession }: Pick<Endpoint, 'stream' | 'needsSession'>,
  session: Session | undefined,
): void {
  // An API token belongs to no session.
  if (!session || session.scopes || (stream === undefined && needsSession !== true)) return
  if (revocations.isEndedByBlock(session.claims)) throw refusals.sessionBlocked()
}
