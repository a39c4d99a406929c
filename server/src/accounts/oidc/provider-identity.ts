import { isAddress } from '#/accounts/sign-up/email-address.ts'
import type { Provider } from './provider.ts'

/** The claims of one document: an ID token, or an answer of the userinfo endpoint. */
export type ClaimSet = Readonly<Record<string, unknown>>

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
  /** Undefined when the provider does not say, which is not the same as none. */
  readonly groups: readonly string[] | undefined
}

/**
 * Whether it can be told from every other subject once it is stored. PostgreSQL keeps no NUL, and neither database half a
 * surrogate pair: `U+FFFD` takes their place, so that several subjects would sign in to one account. Source: OpenID Connect
 * Core, 2: not empty, and at most 255 characters.
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
export function verifiedEmailIn(documents: readonly ClaimSet[], provider: Provider): ProviderEmail | undefined {
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

/** The groups that the first document lists which has the claim: undefined, none and some are three things. */
export function groupsIn(documents: readonly ClaimSet[], claim: string): readonly string[] | undefined {
  return documents.map((claims) => groupsOf(claims, claim)).find((groups) => groups !== undefined)
}

/**
 * The groups by which a sign-in goes: undefined when the provider does not say. Whether a claim that is absent says "none"
 * is a setting of the provider.
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
