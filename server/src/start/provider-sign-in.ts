import { ProviderAccounts } from '#/accounts/oidc/provider-account.ts'
import { ProviderRegistry } from '#/accounts/oidc/provider-discovery.ts'
import { ProviderSignIn } from '#/accounts/oidc/provider-sign-in.ts'
import { ProviderSignOut } from '#/accounts/oidc/provider-sign-out.ts'
import type { Accounts } from '#/accounts/open-accounts.ts'
import { withTransactionLimit } from '#/accounts/sign-up/link-limits.ts'
import type { Admin } from '#/admin/open-admin.ts'
import type { Addresses } from '#/config/config.ts'
import type { Groups } from '#/groups/open-groups.ts'
import { Seal } from '#/machine/seal.ts'
import { defaultLanguage } from '@berth/texts/language.ts'
import type { AppParts } from './app-parts.ts'

export interface ProviderSignInContext {
  readonly addresses: Addresses
  readonly accounts: Accounts
  readonly admin: Admin
  readonly groups: Groups
}

/**
 * Sign-in by OpenID Connect providers, which concerns three rooms: accounts, rights and memberships follow what a provider
 * says. Without providers it sends no request.
 */
export function openProviderSignIn(
  { config, database: store, key, log }: Pick<AppParts, 'config' | 'database' | 'key' | 'log'>,
  { addresses, accounts, admin, groups }: ProviderSignInContext,
): { readonly providerSignIn: ProviderSignIn; readonly providerSignOut: ProviderSignOut } {
  const database = withTransactionLimit(store)
  const { frontendUrl } = addresses
  const registry = new ProviderRegistry(config.providers)
  const seal = new Seal(key.secretFor('ID tokens'))
  const { endSessions } = admin
  const actorOf = (name: string, address: string) => ({ id: null, email: name, address, language: defaultLanguage })
  const providerSignIn = new ProviderSignIn({
    registry,
    frontendUrl,
    database,
    accounts: new ProviderAccounts({
      database,
      registration: accounts.registration,
      policy: config,
      onJoin: () => groups.joined(),
      endAccess: (userId, provider, now) => admin.endAccess(actorOf(`provider ${provider}`, ''), userId, now),
    }),
    sessions: accounts.beginSession,
    seal,
    effects: {
      setAdministrator: (userId, isAdmin, { name, address }, now) =>
        admin.rights.followProvider(actorOf(name, address), userId, isAdmin, now),
      setMemberships: (member, names, now) => groups.providerMemberships.follow(member, names, now),
    },
  })
  const providerSignOut = new ProviderSignOut({ registry, frontendUrl, database: store, seal, endSessions, log })
  return { providerSignIn, providerSignOut }
}
