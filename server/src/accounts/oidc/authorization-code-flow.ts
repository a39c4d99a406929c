import { hash } from 'node:crypto'
import type { Configuration, IDToken } from 'openid-client'
import { isAddress } from '#/accounts/sign-up/email-address.ts'
import { clockTolerance, otherClientAuthentication } from './provider-discovery.ts'
import type { Provider, SignInAttempt } from './provider-settings.ts'
import { SignInProblem, problemOf } from './sign-in-problem.ts'

/**
 * Begins an attempt.
 * @param redirectUri where the provider sends the browser back to
 * @returns the address at the provider
 */
export async function authorizationRequest(
  configuration: Configuration,
  { id, scopes }: Provider,
  redirectUri: string,
  next: string,
): Promise<{ readonly location: string; readonly attempt: SignInAttempt }> {
  const client = await import('openid-client')
  const codeVerifier = client.randomPKCECodeVerifier()
  const attempt = { provider: id, state: client.randomState(), nonce: client.randomNonce(), codeVerifier, next }
  const parameters = {
    response_type: 'code',
    redirect_uri: redirectUri,
    scope: scopes.join(' '),
    state: attempt.state,
    nonce: attempt.nonce,
    // Source: RFC 7636, 4.2. Not the library's, which takes 20 to 30 us more of a request that needs no account.
    code_challenge: hash('sha256', codeVerifier, 'base64url'),
    code_challenge_method: 'S256',
  }
  try {
    return { location: client.buildAuthorizationUrl(configuration, parameters).href, attempt }
  } catch (error) {
    throw new SignInProblem('untrusted-answer', `its discovery document is incomplete: ${(error as Error).message}`)
  }
}

/** What the provider says of the person who signed in there. */
export interface ProviderAnswer {
  readonly identity: ProviderIdentity
  /** Kept for the sign-out at the provider. */
  readonly idToken: string
}

/**
 * Redeems the code of the provider's answer and checks everything that comes with it: state (CSRF), issuer of the
 * answer (mix-up attack, RFC 9207), PKCE (code injection), and of the ID token signature, algorithm, issuer, audience,
 * nonce and times.
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
    const redeemInSomeWay = (): ReturnType<typeof redeem> =>
      redeem().catch((error: unknown) => {
        if (!isClientRefused(error) || !switchAuthentication()) throw error
        return redeemInSomeWay()
      })
    const tokens = await redeemInSomeWay()
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
    emailDoubts: [...new Set(documents.flatMap((document) => emailDoubts(document, provider)))],
    groups: signInGroups(documents, provider, more !== undefined),
  }
}

/** The claims of one document: an ID token, or an answer of the userinfo endpoint. */
type ClaimSet = Readonly<Record<string, unknown>>

/** Who signed in, as a provider says. */
export interface ProviderIdentity {
  /** Id of the provider in the settings. */
  readonly provider: string
  /** With the subject the identity itself: both stay what they are when a person's address changes. */
  readonly issuer: string
  readonly subject: string
  /** The session at the provider; null when it does not say. */
  readonly sid: string | null
  readonly email: ProviderEmail | undefined
  /** Why claims about the address do not count, in words for the log; no value of a claim stands in them. */
  readonly emailDoubts: readonly string[]
  /** Undefined when the provider does not say, which is not the same as none. */
  readonly groups: readonly string[] | undefined
}

/**
 * Whether it can be told from every other subject once it is stored. PostgreSQL keeps no NUL, and neither database half
 * a surrogate pair: `U+FFFD` takes their place, so that several subjects would sign in to one account. Source: OpenID
 * Connect Core, 2: not empty, and at most 255 characters.
 */
export const isSubject = (text: string): boolean =>
  /^\P{Cc}{1,255}$/u.test(text) && text.length <= 255 && text.isWellFormed()

export interface ProviderEmail {
  /** Lower-cased; an address that mail can be sent to. */
  readonly address: string
  readonly isVerified: boolean
}

/**
 * The e-mail address of the first document that vouches for one, else the first address there is. What says that it is
 * verified must stand in the same document, and be about this address.
 */
function verifiedEmailIn(documents: readonly ClaimSet[], provider: Provider): ProviderEmail | undefined {
  const found = documents.flatMap((claims) => emailIn(claims, provider) ?? [])
  return found.find(({ isVerified }) => isVerified) ?? found[0]
}

function emailIn(claims: ClaimSet, { emailClaim, trustEmail }: Provider): ProviderEmail | undefined {
  const said = claims[emailClaim]
  // Beyond ASCII, lower-casing can make one person's address of another's.
  if (typeof said !== 'string' || !/^[\x21-\x7e]+$/.test(said)) return undefined
  const address = said.toLowerCase()
  if (!isAddress(address)) return undefined
  // Beside an `email` that differs, `email_verified` is about that one. Source: OpenID Connect Core, 5.1.
  const isAboutIt = claims.email === undefined || claims.email === said
  return { address, isVerified: trustEmail || (claims.email_verified === true && isAboutIt) }
}

/** What is wrong with the form of the claims about the address, which an administrator of the provider can mend. */
function emailDoubts(claims: ClaimSet, provider: Provider): string[] {
  const [said, verified] = [claims[provider.emailClaim], claims.email_verified]
  const doubts: string[] = []
  if (typeof said === 'string' && said !== '' && emailIn(claims, provider) === undefined)
    doubts.push(`claim ${provider.emailClaim} is no address that mail can be sent to`)
  if (said !== undefined && said !== null && typeof said !== 'string')
    doubts.push(`claim ${provider.emailClaim} is not a text but ${kindOf(said)}`)
  if (verified !== undefined && verified !== null && typeof verified !== 'boolean')
    doubts.push(`claim email_verified is not true or false but ${kindOf(verified)}`)
  return doubts
}

const kindOf = (value: unknown) =>
  Array.isArray(value) ? 'a list' : `a ${typeof value}`.replace('a object', 'an object')

/** The groups that the first document lists which has the claim: undefined, none and some are three things. */
function groupsIn(documents: readonly ClaimSet[], claim: string): readonly string[] | undefined {
  return documents.map((claims) => groupsOf(claims, claim)).find((groups) => groups !== undefined)
}

/**
 * The groups by which a sign-in goes: undefined when the provider does not say. Whether a claim that is absent says
 * "none" is a setting of the provider.
 * @param isComplete whether `documents` are all that the provider has: a document that failed may hold the claim
 */
export function signInGroups(
  documents: readonly ClaimSet[],
  { groupsClaim, groupsAbsent }: Provider,
  isComplete: boolean,
): readonly string[] | undefined {
  if (groupsClaim === null) return undefined
  const meansNone = groupsAbsent === 'none' && isComplete && documents.every((claims) => isAbsent(claims, groupsClaim))
  return groupsIn(documents, groupsClaim) ?? (meansNone ? [] : undefined)
}

/** A claim kept elsewhere, or in a form that is not understood, is not absent. Null is: OpenID Connect Core, 5.3.2. */
const isAbsent = (claims: ClaimSet, claim: string) =>
  (claims[claim] === undefined || claims[claim] === null) && !isKeptElsewhere(claims, claim)

/** Entra leaves out a list that is too long and names its claim here instead. Source: OpenID Connect Core, 5.6.2. */
const namesOfOmitted = '_claim_names'

const isKeptElsewhere = (claims: ClaimSet, claim: string) =>
  Object.hasOwn(Object(claims[namesOfOmitted]) as object, claim)

function groupsOf(claims: ClaimSet, claim: string): readonly string[] | undefined {
  if (isKeptElsewhere(claims, claim)) return undefined
  const said = claims[claim]
  if (typeof said === 'string') return said === '' ? [] : [said]
  return Array.isArray(said) && said.every((each) => typeof each === 'string') ? said : undefined
}
