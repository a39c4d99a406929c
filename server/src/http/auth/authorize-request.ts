import type { Endpoint } from '@berth/api/endpoints.ts'
import { grants } from '@berth/api/scopes.ts'
import type { FastifyRequest } from 'fastify'
import type { ApiTokenAuthenticator } from '#/accounts/api-tokens.ts'
import type { AuthenticationResult, Session, SessionAuthenticator } from '#/accounts/sessions/session-authenticator.ts'
import { refusals } from '#/refusals/errors.ts'
import { refuseCrossSite, refuseForgeable } from '#/http/auth/csrf-protection.ts'
import { clientAddress } from '#/http/gateway-headers.ts'
import { isActiveAdministrator } from '#/store/users.ts'
import { bearerApiToken } from '@berth/gateway/tokens/opaque-secrets.ts'
import { clearTokenCookies, type CookieSettings } from '@berth/gateway/tokens/token-selection.ts'

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
