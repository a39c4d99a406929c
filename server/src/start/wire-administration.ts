import { EndSessions } from '#/accounts/sessions/session-list.ts'
import { PrintLink } from '#/accounts/sign-up/magic-link.ts'
import { endOfBlocked, revocationOf } from '#/accounts/sessions/revocations.ts'
import { AdminLists, ApiTokenAdministration, AuditReader } from '#/admin/admin-lists.ts'
import { BlockPreviews, ContainerBlocking, UserBlocking } from '#/admin/blocking.ts'
import { StopContainer } from '#/admin/operator-actions.ts'
import { Deletion } from '#/admin/deletion.ts'
import { ResendVerification, Rights } from '#/admin/user-administration.ts'
import { Takeover } from '#/admin/takeover.ts'
import { archiveFilesOf } from './archive-files-of.ts'
import { ContainerStatuses } from '#/containers/routes/route-sync.ts'
import { homeVolume } from '#/containers/container-name.ts'
import { stopJustBlocked } from '#/containers/blocked-containers.ts'
import { finishRemovals, removeUnkeptHomes } from '#/containers/reconcile/removals-task.ts'
import type { RemovedContainer } from '#/store/removals.ts'
import type { StoredSession } from '#/store/sessions.ts'
import type { AppParts } from './app-parts.ts'
import type { Sharing } from './wire-sharing.ts'
import type { Accounts } from './wire-accounts.ts'
import type { Containers } from './wire-containers.ts'
import type { Reconciling } from './wire-reconciling.ts'
import type { Tokens } from './wire-tokens.ts'

/** Actions of administrators and of the operator. */
export function wireAdministration(
  parts: AppParts,
  tokens: Tokens,
  { links, apiTokenEffects }: Accounts,
  containers: Containers,
  { reconciler, containerReconciler }: Reconciling,
  sharing: Pick<Sharing, 'refresh'>,
) {
  const { database, config, log } = parts
  const { admission, routeSync, ownerActions } = containers
  const statuses = new ContainerStatuses(routeSync, () => config.templates.types)
  const activate = () => reconciler.activate()
  const publish = async (userIds: readonly number[]) => {
    // A queued launch of a blocked user is refused now, so that the stop does not wait for its slot.
    for (const userId of userIds) admission.recheck(userId)
    await Promise.all(userIds.map((userId) => routeSync.publishUser(userId)))
  }
  /** Shares with a deleted address, too: the next account with this address belongs to another person. */
  const publishDeletion = async (userIds: readonly number[]) => {
    await publish(userIds)
    await sharing.refresh()
  }
  const enforce = stopJustBlocked((owned) => containerReconciler.reconcileOne(owned), activate, log)
  /** Ends sessions whose end is stored already, e.g. takeovers by a demoted administrator. */
  const revokeSessions = (ended: readonly StoredSession[]) =>
    tokens.revocations.revokeLocally(
      ended.map((each) => (each.endedWhy === 'blocked' ? endOfBlocked(each) : revocationOf(each))),
    )
  const takeover = wireTakeover(parts, tokens, containers)
  const endSessions = new EndSessions({
    database,
    revocations: tokens.revocations,
    tokenLifetime: config.accessTokenExpires,
    noteTakeoverEnd: (ended, address, now) => takeover.noteEnd(ended, address, now),
  })
  return {
    /** What follows blocks, once they are stored. */
    blockEffects: { publish, enforce, revokeSessions },
    lists: new AdminLists(database.db, statuses),
    audit: new AuditReader(database.db),
    blockPreviews: new BlockPreviews(database.db, (record) => ['running', 'paused'].includes(statuses.of(record))),
    containerBlocking: new ContainerBlocking(database, { publish, enforce, revokeSessions }),
    userBlocking: new UserBlocking(database, { publish, enforce, revokeSessions }),
    rights: new Rights(database, { publish, revokeSessions, ...apiTokenEffects }),
    apiTokens: new ApiTokenAdministration(database, apiTokenEffects),
    deletion: wireDeletion(parts, containers, { publish: publishDeletion, revokeSessions, activate }),
    takeover,
    endSessions,
    verification: wireResending(parts, links),
    stopContainer: new StopContainer(database, (container) => ownerActions.stopUnchecked(container)),
    printLink: new PrintLink(database, links),
  }
}

export type Administration = ReturnType<typeof wireAdministration>

interface DeletionEffects {
  readonly publish: (userIds: readonly number[]) => Promise<void>
  readonly revokeSessions: (ended: readonly StoredSession[]) => Promise<void>
  readonly activate: () => void
}

function wireDeletion(
  { config, database, runtime, installation, log }: AppParts,
  { removal }: Containers,
  { publish, revokeSessions, activate }: DeletionEffects,
): Deletion {
  const settings = {
    keepHomes: config.keepHomes,
    get types() {
      return config.templates.types
    },
    homeOf: ({ userId, slug, type }: RemovedContainer) => homeVolume(installation, userId, slug, type),
  }
  const archives = archiveFilesOf(config)
  return new Deletion(database, settings, {
    publish: (userId) => publish([userId]),
    revokeSessions,
    removeArchives: async (files) => {
      for (const file of files) await archives.remove(file)
    },
    remove: finishRemovals(
      removal,
      (owner) => removeUnkeptHomes({ database, runtime }, owner, new Date()),
      activate,
      log,
    ),
  })
}

function wireTakeover({ database }: AppParts, { tokens }: Tokens, { events, routeSync }: Containers): Takeover {
  return new Takeover(database, {
    tokenLifetime: tokens.lifetime,
    plan: (now, lifetime) => tokens.plan(now, lifetime),
    issue: (user, planned, acting) => tokens.issue(user, planned, acting),
    publish: (userId) => routeSync.publishUser(userId),
    notify: (userId, { by, reason, until }) =>
      events.publish(userId, { name: 'takeover', data: { by, reason, until: until.toISOString() } }),
  })
}

function wireResending({ database }: AppParts, links: Accounts['links']): ResendVerification {
  return new ResendVerification(database, async (tx, user, { address, email, language }, now) => {
    const link = await links.issueIn(tx, user, 'signup', { kind: 'sent', address, language, by: email }, now)
    return (also) => links.mail(user, link, also)
  })
}
