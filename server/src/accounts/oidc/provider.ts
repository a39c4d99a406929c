/** An OpenID Connect provider as the operator configures it, checked. */
export interface Provider {
  /** Key in `OIDC_PROVIDERS_FILE`; part of the redirect address. */
  readonly id: string
  /** On the button of the login page. */
  readonly displayName: string
  /** https, or http at a loopback address. */
  readonly issuer: string
  readonly clientId: string
  /** Null: a public client, which PKCE alone protects. */
  readonly clientSecret: string | null
  readonly scopes: readonly string[]
  /** Claim that holds the e-mail address. */
  readonly emailClaim: string
  /** Whether an address counts although the provider does not say that it is verified. */
  readonly trustEmail: boolean
  readonly groupsClaim: string | null
  /** What a sign-in without the claim says: nothing (`keep`), or that the user is in no group (`none`). */
  readonly groupsAbsent: 'keep' | 'none'
  /** Groups of the claim that become memberships, as names or prefixes with `*`; null: all of them. */
  readonly memberGroups: readonly string[] | null
  /** Members of one of these may sign in; null: all users. */
  readonly allowedGroups: readonly string[] | null
  /** Members of one of these are administrators, and others are not; null: the provider has no say in it. */
  readonly adminGroups: readonly string[] | null
}

/** Path at which the provider answers, below the public address of the front end; the operator enters it there. */
export const callbackPath = (providerId: string): string => `/api/auth/oidc/${providerId}/callback`

/** Path that begins a sign-in at a provider. */
export const startPath = (providerId: string): string => `/api/auth/oidc/${providerId}/start`
