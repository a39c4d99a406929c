import { scopedLifetime } from '#/accounts/access-token.ts'
import { accountsByMail } from '#/accounts/by-mail.ts'
import { SessionList } from '#/accounts/session-list.ts'
import { Sessions } from '#/accounts/session.ts'
import { VerifyLink } from '#/accounts/verify-link.ts'
import { RotateKeys } from '#/administration/rotate-keys.ts'
import type { AppParts } from '#/app.ts'
import type { Addresses } from '#/config.ts'
import type { Launch } from '#/containers/launch.ts'
import { retiredKeysTask } from '#/reconcile/retired-keys.ts'
import { reservedSlugs } from '#/reserved-slugs.ts'
import type { Containers } from '#/wiring/containers.ts'
import type { Tokens } from '#/wiring/tokens.ts'

/**
 * Signing up, in and out. @param soon called when something is left to be taken back
 * @param slugsKnown see `RegistrationSettings`
 */
export function wireAccounts(
  { config, database, mailer, key, log }: AppParts,
  { frontendUrl }: Addresses,
  { tokens, revocations }: Tokens,
  { launch, places }: Containers,
  soon: () => void,
  slugsKnown: Promise<unknown>,
) {
  const settings = { ...config, frontendUrl, reservedSlugs, slugsKnown }
  const byMail = accountsByMail({ database, mailer, settings, onOwed: soon, log })
  const effects = {
    publish: (userId: number) => places.publishPerson(userId),
    startPrimary: (user: Parameters<Launch['startPrimary']>[0]) => launch.startPrimary(user, new Date()),
    noteUse: (ms: number) => byMail.deliveries.used(ms),
  }
  return {
    tokens,
    revocations,
    sessions: new Sessions(database, tokens, revocations, key.secretFor('csrf')),
    sessionList: new SessionList(database, revocations),
    ...byMail,
    verifyLink: new VerifyLink(database, tokens, byMail.withdrawals, effects, log),
  }
}

/** The keys that tokens are signed with. @param tellKeys tells the gateway which keys are accepted, and whatever else it is told at the beginning */
export function wireKeys({ config, database, key }: AppParts, tellKeys: () => Promise<void>) {
  const tokenLifetime = Math.max(config.accessTokenExpires, scopedLifetime)
  return {
    rotateKeys: new RotateKeys(database, key, { tokenLifetime, tellKeys }),
    retiredKeys: retiredKeysTask(key, tellKeys),
  }
}

export type Accounts = ReturnType<typeof wireAccounts> & ReturnType<typeof wireKeys>
