import { withTransactionLimit } from '#/accounts/sign-up/link-limits.ts'
import { ProviderAccounts } from '#/accounts/oidc/provider-account.ts'
import { ProviderRegistry } from '#/accounts/oidc/provider-discovery.ts'
import { ProviderSignIn } from '#/accounts/oidc/provider-sign-in.ts'
import { ProviderSignOut } from '#/accounts/oidc/provider-sign-out.ts'
import { Seal } from '#/machine/seal.ts'
import type { Addresses } from '#/config/config.ts'
import { defaultLanguage } from '@berth/texts/language.ts'
import type { Groups } from './wire-groups.ts'
import type { AppParts } from './app-parts.ts'
import type { Accounts } from './wire-accounts.ts'
import type { Administration } from './wire-administration.ts'

export interface OidcContext {
  readonly addresses: Addresses
  readonly accounts: Accounts
  readonly administration: Administration
  readonly groups: Pick<Groups, 'providerMemberships' | 'onJoin'>
}

/** Sign-in by OpenID Connect providers. Without providers it sends no request. */
export function wireOidc({ config, database: store, key, log }: AppParts, context: OidcContext) {
  const { addresses, accounts, administration, groups } = context
  const database = withTransactionLimit(store)
  const { frontendUrl } = addresses
  const registry = new ProviderRegistry(config.providers)
  const seal = new Seal(key.secretFor('ID tokens'))
  const { endSessions } = administration
  const actorOf = (name: string, address: string) => ({ id: null, email: name, address, language: defaultLanguage })
  const providerSignIn = new ProviderSignIn({
    registry,
    frontendUrl,
    database,
    accounts: new ProviderAccounts({
      database,
      registration: accounts.registration,
      policy: config,
      onJoin: groups.onJoin,
      endAccess: async (userId, provider, now) => {
        // Sessions first: one of them could make another token meanwhile.
        await endSessions.ofUser(userId, 'ended', now)
        await administration.apiTokens.revokeAllOf(actorOf(`provider ${provider}`, ''), userId, now)
      },
    }),
    sessions: accounts.beginSession,
    seal,
    effects: {
      setAdministrator: (userId, isAdmin, { name, address }, now) =>
        administration.rights.followProvider(actorOf(name, address), userId, isAdmin, now),
      setMemberships: (member, names, now) => groups.providerMemberships.follow(member, names, now),
    },
  })
  const providerSignOut = new ProviderSignOut({ registry, frontendUrl, database: store, seal, endSessions, log })
  return { providers: config.providers, providerSignIn, providerSignOut }
}

export type Oidc = ReturnType<typeof wireOidc>
