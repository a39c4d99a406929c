import type { GroupRole } from '#/store/group-members.ts'
import type { Group } from '#/store/groups.ts'
import type { MemberState, MemberStates } from './member-states.ts'

/** Between a change and its event, in ms; what changes meanwhile is sent with it. */
const delay = 500
/** As `delay`, for a position in the launch queue, which changes with each launch of any user. */
const positionDelay = 5_000
/** Members in one event. */
const batchSize = 100

/** Members by their ids as users. */
export type Roles = ReadonlyMap<number, GroupRole>

/** Page of a manager; its methods must not throw. */
export interface GroupViewer {
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
    this.#timer = setTimeout(() => void this.#send(), isPosition ? positionDelay : delay).unref()
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
