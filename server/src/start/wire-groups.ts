import { GroupAdministration } from '#/groups/group-administration.ts'
import { GroupContainers } from '#/groups/group-containers.ts'
import { GroupDirectory, unknownGroupWarnings } from '#/templates/group-directory.ts'
import { GroupExpiry } from '#/groups/group-expiry.ts'
import { GroupMembers } from '#/groups/group-members.ts'
import {
  InvitationLimit,
  InviteToGroup,
  PendingInvitations,
  PreviewMembers,
  invitationLifetime,
} from '#/groups/group-invitations.ts'
import { GroupHours, SetTimetable } from '#/groups/group-hours.ts'
import { JoinCodes, WrongCodeLimit } from '#/groups/join-codes.ts'
import { GroupLaunchRules } from '#/templates/launch-rules.ts'
import { EndGroup, ManagedGroup } from '#/groups/managed-group.ts'
import { GroupStarts } from '#/groups/group-starts.ts'
import { GroupWatch } from '#/groups/group-watch.ts'
import { MemberStates, ReadFailure } from '#/groups/member-states.ts'
import { ProviderMemberships } from '#/groups/provider-memberships.ts'
import type { ContainerRef } from '#/store/user-containers.ts'
import { maxParallelStops } from '#/containers/idle/lifetime-monitor.ts'
import { ContainerStatuses } from '#/containers/routes/route-sync.ts'
import type { Task } from '#/containers/reconcile/reconciler.ts'
import { deleteGroupInvitations } from '#/store/group-members.ts'
import type { Sharing } from './wire-sharing.ts'
import type { AppParts } from './app-parts.ts'
import type { Accounts } from './wire-accounts.ts'
import type { Administration } from './wire-administration.ts'
import type { Containers } from './wire-containers.ts'
import type { Tokens } from './wire-tokens.ts'

/** What launches ask of groups: their definitions, read from the store before anything is launched. */
export async function wireGroupRules({ config, database }: AppParts) {
  const directory = new GroupDirectory(database.db)
  await directory.refresh()
  const rules = new GroupLaunchRules(database.db, directory, config.templates)
  return { directory, rules, task: groupsTask(database, directory) }
}

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

/** Groups, their members and the containers of these. */
export function wireGroups(
  parts: AppParts,
  { directory, rules }: GroupRules,
  { streams }: Tokens,
  { invite }: Accounts,
  containers: Containers,
  { blockEffects }: Administration,
  sharing: Pick<Sharing, 'refresh' | 'isLookable'>,
) {
  const { config, database, runtime, log, isForOneCommand } = parts
  const { routeSync, capacity, ownerActions, idleSuspension } = containers
  const parallelStops = maxParallelStops(runtime.capabilities)
  const statuses = new ContainerStatuses(routeSync, () => config.templates.types)
  const expiry = new GroupExpiry({
    db: database.db,
    directory,
    templates: config.templates,
    parallelStops,
    routeSync,
    stop: (owned) => idleSuspension.stopNow(owned),
    log,
  })
  const states = new MemberStates({
    ...containers,
    lookOf: (managerId, owned) => containers.lookRequests.stateOf(managerId, owned),
    now: () => Date.now(),
  })
  const watch = new GroupWatch({ db: database.db, events: containers.events, streams, states, log })
  const hours = new GroupHours({
    db: database.db,
    directory,
    templates: config.templates,
    parallelStops,
    prestart: containers.prestart,
    occupantsOf: (userId) => capacity.of(userId),
    stop: (owned) => ownerActions.stopUnchecked(owned),
    warnings: containers.idleWarnings,
    now: () => Date.now(),
    log,
  })
  const noteStart = (owned: ContainerRef) => hours.noteStart(owned)
  containers.admission.onRequest(noteStart)
  const starts = new GroupStarts({ ...containers, database, rules, onStart: noteStart, log })
  const restart = () => {
    watch.reviewSoon()
    if (isForOneCommand) return
    expiry.start()
    hours.start()
  }
  const onChange = () => {
    restart()
    void sharing.refresh()
  }
  /** A new member of a group that has not ended loses nothing: no stop becomes due. */
  const onJoin = () => {
    watch.reviewSoon()
    void sharing.refresh()
  }
  const inviteToGroup = new InviteToGroup({ database, invite, policy: config, limit: new InvitationLimit() })
  const groupContainers = new GroupContainers({
    database,
    occupantsOf: (userId) => capacity.of(userId),
    stop: (owned) => ownerActions.stopUnchecked(owned),
    publish: blockEffects.publish,
    enforce: blockEffects.enforce,
    cancelStarts: (groupId) => starts.cancel(groupId),
    report: (error, what) => log.warn({ err: error }, `${what} failed`),
  })
  return {
    directory,
    /** Templates that name groups which do not exist, or not yet. */
    warnings: () => unknownGroupWarnings(config.templates, directory),
    restart,
    /** Memberships have changed. */
    onMembersChanged: onChange,
    /** A user has accepted an invitation to a group. */
    onJoin,
    /** Nothing begins afterwards. */
    close: () => {
      expiry.close()
      hours.close()
      starts.close()
    },
    watch,
    starts,
    readFailure: new ReadFailure({ database, launchProgress: containers.launchProgress }),
    managedGroup: new ManagedGroup(database.db, config.templates, sharing.isLookable),
    endGroup: new EndGroup(database, directory, (groupId) => starts.cancel(groupId)),
    setTimetable: new SetTimetable({ database, directory, types: () => config.templates.types }),
    administration: new GroupAdministration({
      database,
      directory,
      types: () => config.templates.types,
      release: (actor, groupId, now) => groupContainers.unblock(actor, groupId, now),
    }),
    members: new GroupMembers({
      database,
      invite: inviteToGroup,
      statusOf: (record) => statuses.of(record),
      onChange,
    }),
    previewMembers: new PreviewMembers({ database, invite: inviteToGroup }),
    invitations: new PendingInvitations(database, inviteToGroup),
    providerMemberships: new ProviderMemberships({ database, directory, onChange, log }),
    joinCodes: new JoinCodes(database, new WrongCodeLimit(), onJoin),
    containers: groupContainers,
  }
}

export type Groups = ReturnType<typeof wireGroups>
