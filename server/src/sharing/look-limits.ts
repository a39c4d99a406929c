/** How long a manager who was declined cannot ask the same member again, in ms. */
export const declineLifetime = 30 * 60_000
/** Requests of one manager to one member within `requestWindow`, in ms. */
const maxRequests = 3
const requestWindow = 60 * 60_000
/** Pairs of manager and member that are remembered; with more, those who were asked longest ago are forgotten. */
const maxRemembered = 20_000

/** What one manager asked one member, by `performance.now()`; the end of a decline by the wall clock, too. */
interface Asked {
  readonly at: readonly number[]
  readonly declined: { readonly endsAt: number; readonly until: Date } | undefined
}

/** Rate limit of requests to look, by manager and member: how often one asks, and how long a decline counts. In memory. */
export class LookLimits {
  readonly #asked = new Map<string, Asked>()

  get isEmpty(): boolean {
    return this.#asked.size === 0
  }

  /** How long the manager has to wait before asking this member, in ms; 0: not at all. */
  waitOf(managerId: number, userId: number): number {
    const now = performance.now()
    const { at = [], declined } = this.#asked.get(pairOf(managerId, userId)) ?? {}
    if (declined !== undefined && declined.endsAt > now) return declined.endsAt - now
    const recent = recentOf(at, now)
    return recent.length >= maxRequests ? requestWindow - (now - (recent[0] ?? now)) : 0
  }

  count(managerId: number, userId: number): void {
    const now = performance.now()
    const key = pairOf(managerId, userId)
    this.#remember(key, { at: [...recentOf(this.#asked.get(key)?.at ?? [], now), now], declined: undefined })
  }

  decline(managerId: number, userId: number): void {
    const key = pairOf(managerId, userId)
    const declined = { endsAt: performance.now() + declineLifetime, until: new Date(Date.now() + declineLifetime) }
    this.#remember(key, { at: this.#asked.get(key)?.at ?? [], declined })
  }

  /** Until when the manager cannot ask because the member declined. */
  declinedUntil(managerId: number, userId: number): Date | undefined {
    const { declined } = this.#asked.get(pairOf(managerId, userId)) ?? {}
    return declined !== undefined && declined.endsAt > performance.now() ? declined.until : undefined
  }

  /** Forgets what is over. @returns members of whom a decline is over */
  sweep(): number[] {
    const now = performance.now()
    const members: number[] = []
    for (const [key, { at, declined }] of this.#asked) {
      const isOver = declined !== undefined && declined.endsAt <= now
      if (isOver) members.push(Number(key.split('/')[1]))
      const left = { at: recentOf(at, now), declined: isOver ? undefined : declined }
      if (left.at.length === 0 && left.declined === undefined) this.#asked.delete(key)
      else if (isOver || left.at.length < at.length) this.#asked.set(key, left)
    }
    return members
  }

  /** The latest goes to the end of the map. */
  #remember(key: string, asked: Asked): void {
    this.#asked.delete(key)
    this.#asked.set(key, asked)
    for (const [oldest] of this.#asked) if (this.#asked.size > maxRemembered) this.#asked.delete(oldest)
  }
}

const pairOf = (managerId: number, userId: number) => `${managerId}/${userId}`
const recentOf = (at: readonly number[], now: number) => at.filter((each) => each > now - requestWindow)
