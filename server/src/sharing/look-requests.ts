import type { UserEvent } from '#/containers/user-events.ts'
import type { LookState } from '#/groups/open-groups.ts'
import { RecentCounts, setLatest } from '#/machine/recent-counts.ts'
import { refusals } from '#/refusals/errors.ts'
import { containerKey, type ContainerRef } from '#/store/user-containers.ts'
import type { ContainerShare } from '#/store/container-shares.ts'

/** How long a request waits for an answer, in ms. */
const requestLifetime = 5 * 60_000
/** Open requests to one member, and of all users together. */
const maxOpenFor = 5
const maxOpen = 1_000
/** Between two looks for what is over, in ms. */
const sweepInterval = 2_000

/** A manager of a group asks a member to let them look at a container. */
export interface LookRequest {
  readonly id: number
  readonly manager: { readonly id: number; readonly email: string }
  readonly group: { readonly id: number; readonly name: string }
  readonly owned: ContainerRef
  /** By the wall clock, for pages. */
  readonly expiresAt: Date
}

export type NewLookRequest = Pick<LookRequest, 'manager' | 'group' | 'owned'>

export interface LookRequestsParts {
  /** Called with what the owner's open pages are to show; must not throw. */
  readonly onChange: (userId: number, event: UserEvent) => void
}

type Open = LookRequest & { readonly endsAt: number }

/**
 * Requests to look that wait for an answer, what was declined, and which looks are allowed now. In memory: a restart of
 * this process ends open requests, and forgets declines. There is a timer only while there is something to forget.
 */
export class LookRequests {
  readonly #parts: LookRequestsParts
  readonly #limits = new LookLimits()
  readonly #open = new Map<number, Open>()
  /** Looks that are allowed now, by id of the owner, as the last read of the store shows. */
  #looks = new Map<number, ContainerShare[]>()
  #lastId = 0
  #timer: NodeJS.Timeout | undefined

  constructor(parts: LookRequestsParts) {
    this.#parts = parts
  }

  /**
   * A request that is counted, and not shown before `show`. While one for the same container is open, it is that one.
   * @throws {Refusal} 429 declined, asked too often, or the member has many open requests; then nothing has changed
   */
  add(request: NewLookRequest): LookRequest {
    const same = this.openOf(request.manager.id, request.owned)
    if (same) return same
    const { id: managerId } = request.manager
    const { userId } = request.owned
    const wait = this.#limits.waitOf(managerId, userId) || this.#waitForRoom(userId)
    if (wait > 0) throw refusals.tooManyLookRequests(Math.ceil(wait / 60_000), Math.ceil(wait / 1_000))
    this.#limits.count(managerId, userId)
    this.#lastId += 1
    const expiresAt = new Date(Date.now() + requestLifetime)
    const open = { ...request, id: this.#lastId, expiresAt, endsAt: performance.now() + requestLifetime }
    this.#open.set(open.id, open)
    this.#startTimer()
    return open
  }

  /** The manager's request for this container that waits for its answer. */
  openOf(managerId: number, owned: ContainerRef): LookRequest | undefined {
    const key = containerKey(owned)
    for (const each of this.#open.values())
      if (each.manager.id === managerId && containerKey(each.owned) === key && each.endsAt > performance.now())
        return each
    return undefined
  }

  /** Tells the member's open pages. */
  show({ owned }: LookRequest): void {
    this.#publish(owned.userId)
  }

  /** The open request of this number to this member. @throws {Refusal} 404 none, over, or to another user */
  of(userId: number, id: number): LookRequest {
    const request = this.#open.get(id)
    if (request?.owned.userId !== userId || request.endsAt <= performance.now()) throw refusals.notFound('lookRequest')
    return request
  }

  /** Ends requests without an answer. */
  remove(...requests: readonly LookRequest[]): void {
    for (const { id, owned } of requests) if (this.#open.delete(id)) this.#publish(owned.userId)
  }

  /** Ends a request, and all others of this manager to this member; further ones are refused for a while. */
  decline({ manager, owned: { userId } }: LookRequest): void {
    this.#limits.decline(manager.id, userId)
    for (const [id, each] of this.#open)
      if (each.manager.id === manager.id && each.owned.userId === userId) this.#open.delete(id)
    this.#publish(userId)
  }

  all(): LookRequest[] {
    return [...this.#open.values()]
  }

  /** Replaces the looks that are allowed; owners are told what has changed of theirs. */
  setLooks(shares: readonly ContainerShare[]): void {
    const asked = shares.filter(({ askedIn }) => askedIn !== null)
    const [before, looks] = [this.#looks, Map.groupBy(asked, ({ owner }) => owner.id)]
    this.#looks = looks
    for (const userId of new Set([...before.keys(), ...looks.keys()]))
      if (textOf(before.get(userId)) !== textOf(looks.get(userId))) this.#publish(userId)
    if (looks.size > 0) this.#startTimer()
  }

  /** The event that tells a new page of the member's; none where there is nothing to show. */
  current(userId: number): UserEvent[] {
    const event = this.#event(userId)
    return event.data.requests.length + event.data.looks.length > 0 ? [event] : []
  }

  /** What one manager sees of a container of a member; undefined where nothing was asked. */
  stateOf(managerId: number, owned: ContainerRef): LookState | undefined {
    const { userId, type } = owned
    const look = this.#looksOf(userId).find((each) => each.type === type && each.askedIn?.managerId === managerId)
    if (look) return { state: 'open', until: endOf(look) }
    const request = this.openOf(managerId, owned)
    if (request) return { state: 'asked', until: request.expiresAt }
    const until = this.#limits.declinedUntil(managerId, userId)
    return until && { state: 'declined', until }
  }

  /** Ends the timer. */
  close(): void {
    clearInterval(this.#timer)
  }

  /** In ms; 0: there is room for another request to this member. */
  #waitForRoom(userId: number): number {
    const open = this.all().filter(({ owned }) => owned.userId === userId)
    return open.length >= maxOpenFor || this.#open.size >= maxOpen ? requestLifetime : 0
  }

  #startTimer(): void {
    this.#timer ??= setInterval(() => this.#sweep(), sweepInterval).unref()
  }

  #sweep(): void {
    const now = performance.now()
    const changed = new Set(this.#limits.sweep())
    for (const [id, { endsAt, owned }] of this.#open)
      if (endsAt <= now && this.#open.delete(id)) changed.add(owned.userId)
    // The gateway has closed them at their end; pages learn it here.
    for (const [userId, looks] of this.#looks) {
      const left = this.#looksOf(userId)
      if (left.length === looks.length) continue
      changed.add(userId)
      if (left.length === 0) this.#looks.delete(userId)
      else this.#looks.set(userId, left)
    }
    for (const userId of changed) this.#publish(userId)
    if (this.#open.size + this.#looks.size > 0 || !this.#limits.isEmpty) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #looksOf(userId: number): ContainerShare[] {
    const now = Date.now()
    return (this.#looks.get(userId) ?? []).filter((look) => endOf(look).getTime() > now)
  }

  #publish(userId: number): void {
    this.#parts.onChange(userId, this.#event(userId))
  }

  #event(userId: number) {
    const requests = this.all().filter(({ owned }) => owned.userId === userId)
    return { name: 'looks', data: { requests: requests.map(requestData), looks: this.#looksOf(userId).map(lookData) } }
  }
}

const requestData = ({ id, manager, group, owned, expiresAt }: LookRequest) => ({
  id,
  by: manager.email,
  group: group.name,
  type: owned.type,
  expires_at: expiresAt.toISOString(),
})

const lookData = (look: ContainerShare) => ({
  share_id: look.id,
  by: look.email ?? '',
  group: look.askedIn?.name ?? '',
  type: look.type,
  expires_at: endOf(look).toISOString(),
})

/** The end of the share, or of its group, which ends it, too. */
const endOf = ({ expiresAt, groupExpiresAt }: ContainerShare) =>
  groupExpiresAt !== null && groupExpiresAt < expiresAt ? groupExpiresAt : expiresAt

const textOf = (looks: readonly ContainerShare[] | undefined) =>
  JSON.stringify(looks?.map((look) => [look.id, look.email, endOf(look)]))

/** How long a manager who was declined cannot ask the same member again, in ms. */
const declineLifetime = 30 * 60_000
/** Requests of one manager to one member within `requestWindow`, in ms. */
const maxRequests = 3
const requestWindow = 60 * 60_000
/** Declines that are remembered; with more, the oldest are forgotten. */
const maxRemembered = 20_000

/** The end of a decline, by `performance.now()` and by the wall clock. */
interface Decline {
  readonly userId: number
  readonly endsAt: number
  readonly until: Date
}

/**
 * Rate limit of requests to look, by manager and member: how often one asks, and how long a decline counts. In memory.
 */
class LookLimits {
  readonly #asked = new RecentCounts<string>({ window: requestWindow, max: maxRequests })
  /** By manager and member, the oldest first. */
  readonly #declined = new Map<string, Decline>()

  get isEmpty(): boolean {
    return this.#declined.size === 0
  }

  /** How long the manager has to wait before asking this member, in ms; 0: not at all. */
  waitOf(managerId: number, userId: number): number {
    const declined = this.#declineOf(managerId, userId)
    return declined ? declined.endsAt - performance.now() : this.#asked.waitFor(pairOf(managerId, userId))
  }

  count(managerId: number, userId: number): void {
    this.#asked.add(pairOf(managerId, userId))
  }

  decline(managerId: number, userId: number): void {
    const [endsAt, until] = [performance.now() + declineLifetime, new Date(Date.now() + declineLifetime)]
    setLatest(this.#declined, pairOf(managerId, userId), { userId, endsAt, until }, maxRemembered)
  }

  /** Until when the manager cannot ask because the member declined. */
  declinedUntil(managerId: number, userId: number): Date | undefined {
    return this.#declineOf(managerId, userId)?.until
  }

  /** Forgets what is over. @returns members of whom a decline is over */
  sweep(): number[] {
    const now = performance.now()
    const over = [...this.#declined].filter(([, { endsAt }]) => endsAt <= now)
    for (const [key] of over) this.#declined.delete(key)
    return over.map(([, { userId }]) => userId)
  }

  #declineOf(managerId: number, userId: number): Decline | undefined {
    const declined = this.#declined.get(pairOf(managerId, userId))
    return declined && declined.endsAt > performance.now() ? declined : undefined
  }
}

const pairOf = (managerId: number, userId: number) => `${managerId}/${userId}`
