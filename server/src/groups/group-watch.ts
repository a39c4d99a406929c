import type { Logger } from 'pino'
import type { Actor } from '#/accounts/actor.ts'
import type { StreamRegistry, StreamOwner } from '#/containers/stream-registry.ts'
import type { UserEvent, UserEvents } from '#/containers/user-events.ts'
import { Refusal } from '#/refusals/errors.ts'
import type { Db } from '#/store/database.ts'
import { listMemberRoles, type GroupRole } from '#/store/group-members.ts'
import type { Group } from '#/store/groups.ts'
import { requireManaged } from './managed-group.ts'
import type { MemberState, MemberStates } from './member-states.ts'

/** Max members whose state a page shows, the first by id; the list of members has all. */
const maxMembers = 2_000
const pageSize = 500
/** Between two checks of rights, members and presence, in ms. */
const reviewInterval = 30_000
/** Delay of a check after a change that this process made, in ms: many may join within a second. */
const reviewDelay = 1_000

export interface GroupWatchParts {
  readonly db: Db
  readonly events: Pick<UserEvents, 'observe'>
  readonly streams: Pick<StreamRegistry, 'open'>
  readonly states: MemberStates
  readonly log: Pick<Logger, 'warn'>
}

/** A group that its manager may watch, as the store has it. */
export interface WatchedGroup {
  readonly group: Group
  readonly roles: Roles
}

/**
 * Open pages of groups: passes on what happens to members. Rights and members are checked again every 30 s, and a second after
 * this process has changed them. Without an open page there is no timer, and events of users are not looked at.
 */
export class GroupWatch {
  readonly #parts: GroupWatchParts
  readonly #views = new Map<GroupView, Pick<Actor, 'id'>>()
  #stopObserving: (() => void) | undefined
  #interval: NodeJS.Timeout | undefined
  #soon: NodeJS.Timeout | undefined

  constructor(parts: GroupWatchParts) {
    this.#parts = parts
  }

  /** @throws {Refusal} 404 no such group · 403 */
  async find(actor: Pick<Actor, 'id'>, groupId: number): Promise<WatchedGroup> {
    const { db } = this.#parts
    const group = await requireManaged(db, actor, groupId)
    const roles = new Map<number, 'member' | 'manager'>()
    for (let after = 0; roles.size < maxMembers;) {
      const page = await listMemberRoles(db, groupId, { limit: pageSize, after })
      for (const { userId, role } of page) roles.set(userId, role)
      after = page.at(-1)?.userId ?? after
      if (page.length < pageSize) break
    }
    return { group, roles }
  }

  /** Sends the viewer all states, and then what changes. @returns ends it @throws {Refusal} 429, 503 as `StreamRegistry.open` */
  begin({ group, roles }: WatchedGroup, owner: StreamOwner, viewer: GroupViewer): () => void {
    const view = new GroupView(group, roles, this.#parts.states, viewer, owner.userId)
    const close = this.#parts.streams.open('groups', owner, () => this.#end(view))
    this.#views.set(view, { id: owner.userId })
    this.#follow()
    view.start()
    return () => {
      close()
      this.#end(view)
    }
  }

  /** Groups or memberships have changed. */
  reviewSoon(): void {
    if (this.#views.size > 0) this.#soon ??= setTimeout(() => void this.#review(), reviewDelay).unref()
  }

  #follow(): void {
    this.#stopObserving ??= this.#parts.events.observe({
      onEvent: (userId, event) => this.#note(userId, isPosition(event)),
      onPresence: (userId) => this.#note(userId, false),
    })
    this.#interval ??= setInterval(() => void this.#review(), reviewInterval).unref()
  }

  #note(userId: number, isPositionOnly: boolean): void {
    for (const view of this.#views.keys()) view.note(userId, isPositionOnly)
  }

  #end(view: GroupView): void {
    this.#views.delete(view)
    view.end()
    if (this.#views.size > 0) return
    this.#stopObserving?.()
    clearInterval(this.#interval)
    clearTimeout(this.#soon)
    this.#stopObserving = this.#interval = this.#soon = undefined
  }

  /** Ends pages of users who have lost their rights: their next request says so. A store that fails decides nothing. */
  async #review(): Promise<void> {
    clearTimeout(this.#soon)
    this.#soon = undefined
    for (const [view, actor] of this.#views)
      try {
        const { group, roles } = await this.find(actor, view.groupId)
        view.update(group, roles)
      } catch (error) {
        if (error instanceof Refusal) this.#end(view)
        else this.#parts.log.warn({ err: error, group: view.groupId }, 'reading the members of a watched group failed')
      }
  }
}

/** Positions of all queued launches are published every second. */
const isPosition = ({ name, data }: UserEvent) => name === 'launch' && data.stage === 'queued'

/** Between a change and its event, in ms; what changes meanwhile is sent with it. */
const stateDelay = 500
/** The same delay for a position in the launch queue, which changes with each launch of any user. */
const positionDelay = 5_000
/** Members in one event. */
const batchSize = 100

/** Members by their ids as users. */
type Roles = ReadonlyMap<number, GroupRole>

/** Page of a manager; its methods must not throw. */
interface GroupViewer {
  onSnapshot(): void
  /** Resolves when there is room for more. */
  onMembers(states: readonly MemberState[]): Promise<void>
  /** Members, roles or the group have changed. */
  onChanged(): void
  onEnd(): void
}

/** What one page of a group shows: sends the states of members, of all at first, then of those that have changed. */
export class GroupView {
  readonly groupId: number
  readonly #states: MemberStates
  readonly #viewer: GroupViewer
  readonly #viewerId: number
  #group: Group
  #roles: Roles
  /** Members who are here, as the page knows it. */
  readonly #here = new Set<number>()
  /** Members whose launch is queued, as the page knows it. */
  readonly #queued = new Set<number>()
  /** Whose state is to be sent. */
  readonly #due = new Set<number>()
  #timer: NodeJS.Timeout | undefined
  #isSoon = false
  #isSending = false
  #isEnded = false

  /** @param viewerId whose page it is */
  constructor(group: Group, roles: Roles, states: MemberStates, viewer: GroupViewer, viewerId: number) {
    this.groupId = group.id
    this.#viewerId = viewerId
    this.#group = group
    this.#roles = roles
    this.#states = states
    this.#viewer = viewer
  }

  /** Sends the states of all members. */
  start(): void {
    this.#viewer.onSnapshot()
    for (const id of this.#roles.keys()) this.#due.add(id)
    void this.#send()
  }

  /** Something about a user has changed; others than members are ignored. @param isPosition only that in the queue */
  note(userId: number, isPosition = false): void {
    if (!this.#roles.has(userId)) return
    this.#due.add(userId)
    this.#schedule(isPosition && this.#queued.has(userId))
  }

  /** Takes over what the store has; sends what has changed, also who is here by now. */
  update(group: Group, roles: Roles): void {
    const isSame = JSON.stringify([group, ...roles]) === JSON.stringify([this.#group, ...this.#roles])
    this.#group = group
    this.#roles = roles
    for (const ids of [this.#due, this.#here, this.#queued]) for (const id of ids) if (!roles.has(id)) ids.delete(id)
    if (!isSame) this.#viewer.onChanged()
    for (const id of roles.keys())
      if (!isSame || this.#states.isHere(group, id) !== this.#here.has(id)) this.#due.add(id)
    if (this.#due.size > 0) this.#schedule(false)
  }

  /** Nothing is sent afterwards. */
  end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    clearTimeout(this.#timer)
    this.#due.clear()
    this.#viewer.onEnd()
  }

  #schedule(isPosition: boolean): void {
    if (this.#isEnded || this.#isSending || this.#isSoon || (isPosition && this.#timer)) return
    clearTimeout(this.#timer)
    this.#isSoon = !isPosition
    this.#timer = setTimeout(() => void this.#send(), isPosition ? positionDelay : stateDelay).unref()
  }

  /** Waits for a slow page between events; what changes meanwhile is sent after the usual delay, in its latest state. */
  async #send(): Promise<void> {
    const due = [...this.#due]
    this.#due.clear()
    this.#timer = undefined
    this.#isSoon = false
    this.#isSending = true
    for (let at = 0; at < due.length && !this.#isEnded; at += batchSize)
      await this.#viewer.onMembers(due.slice(at, at + batchSize).map((id) => this.#stateOf(id)))
    this.#isSending = false
    if (this.#due.size > 0) this.#schedule(false)
  }

  #stateOf(userId: number): MemberState {
    const state = this.#states.of(this.#group, userId, this.#viewerId)
    note(this.#here, userId, state.isHere)
    note(
      this.#queued,
      userId,
      state.containers.some(({ stage }) => stage?.stage === 'queued'),
    )
    return state
  }
}

function note(ids: Set<number>, userId: number, isIn: boolean): void {
  if (isIn) ids.add(userId)
  else ids.delete(userId)
}
