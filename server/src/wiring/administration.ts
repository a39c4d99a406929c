import type { RevokedSession } from '#/accounts/revocations.ts'
import { Deletion } from '#/administration/delete.ts'
import { ResendVerification } from '#/administration/resend-verification.ts'
import { Takeover } from '#/administration/takeover.ts'
import type { AppParts } from '#/app.ts'
import { homeVolume } from '#/containers/container-name.ts'
import { keptHomesTask } from '#/reconcile/kept-homes.ts'
import type { Reconciler } from '#/reconcile/reconciler.ts'
import { finishRemovals } from '#/reconcile/removals.ts'
import type { RemovedContainer } from '#/store/removals.ts'
import type { Accounts } from '#/wiring/accounts.ts'
import type { Containers } from '#/wiring/containers.ts'

/** What follows when sessions were ended in the store: of administrators who are none any more. */
export const endedElsewhere =
  ({ revocations }: Accounts) =>
  (ended: readonly RevokedSession[]) =>
    revocations.follow(ended)

export function wireTakeover({ database }: AppParts, { tokens }: Accounts, { events, places }: Containers) {
  return new Takeover(database, {
    tokenLifetime: tokens.lifetime,
    plan: (now, lifetime) => tokens.plan(now, lifetime),
    issue: (user, planned, acting) => tokens.issue(user, planned, acting),
    publish: (userId) => places.publishPerson(userId),
    tell: (userId, { by, reason, until }) =>
      events.tell(userId, { name: 'takeover', data: { by, reason, until: until.toISOString() } }),
  })
}

export function wireDeletion(
  { config, database, runtime, instance, log }: AppParts,
  accounts: Accounts,
  { admission, places, removal }: Containers,
  reconciler: Reconciler,
): Deletion {
  const settings = {
    keepHomes: config.keepHomes,
    types: config.templates.types,
    homeOf: ({ userId, slug, type }: RemovedContainer) => homeVolume(instance, userId, slug, type),
  }
  return new Deletion(database, settings, {
    publish: (userId) => {
      admission.recheck(userId)
      return places.publishPerson(userId)
    },
    refuse: endedElsewhere(accounts),
    remove: finishRemovals(removal, keptHomesTask(database, runtime), () => reconciler.activate(), log),
  })
}

export function wireResending({ database }: AppParts, { links }: Accounts): ResendVerification {
  return new ResendVerification(database, async (tx, user, { address, email, language }, now) => {
    const link = await links.issueIn(tx, user, 'signup', { kind: 'sent', address, language, by: email }, now)
    return (also) => links.mail(user, link, also)
  })
}
