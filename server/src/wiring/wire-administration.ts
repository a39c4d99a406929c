import type { RevokedSession } from '#/accounts/sessions/revocations.ts'
import { Deletion } from '#/administration/deletion.ts'
import { ResendVerification } from '#/administration/resend-verification.ts'
import { Takeover } from '#/administration/takeover.ts'
import type { AppParts } from '#/app.ts'
import { homeVolume } from '#/containers/container-name.ts'
import { keptHomesTask } from '#/reconcile/tasks/kept-homes-task.ts'
import type { Reconciler } from '#/reconcile/reconciler.ts'
import { finishRemovals } from '#/reconcile/tasks/removals-task.ts'
import type { RemovedContainer } from '#/store/containers/removals.ts'
import type { Accounts } from '#/wiring/wire-accounts.ts'
import type { Containers } from '#/wiring/wire-containers.ts'

/** What follows when sessions were ended in the store: of administrators who are none any more. */
export const revokeEndedSessions =
  ({ revocations }: Accounts) =>
  (ended: readonly RevokedSession[]) =>
    revocations.revokeLocally(ended)

export function wireTakeover({ database }: AppParts, { tokens }: Accounts, { events, routeSync }: Containers) {
  return new Takeover(database, {
    tokenLifetime: tokens.lifetime,
    plan: (now, lifetime) => tokens.plan(now, lifetime),
    issue: (user, planned, acting) => tokens.issue(user, planned, acting),
    publish: (userId) => routeSync.publishPerson(userId),
    notify: (userId, { by, reason, until }) =>
      events.publish(userId, { name: 'takeover', data: { by, reason, until: until.toISOString() } }),
  })
}

export function wireDeletion(
  { config, database, runtime, installation, log }: AppParts,
  accounts: Accounts,
  { admission, routeSync, removal }: Containers,
  reconciler: Reconciler,
): Deletion {
  const settings = {
    keepHomes: config.keepHomes,
    types: config.templates.types,
    homeOf: ({ userId, slug, type }: RemovedContainer) => homeVolume(installation, userId, slug, type),
  }
  return new Deletion(database, settings, {
    publish: (userId) => {
      admission.recheck(userId)
      return routeSync.publishPerson(userId)
    },
    revokeSessions: revokeEndedSessions(accounts),
    remove: finishRemovals(removal, keptHomesTask(database, runtime), () => reconciler.activate(), log),
  })
}

export function wireResending({ database }: AppParts, { links }: Accounts): ResendVerification {
  return new ResendVerification(database, async (tx, user, { address, email, language }, now) => {
    const link = await links.issueIn(tx, user, 'signup', { kind: 'sent', address, language, by: email }, now)
    return (also) => links.mail(user, link, also)
  })
}
