import { GroupAdministration } from '#/groups/group-administration.ts'
import { GroupContainers } from '#/groups/group-containers.ts'
import { GroupDirectory } from '#/groups/group-directory.ts'
import { GroupExpiry } from '#/groups/group-expiry.ts'
import { GroupMembers } from '#/groups/group-members.ts'
import { InviteToGroup } from '#/groups/invite-to-group.ts'
import { JoinCodes } from '#/groups/join-codes.ts'
import { GroupLaunchRules } from '#/groups/launch-rules.ts'
import { ProviderMemberships } from '#/groups/provider-memberships.ts'
import { unknownGroupWarnings } from '#/groups/unknown-groups.ts'
import { WrongCodeLimit } from '#/groups/wrong-code-limit.ts'
import { ContainerStatuses } from '#/containers/state/container-statuses.ts'
import type { Task } from '#/reconcile/reconciler.ts'
import { deleteGroupInvitations } from '#/store/groups/group-invitations.ts'
import type { AppParts } from '#/wiring/app-parts.ts'
import type { Accounts } from '#/wiring/wire-accounts.ts'
import type { Administration } from '#/wiring/wire-administration.ts'
import type { Containers } from '#/wiring/wire-containers.ts'

/** What launches ask of groups: their definitions, read from the store before anything is launched. */
export async function wireGroupRules({ config, database }: AppParts) {
  const directory = new GroupDirectory(database.db)
  await directory.refresh()
  const rules = new GroupLaunchRules(database.db, directory, config.templates)
  return { directory, rules, task: groupsTask(database, directory) }
}

/** How long an invitation to a group waits for its address to sign up, in ms. */
const invitationLifetime = 90 * 24 * 3_600_000

/** Finds what another process has changed: the one that this one replaces, or another node. */
const groupsTask = ({ db }: AppParts['database'], directory: GroupDirectory): Task => ({
  name: 'groups',
  run: async (now) => {
    await directory.refresh()
    if (!directory.isEmpty) await deleteGroupInvitations(db, new Date(now.getTime() - invitationLifetime))
    return {}
  },
})

export type GroupRules = Awaited<ReturnType<typeof wireGroupRules>>

/** Groups, their members and the containers of these. @param onMembers called when members have changed */
export function wireGroups(
  { config, database, log, isForOneCommand }: AppParts,
  { directory }: GroupRules,
  { invite }: Accounts,
  { routeSync, capacity, ownerActions, idleSuspension }: Containers,
  { blockEffects }: Administration,
  onMembers: () => void,
) {
  const statuses = new ContainerStatuses(routeSync, () => config.templates.types)
  const expiry = new GroupExpiry({
    db: database.db,
    directory,
    templates: config.templates,
    routeSync,
    stop: (owned) => idleSuspension.stopNow(owned),
    log,
  })
  const restart = () => {
    if (!isForOneCommand) expiry.start()
  }
  const onChange = () => {
    restart()
    onMembers()
  }
  const groupContainers = new GroupContainers({
    database,
    occupantsOf: (userId) => capacity.of(userId),
    stop: (owned) => ownerActions.stopUnchecked(owned),
    publish: blockEffects.publish,
    enforce: blockEffects.enforce,
    report: (error, what) => log.warn({ err: error }, `${what} failed`),
  })
  return {
    directory,
    /** Templates that name groups which do not exist, or not yet. */
    warnings: () => unknownGroupWarnings(config.templates, directory),
    expiry,
    restart,
    administration: new GroupAdministration({
      database,
      directory,
      types: () => config.templates.types,
      release: (actor, groupId, now) => groupContainers.unblock(actor, groupId, now),
    }),
    members: new GroupMembers({
      database,
      invite: new InviteToGroup({ database, invite, policy: config }),
      statusOf: (record) => statuses.of(record),
      onChange,
    }),
    providerMemberships: new ProviderMemberships({ database, directory, onChange, log }),
    joinCodes: new JoinCodes(database, new WrongCodeLimit()),
    containers: groupContainers,
  }
}

export type Groups = ReturnType<typeof wireGroups>
