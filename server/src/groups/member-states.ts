import { LocalizedMessage } from '@berth/texts/localized-message.ts'
import type { Actor } from '#/accounts/actor.ts'
import type { Activity, LaunchProgress, LaunchStage, RouteStatus } from '#/containers/open-containers.ts'
import type { RouteSync } from '#/containers/routes/route-sync.ts'
import { containerEvent, type UserEvents } from '#/containers/user-events.ts'
import { refusals } from '#/refusals/errors.ts'
import { insertAuditEntries } from '#/store/audit-log.ts'
import type { ContainerRef } from '#/store/user-containers.ts'
import type { Database } from '#/store/database.ts'
import { findMembership } from '#/store/group-members.ts'
import type { Group } from '#/store/groups.ts'
import { covers } from '#/templates/group-directory.ts'
import { requireManaged } from './managed-group.ts'

/** How long a member whose container was used counts as here, in ms. */
const presenceTime = 5 * 60_000

/** What one manager has asked a member about one container; `until` is its end, or when they may ask again. */
export interface LookState {
  readonly state: 'asked' | 'open' | 'declined'
  readonly until: Date
}

/** A container of a member, of a type of the group. */
export interface MemberContainer {
  readonly type: string
  readonly status: RouteStatus
  /** Why it does not run, or why its launch failed. */
  readonly reason: LocalizedMessage | null
  /** The stage of a launch that is in progress, or has failed. */
  readonly stage: LaunchStage | undefined
  /** What the viewer has asked; undefined where nothing was. */
  readonly look: LookState | undefined
}

/** A member at this moment, as managers of the group see it. */
export interface MemberState {
  readonly userId: number
  /** A page of Berth is open, or a container of the group's types was used within `presenceTime`. */
  readonly isHere: boolean
  readonly containers: readonly MemberContainer[]
}

export interface MemberStatesParts {
  readonly routeSync: Pick<RouteSync, 'statusesOf' | 'get'>
  readonly launchProgress: Pick<LaunchProgress, 'stagesOf' | 'isUnprobed'>
  readonly activity: Pick<Activity, 'usedAt'>
  readonly events: Pick<UserEvents, 'hasListener'>
  /** What this manager has asked about a container of a member. */
  readonly lookOf: (managerId: number, owned: ContainerRef) => LookState | undefined
  readonly now: () => number
}

/** Present state of members, from memory: neither store nor engine is asked. */
export class MemberStates {
  readonly #parts: MemberStatesParts

  constructor(parts: MemberStatesParts) {
    this.#parts = parts
  }

  /** Names only containers of the group's types: others are not its managers' affair. @param viewerId who manages */
  of(group: Pick<Group, 'types'>, userId: number, viewerId: number): MemberState {
    const { routeSync, launchProgress } = this.#parts
    const statuses = new Map(routeSync.statusesOf(userId).map(({ type, status }) => [type, status]))
    const stages = launchProgress.stagesOf(userId)
    // A first launch has a stage before its container has a route.
    const types = [...new Set([...statuses.keys(), ...stages.keys()])].filter((type) => covers(group, type)).sort()
    return {
      userId,
      isHere: this.isHere(group, userId, types),
      containers: types.map((type) => ({
        ...this.#containerOf({ userId, type }, statuses.get(type) ?? 'missing', stages.get(type)),
        look: this.#parts.lookOf(viewerId, { userId, type }),
      })),
    }
  }

  /** Whether the user works with Berth now. Use of containers of other types is not looked at. */
  isHere(group: Pick<Group, 'types'>, userId: number, types = this.#typesOf(group, userId)): boolean {
    const { events, activity, now } = this.#parts
    const since = now() - presenceTime
    return events.hasListener(userId) || types.some((type) => activity.usedAt({ userId, type }) > since)
  }

  #typesOf(group: Pick<Group, 'types'>, userId: number): string[] {
    const types = this.#parts.routeSync.statusesOf(userId).map(({ type }) => type)
    return types.filter((type) => covers(group, type))
  }

  #containerOf(
    owned: ContainerRef,
    status: RouteStatus,
    stage: LaunchStage | undefined,
  ): Omit<MemberContainer, 'look'> {
    const present = this.#isOver(owned, stage) ? undefined : stage
    const failed = present?.stage === 'failed' ? present.message : undefined
    const { message } = containerEvent(owned.type, status, this.#parts.routeSync.get(owned)).data
    const reason = failed ?? (message instanceof LocalizedMessage ? message : null)
    return { type: owned.type, status, reason, stage: present }
  }

  /** A launch that was stopped is no failure. Without a page of its owner nothing asks whether the app is ready: it runs. */
  #isOver(owned: ContainerRef, stage: LaunchStage | undefined): boolean {
    if (stage?.stage === 'failed') return stage.reason === 'stopped'
    return stage?.stage === 'ready' || (stage?.stage === 'waiting' && this.#parts.launchProgress.isUnprobed(owned))
  }
}

/** Why a start failed, as its owner's dashboard shows it. */
export interface StartFailure {
  readonly reason: LocalizedMessage
  readonly exitCode: number | null
  /** Last lines of the output of the program, oldest first. */
  readonly lastLines: readonly string[]
}

export interface ReadFailureParts {
  readonly database: Database
  readonly launchProgress: Pick<LaunchProgress, 'of'>
}

/** A member's container of a type of the group. */
export interface MemberContainerRef {
  readonly groupId: number
  readonly userId: number
  readonly type: string
}

/** What a manager reads of a failed start; output may have what its owner typed, so the audit log names who read it. */
export class ReadFailure {
  readonly #parts: ReadFailureParts

  constructor(parts: ReadFailureParts) {
    this.#parts = parts
  }

  /** @throws {Refusal} 404 no such group, member or failure, or a type that is not the group's · 403 */
  async run(actor: Actor, { groupId, userId, type }: MemberContainerRef, now: Date): Promise<StartFailure> {
    const { database, launchProgress } = this.#parts
    return database.transaction(async (tx) => {
      const group = await requireManaged(tx, actor, groupId)
      if (!(await findMembership(tx, groupId, userId))) throw refusals.groupNotFound('member')
      const stage = covers(group, type) ? launchProgress.of({ userId, type }) : undefined
      if (stage?.stage !== 'failed') throw refusals.groupNotFound('failure')
      const [target, detail] = [`group:${groupId}`, { user: userId, type }]
      await insertAuditEntries(tx, [{ at: now, actor, action: 'group.read-failure', target, detail }])
      return { reason: stage.message, exitCode: stage.exit_code, lastLines: stage.last_lines }
    })
  }
}
