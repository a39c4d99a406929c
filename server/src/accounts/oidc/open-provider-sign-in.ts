import type { Logger } from 'pino'
import type { Actor } from '#/accounts/actor.ts'
import type { SigningKeys } from '#/accounts/sessions/signing-keys.ts'
import type { SignUpPolicy } from '#/accounts/sign-up/email-address.ts'
import type { Accounts } from '#/accounts/open-accounts.ts'
import { withTransactionLimit } from '#/accounts/sign-up/link-limits.ts'
import { Seal } from '#/machine/seal.ts'
import type { Database } from '#/store/database.ts'
import { defaultLanguage } from '@berth/texts/language.ts'
import { ProviderAccounts } from './provider-account.ts'
import { ProviderRegistry } from './provider-discovery.ts'
import type { Provider } from './provider-settings.ts'
import { ProviderSignIn } from './provider-sign-in.ts'
import { ProviderSignOut, type ProviderSignOutParts } from './provider-sign-out.ts'

export type { ProviderSignIn } from './provider-sign-in.ts'
export type { ProviderSignOut } from './provider-sign-out.ts'
export { SignInProblem } from './sign-in-problem.ts'

export interface ProvidersParts {
  readonly config: SignUpPolicy & { readonly providers: readonly Provider[] }
  readonly addresses: { readonly frontendUrl: string }
  readonly database: Database
  readonly key: SigningKeys
  readonly accounts: Pick<Accounts, 'registration' | 'beginSession'>
  /** The room of administration, which is above this one: it ends sessions and API tokens, and with them takeovers. */
  readonly admin: {
    readonly endSessions: ProviderSignOutParts['endSessions']
    endAccess(actor: Actor, userId: number, now: Date): Promise<void>
  }
  readonly log: Logger
}

/**
 * Sign-in and sign-out at OpenID Connect providers; without providers nothing is requested. Rooms above subscribe to
 * `providerSignIn.onGroups` and `providerSignIn.onJoin`.
 */
export function openProviderSignIn({ config, addresses, database: store, key, accounts, admin, log }: ProvidersParts): {
  readonly providerSignIn: ProviderSignIn
  readonly providerSignOut: ProviderSignOut
} {
  const database = withTransactionLimit(store)
  const { frontendUrl } = addresses
  const registry = new ProviderRegistry(config.providers)
  const seal = new Seal(key.secretFor('ID tokens'))
  const endAccess = (userId: number, provider: string, now: Date) =>
    admin.endAccess(providerActor(provider, ''), userId, now)
  const providerAccounts = new ProviderAccounts({
    database,
    registration: accounts.registration,
    policy: config,
    endAccess,
  })
  const providerSignIn = new ProviderSignIn({
    registry,
    frontendUrl,
    database,
    accounts: providerAccounts,
    sessions: accounts.beginSession,
    seal,
  })
  const { endSessions } = admin
  const providerSignOut = new ProviderSignOut({ registry, frontendUrl, database: store, seal, endSessions, log })
  return { providerSignIn, providerSignOut }
}

/** A provider in the audit log. @param address that the request came from */
export const providerActor = (provider: string, address: string): Actor => ({
  id: null,
  email: `provider ${provider}`,
  address,
  language: defaultLanguage,
})
