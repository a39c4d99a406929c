import type { Revocations } from '#/accounts/sessions/revocations.ts'
import type { SessionList, SessionUses } from '#/accounts/sessions/session-list.ts'
import type { SigningKeys } from '#/accounts/sessions/signing-keys.ts'
import type { Compensations } from '#/accounts/sign-up/compensations.ts'
import type { UnverifiedAccounts } from '#/accounts/sign-up/registration.ts'
import type { Activity } from '#/containers/open-containers.ts'
import type { Task } from '#/containers/reconcile/reconciler.ts'
import type { IsSettled } from '#/machine/settled-dates.ts'
import type { Database } from '#/store/database.ts'
import { deleteExpiredLinks, deleteOldLinkRequests, deleteUnknownAddressRequests } from '#/store/magic-links.ts'
import { deleteOldPersonalFacts } from '#/store/personal-facts.ts'
import type { ApiTokens } from './api-tokens.ts'

/** Retention of requests for links, in ms: the rate limit counts those of an hour. */
const requestRetention = 2 * 3_600_000
/** Max requests for unknown addresses, some ten megabytes; only a flood makes more in two hours. */
const maxUnknownAddressRequests = 100_000

/**
 * Deletes expired links, requests, revocations, sessions and API tokens, so that the store does not grow without limit,
 * and retries writes that failed.
 */
export function expiredTask(
  database: Database,
  revocations: Revocations,
  compensations: Compensations,
  sessionList: SessionList,
  apiTokens: Pick<ApiTokens, 'prune'>,
): Task {
  return {
    name: 'expired',
    async run(now) {
      await deleteExpiredLinks(database.db, now)
      await deleteOldLinkRequests(database.db, new Date(now.getTime() - requestRetention))
      await deleteUnknownAddressRequests(database.db, maxUnknownAddressRequests)
      await revocations.save()
      await revocations.prune(now)
      await sessionList.prune(now)
      await apiTokens.prune(now)
      return { compensated: await compensations.retryPending() }
    },
  }
}

/**
 * Stops accepting replaced signing keys once their last tokens have expired.
 * @param publish sends the accepted keys to the gateway
 */
export function retiredKeysTask(keys: Pick<SigningKeys, 'dropExpired'>, publish: () => Promise<void>): Task {
  return {
    name: 'retired keys',
    async run(now) {
      const dropped = await keys.dropExpired(now)
      if (dropped > 0) await publish()
      return { dropped }
    },
  }
}

/** Deletes accounts that were not verified in time. */
export const unverifiedTask = (unverified: UnverifiedAccounts): Task => ({
  name: 'unverified',
  run: async (now) => ({ forgotten: await unverified.deleteExpired(now) }),
})

/** Writes `last_used` of containers with traffic, and of sessions, to the store. */
export function lastUsedTask(activity: Activity, sessions: SessionUses): Task {
  return {
    name: 'last used',
    async run() {
      await activity.writeDue()
      await sessions.writeDue()
      return {}
    },
  }
}

/** Deletes personal facts of the audit log whose retention is over. @param keep seconds */
export const personalFactsTask = ({ db }: Pick<Database, 'db'>, keep: number, isSettled: IsSettled): Task => ({
  name: 'personal facts',
  async run(now) {
    if (isSettled(now)) await deleteOldPersonalFacts(db, new Date(now.getTime() - keep * 1_000))
    return {}
  },
})
