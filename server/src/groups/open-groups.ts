import type { LocalizedMessage } from '@berth/texts/localized-message.ts'
import type { Accounts } from '#/accounts/open-accounts.ts'
import type { SignUpPolicy } from '#/accounts/sign-up/email-address.ts'
import { maxParallelStops } from '#/containers/open-containers.ts'
import type { Task } from '#/containers/reconcile/reconciler.ts'
import { ContainerStatuses } from '#/containers/routes/route-sync.ts'
import { settledDay } from '#/machine/settled-dates.ts'
import type { Database } from '#/store/database.ts'
import { deleteGroupInvitations } from '#/store/group-members.ts'
import { notKept } from '#/store/removals.ts'
import type { ContainerRef } from '#/store/user-containers.ts'
import { unknownGroupWarnings, type GroupDirectory } from '#/templates/group-directory.ts'
import type { Template } from '#/templates/template.ts'
import { GroupAdministration } from './group-administration.ts'
import { GroupContainers } from './group-containers.ts'
import { GroupFolders } from './group-folders.ts'
import { GroupExpiry } from './group-expiry.ts'
import { GroupHours, SetTimetable } from './group-hours.ts'
import { InviteToGroup, PendingInvitations, PreviewMembers, invitationLifetime } from './group-invitations.ts'
import { GroupMembers } from './group-members.ts'
import { GroupStarts } from './group-starts.ts'
import { GroupWatch } from './group-watch.ts'
import { JoinCodes } from './join-codes.ts'
import { EndGroup, ManagedGroup } from './managed-group.ts'
import { MemberStates, ReadFailure, type MemberStatesParts } from './member-states.ts'
import { ProviderMemberships } from './provider-memberships.ts'
import { TermEnds, type TermEndsParts } from './term-end/open-term-ends.ts'

export type { GroupChanges } from './group-administration.ts'
export type { GroupStop } from './group-containers.ts'
export type { PendingInvitation } from './group-invitations.ts'
export type { GroupMember } from './group-members.ts'
export type { GroupStart } from './group-starts.ts'
export type { LookState, MemberContainer, MemberState } from './member-states.ts'

export type { TermEnds } from './term-end/open-term-ends.ts'
export type {
  PreviewedMember,
  TermEndMemberPage,
  TermEndProgress,
  TermEndSums,
} from './term-end/term-ends-of-groups.ts'

export interface GroupsParts extends TermEndsParts {
  readonly config: TermEndsParts['config'] &
    SignUpPolicy & {
      /** Seconds. */
      readonly keepHomes: number
    }
  readonly accounts: Accounts
  /** The room of sharing, which is above this one: what managers may look at. */
  readonly looks: { isLookable(template: Template): boolean; lookOf: MemberStatesParts['lookOf'] }
}

/** The room of groups: members, managers, hours, ends of terms, and the containers of members. */
export class Groups {
  readonly directory: GroupDirectory
  readonly watch: GroupWatch
  readonly starts: GroupStarts
  readonly readFailure: ReadFailure
  readonly managedGroup: ManagedGroup
  readonly endGroup: EndGroup
  readonly setTimetable: SetTimetable
  readonly administration: GroupAdministration
  readonly members: GroupMembers
  readonly previewMembers: PreviewMembers
  readonly invitations: PendingInvitations
  readonly providerMemberships: ProviderMemberships
  readonly joinCodes: JoinCodes
  readonly containers: GroupContainers
  readonly folders: GroupFolders
  readonly termEnds: TermEnds
  /** Finds what another process has changed: the one that this one replaces, or another node. */
  readonly task: Task
  readonly #parts: GroupsParts
  readonly #expiry: GroupExpiry
  readonly #hours: GroupHours
  readonly #onMembers: (() => void)[] = []

  constructor(parts: GroupsParts) {
    const { config, database, runtime, containers, accounts, admin, looks, log } = parts
    const { templates, routeSync, capacity, ownerActions, idleSuspension, admission, rules, streams } = containers
    const { directory } = rules
    const { db } = database
    const parallelStops = maxParallelStops(runtime.capabilities)
    const statuses = new ContainerStatuses(routeSync, () => templates.types)
    const types = () => templates.types
    this.#parts = parts
    this.directory = directory
    this.task = groupsTask(database, directory)
    this.#expiry = new GroupExpiry({
      db,
      directory,
      templates,
      parallelStops,
      routeSync,
      stop: (owned) => idleSuspension.stopNow(owned, 'group-end'),
      log,
    })
    const states = new MemberStates({
      routeSync,
      launchProgress: containers.launchProgress,
      activity: containers.activity,
      events: containers.events,
      lookOf: (managerId, owned) => looks.lookOf(managerId, owned),
      now: () => Date.now(),
    })
    this.watch = new GroupWatch({ db, events: containers.events, streams, states, log })
    this.#hours = new GroupHours({
      db,
      directory,
      templates,
      parallelStops,
      prestart: containers.prestart,
      occupantsOf: (userId) => capacity.of(userId),
      stop: (owned) => ownerActions.stopUnchecked(owned, 'hours'),
      warnings: containers.idleWarnings,
      now: () => Date.now(),
      log,
    })
    const hours = this.#hours
    const noteStart = (owned: ContainerRef) => hours.noteStart(owned)
    admission.onRequest(noteStart)
    const { spawner } = containers
    this.starts = new GroupStarts({ database, templates, rules, spawner, admission, onStart: noteStart, log })
    const { starts } = this
    const { invite } = accounts
    const inviteToGroup = new InviteToGroup({ database, invite, policy: config })
    this.containers = new GroupContainers({
      database,
      occupantsOf: (userId) => capacity.of(userId),
      stop: (owned, why) => ownerActions.stopUnchecked(owned, why),
      containers,
      cancelStarts: (groupId) => starts.cancel(groupId),
      report: (error, what) => log.warn({ err: error }, `${what} failed`),
    })
    const groupContainers = this.containers
    const onChange = () => this.#membersChanged()
    const onJoin = () => this.joined()
    this.readFailure = new ReadFailure({ database, launchProgress: containers.launchProgress })
    this.managedGroup = new ManagedGroup(
      db,
      templates,
      (template) => looks.isLookable(template),
      (volume) => parts.homes.diskUse.folderBytes(volume),
    )
    this.endGroup = new EndGroup(database, directory, (groupId) => starts.cancel(groupId))
    this.setTimetable = new SetTimetable({ database, directory, types })
    this.administration = new GroupAdministration({
      database,
      directory,
      types,
      release: (actor, groupId, now) => groupContainers.unblock(actor, groupId, now),
      keepUntil: (now) => (config.keepHomes === 0 ? notKept : new Date(now.getTime() + config.keepHomes * 1_000)),
    })
    this.folders = new GroupFolders({
      database,
      directory,
      runtime,
      installation: parts.installation,
      isSettled: settledDay(parts.pace?.overdue),
      activate: () => containers.reconciler.activate(),
    })
    this.members = new GroupMembers({
      database,
      invite: inviteToGroup,
      statusOf: (record) => statuses.of(record),
      onChange,
    })
    this.previewMembers = new PreviewMembers({ database, invite: inviteToGroup })
    this.invitations = new PendingInvitations(database, inviteToGroup)
    this.providerMemberships = new ProviderMemberships({ database, directory, onChange, log })
    this.joinCodes = new JoinCodes(database, onJoin)
    this.termEnds = new TermEnds(parts, onChange)
    accounts.verifyLink.onJoin(onJoin)
    admin.templates.onChange(() => this.start())
    directory.onChange(() => this.start())
  }

  /** Templates that name groups which do not exist, or not yet. */
  warnings(): LocalizedMessage[] {
    return unknownGroupWarnings(this.#parts.containers.templates, this.directory)
  }

  /** @param listener called when memberships have changed */
  onMembers(listener: () => void): void {
    this.#onMembers.push(listener)
  }

  /** A new member of a group that has not ended loses nothing: no stop becomes due. */
  joined(): void {
    this.watch.reviewSoon()
    for (const listener of this.#onMembers) listener()
  }

  /** Starts what follows from expiries and timetables; to be called again when groups, members or templates change. */
  start(): void {
    this.watch.reviewSoon()
    if (this.#parts.isForOneCommand) return
    this.#expiry.start()
    this.#hours.start()
  }

  /** Nothing begins afterwards; resolves when the work of an end of a term that is under way has ended. */
  async stop(): Promise<void> {
    this.#expiry.close()
    this.#hours.close()
    this.starts.close()
    await this.termEnds.close()
  }

  #membersChanged(): void {
    this.start()
    for (const listener of this.#onMembers) listener()
  }
}

const groupsTask = ({ db }: Database, directory: GroupDirectory): Task => ({
  name: 'groups',
  run: async (now) => {
    await directory.refresh()
    if (!directory.isEmpty) await deleteGroupInvitations(db, new Date(now.getTime() - invitationLifetime))
    return {}
  },
})
