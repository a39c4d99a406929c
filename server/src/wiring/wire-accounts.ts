import { scopedLifetime } from '#/accounts/sessions/access-token.ts'
import { wireEmailAccounts } from '#/wiring/wire-email-accounts.ts'
import { SessionList } from '#/accounts/sessions/session-list.ts'
import { SessionAuthenticator } from '#/accounts/sessions/session-authenticator.ts'
import { VerifyLink } from '#/accounts/links/verify-link.ts'
import { RotateKeys } from '#/administration/rotate-keys.ts'
import type { AppParts } from '#/app.ts'
import type { Addresses } from '#/config/config.ts'
import type { Launch } from '#/containers/launch/launch.ts'
import { retiredKeysTask } from '#/reconcile/tasks/retired-keys-task.ts'
import { reservedSlugs } from '#/reserved-slugs.ts'
import type { Containers } from '#/wiring/wire-containers.ts'
import type { Tokens } from '#/wiring/wire-tokens.ts'

/**
 * Signing up, in and out. @param soon called when something is left to be taken back
 * @param slugsKnown see `RegistrationSettings`
 */
export function wireAccounts(
  { config, database, mailer, key, log }: AppParts,
  { frontendUrl }: Addresses,
  { tokens, revocations }: Tokens,
  { launch, routeSync }: Containers,
  soon: () => void,
  slugsKnown: Promise<unknown>,
) {
  const settings = { ...config, frontendUrl, reservedSlugs, slugsKnown }
  const byMail = wireEmailAccounts({ database, mailer, settings, onPending: soon, log })
  const effects = {
    publish: (userId: number) => routeSync.publishPerson(userId),
    startPrimary: (user: Parameters<Launch['startPrimary']>[0]) => launch.startPrimary(user, new Date()),
    noteUse: (ms: number) => byMail.mailStatistics.used(ms),
  }
  return {
    tokens,
    revocations,
    authenticator: new SessionAuthenticator(database, tokens, revocations, key.secretFor('csrf')),
    sessionList: new SessionList(database, revocations),
    ...byMail,
    verifyLink: new VerifyLink(database, tokens, byMail.compensations, effects, log),
  }
}

/** The keys that tokens are signed with. @param publishKeys tells the gateway which keys are accepted, and whatever else it is told at the beginning */
export function wireKeys({ config, database, key }: AppParts, publishKeys: () => Promise<void>) {
  const tokenLifetime = Math.max(config.accessTokenExpires, scopedLifetime)
  return {
    rotateKeys: new RotateKeys(database, key, { tokenLifetime, publishKeys }),
    retiredKeys: retiredKeysTask(key, publishKeys),
  }
}

export type Accounts = ReturnType<typeof wireAccounts> & ReturnType<typeof wireKeys>
