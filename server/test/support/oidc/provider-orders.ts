import type { ClientMetadata } from 'oidc-provider'

/** Arguments of the provider's program. */
export interface ProviderSettings {
  /** A free one without it. */
  readonly port?: number
  readonly hasClaimsAtUserInfoOnly: boolean
}

/** A user with an account at the provider. */
export interface ProviderPerson {
  readonly sub: string
  readonly claims: Readonly<Record<string, unknown>>
}

/** What a test tells the provider. */
export interface ProviderOrder {
  readonly client?: ClientMetadata
  /** Who signs in next, or with which error that ends. */
  readonly signsIn?: ProviderPerson | { readonly error: string; readonly error_description: string }
}
