import type { Configuration, IDToken } from 'openid-client'
import type { SignInAttempt } from './authorization-request.ts'
import {
  groupsIn,
  isSubject,
  signInGroups,
  verifiedEmailIn,
  type ClaimSet,
  type ProviderIdentity,
} from './provider-identity.ts'
import { problemOf } from './problem-of.ts'
import { clockTolerance, otherClientAuthentication } from './provider-discovery.ts'
import type { Provider } from './provider.ts'
import { SignInProblem } from './sign-in-problem.ts'

/** What the provider says of the person who signed in there. */
export interface ProviderAnswer {
  readonly identity: ProviderIdentity
  /** Kept for the sign-out at the provider. */
  readonly idToken: string
}

/**
 * Redeems the code of the provider's answer and checks everything that comes with it: state (CSRF), issuer of the answer
 * (mix-up attack, RFC 9207), PKCE (code injection), and of the ID token signature, algorithm, issuer, audience, nonce and
 * times.
 * @param redirectUri the one of the request; that the browser came by another host says nothing
 * @param answer query of the callback
 * @throws {SignInProblem}
 */
export async function exchangeCode(
  configuration: Configuration,
  provider: Provider,
  { redirectUri, answer, attempt }: { redirectUri: string; answer: string; attempt: SignInAttempt },
): Promise<ProviderAnswer> {
  const client = await import('openid-client')
  const url = new URL(redirectUri)
  url.search = answer
  try {
    const redeem = () =>
      client.authorizationCodeGrant(configuration, url, {
        expectedState: attempt.state,
        expectedNonce: attempt.nonce,
        pkceCodeVerifier: attempt.codeVerifier,
        idTokenExpected: true,
      })
    const switchAuthentication = otherClientAuthentication(configuration)
    const tokens = await redeem().catch((error: unknown) => {
      if (!isClientRefused(error) || !switchAuthentication()) throw error
      return redeem()
    })
    const claims = tokens.claims()
    if (!claims || tokens.id_token === undefined) throw new SignInProblem('untrusted-answer', 'there is no ID token')
    requireOneAudience(claims, provider.clientId)
    if (!isSubject(claims.sub))
      throw new SignInProblem(
        'untrusted-answer',
        'the subject is empty, too long, or has characters that none may have',
      )
    // Source: RFC 7519, 4.1.6; openid-client leaves this time alone.
    if (claims.iat > Date.now() / 1_000 + clockTolerance)
      throw new SignInProblem('untrusted-answer', 'the ID token is from the future')
    const more = needsUserInfo(claims, provider)
      ? await userInfo(configuration, tokens.access_token, claims, provider)
      : []
    return { identity: identityOf(claims, more, provider), idToken: tokens.id_token }
  } catch (error) {
    throw problemOf(error)
  }
}

/** `invalid_client`: client authentication failed; the code is unused then. Source: RFC 6749, 5.2. */
const isClientRefused = (error: unknown) => {
  const { name, error: code } = Object(error) as { name?: unknown; error?: unknown }
  return code === 'invalid_client' || name === 'WWWAuthenticateChallengeError'
}

/** Another audience could use the token as well; Berth trusts none. Source: OpenID Connect Core, 3.1.3.7, step 3. */
function requireOneAudience({ aud }: IDToken, clientId: string): void {
  const audiences = Array.isArray(aud) ? aud : [aud]
  if (audiences.some((each) => each !== clientId))
    throw new SignInProblem('untrusted-answer', 'the ID token is meant for other clients, too')
}

/** Providers may send claims of scopes only here. Source: OpenID Connect Core, 5.4. */
function needsUserInfo(claims: ClaimSet, provider: Provider): boolean {
  const lacksEmail = verifiedEmailIn([claims], provider)?.isVerified !== true
  return lacksEmail || (provider.groupsClaim !== null && groupsIn([claims], provider.groupsClaim) === undefined)
}

/** None when the provider has no such endpoint; undefined when it fails while the ID token says who it is. */
async function userInfo(
  configuration: Configuration,
  accessToken: string,
  claims: IDToken,
  provider: Provider,
): Promise<readonly ClaimSet[] | undefined> {
  if (configuration.serverMetadata().userinfo_endpoint === undefined) return []
  const client = await import('openid-client')
  try {
    // An answer about another subject is refused. Source: OpenID Connect Core, 5.3.2.
    return [await client.fetchUserInfo(configuration, accessToken, claims.sub)]
  } catch (error) {
    // What is not known of groups stays unknown, which is not the same as none.
    if (verifiedEmailIn([claims], provider)?.isVerified) return undefined
    throw error
  }
}

/** @param more what userinfo says; undefined: it failed */
function identityOf(claims: IDToken, more: readonly ClaimSet[] | undefined, provider: Provider): ProviderIdentity {
  const documents = [claims, ...(more ?? [])]
  return {
    provider: provider.id,
    issuer: claims.iss,
    subject: claims.sub,
    sid: typeof claims.sid === 'string' ? claims.sid : null,
    email: verifiedEmailIn(documents, provider),
    groups: signInGroups(documents, provider, more !== undefined),
  }
}
