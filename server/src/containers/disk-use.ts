import type { Logger } from 'pino'
import { attempt, within } from '#/attempt.ts'
import { refusals, type Refusal } from '#/errors.ts'
import type { Runtime } from '#/runtime/runtime.ts'
import type { User } from '#/store/users.ts'
import { bytesInWords } from './bytes-in-words.ts'
import { isFull, sumOf, type DiskLimit, type DiskLimits, type HomeBytes } from './disk-limits.ts'
import type { PersonalEvent } from './events.ts'
import type { Template } from './template.ts'

/** How long a refused launch waits for numbers that are newer, in ms. */
const patience = 4_000
/** How old numbers may be before they are asked for again at a refusal, in ms. */
const usualAge = 30_000
/** How many people a warning names. */
const mostNamed = 3

export interface DiskUseParts {
  readonly runtime: Pick<Runtime, 'homes' | 'measureHomes'>
  readonly limits: DiskLimits
  readonly tell: (userId: number, event: PersonalEvent) => void
  readonly log: Pick<Logger, 'warn' | 'info'>
  /** For tests, in ms. */
  readonly oldAfter?: number
}

/** Somebody's homes when they were measured last. */
interface Measured {
  readonly slug: string
  readonly bytes: HomeBytes
}

/**
 * What people's homes took on the disk when they were measured last: warns them and the operator before a limit is
 * reached, and refuses to start more beyond it. What nobody measured yet is no reason to refuse anything.
 */
export class DiskUse {
  readonly #parts: DiskUseParts
  readonly #end = new AbortController()
  #byUser: ReadonlyMap<number, Measured> = new Map()
  #measuring: Promise<void> | undefined
  #askedAt = -Infinity
  #hasNumbers = false

  constructor(parts: DiskUseParts) {
    this.#parts = parts
  }

  /** Whether there is any limit that the numbers are needed for. */
  get isWanted(): boolean {
    return this.#parts.limits.areSet
  }

  /**
   * Asks the engine, which may take minutes; everybody who asks meanwhile waits for the same answer.
   * @throws {RuntimeError} what was known before goes on to count
   */
  async measure(): Promise<void> {
    this.#measuring ??= this.#measureOnce().finally(() => (this.#measuring = undefined))
    return this.#measuring
  }

  /** Ends a measurement that is under way. */
  close(): void {
    this.#end.abort()
  }

  /**
   * For the list of launch checks. Numbers that are not new are asked for again before anybody is refused, so that a
   * clean-up counts soon; with many files that takes longer than anybody wants to wait, and the next attempt has them.
   */
  async refusalFor({ id }: Pick<User, 'id'>, { type }: Pick<Template, 'type'>): Promise<Refusal | undefined> {
    if (!this.#inTheWayOf(type, id)) return undefined
    await within(patience, this.#renew())
    const limit = this.#inTheWayOf(type, id)
    return limit && this.#refusal(id, limit)
  }

  /** What a page that is new has to be told of somebody. */
  current(userId: number): PersonalEvent[] {
    return this.#parts.limits.nearlyFull(this.#bytesOf(userId)).map(toEvent)
  }

  /** For the operator, each a sentence; a few, however many people there are. */
  warnings(): readonly string[] {
    const reached = [...this.#byUser].flatMap(([userId, { slug, bytes }]) =>
      this.#parts.limits.nearlyFull(bytes).map((limit) => ({ userId, slug, limit })),
    )
    const [full, nearly] = [reached.filter(({ limit }) => isFull(limit)), reached.filter(({ limit }) => !isFull(limit))]
    return [
      ...(full.length > 0 ? [`Full homes: ${full.length}. ${largest(full)}`] : []),
      ...(nearly.length > 0 ? [`Nearly full homes: ${nearly.length}. ${largest(nearly)}`] : []),
    ]
  }

  /** Numbers for `/metrics`, by name; none before the first measurement. */
  counts(): Readonly<Record<string, number>> {
    if (!this.#hasNumbers) return {}
    const people = [...this.#byUser.values()].map(({ bytes }) => ({ bytes, sum: sumOf(bytes) }))
    return {
      berth_homes_bytes: people.reduce((all, { sum }) => all + sum, 0),
      berth_homes_largest_user_bytes: people.reduce((most, { sum }) => Math.max(most, sum), 0),
      berth_homes_full_users: people.filter(({ bytes }) => this.#parts.limits.of(bytes).some(isFull)).length,
    }
  }

  async #measureOnce(): Promise<void> {
    this.#askedAt = performance.now()
    const { runtime } = this.#parts
    const homes = await runtime.homes()
    const sizes = await runtime.measureHomes(this.#end.signal)
    const byUser = new Map<number, { slug: string; bytes: Map<string, number> }>()
    for (const { volume, owner } of homes) {
      // Where the engine could not tell this time, what it said last is nearer than nothing.
      const size = sizes.get(volume) ?? this.#bytesOf(owner.userId).get(owner.type)
      if (size === undefined) continue
      const measured = byUser.get(owner.userId) ?? { slug: owner.slug, bytes: new Map<string, number>() }
      byUser.set(owner.userId, measured)
      measured.bytes.set(owner.type, size)
    }
    const before = this.#byUser
    this.#byUser = byUser
    this.#hasNumbers = true
    for (const userId of new Set([...before.keys(), ...byUser.keys()]))
      this.#tellChange(userId, before.get(userId)?.bytes ?? none)
  }

  /** Pages are told of each new number from the first warning on, and once when there is no reason to warn any more. */
  #tellChange(userId: number, before: HomeBytes): void {
    const { limits, tell, log } = this.#parts
    const [was, now] = [limits.nearlyFull(before), limits.nearlyFull(this.#bytesOf(userId))]
    const all = limits.of(this.#bytesOf(userId))
    for (const limit of now) {
      const old = was.find(isOfSame(limit))
      if (old?.used !== limit.used) tell(userId, toEvent(limit))
      if (!old || isFull(old) !== isFull(limit))
        log.warn(
          { userId, ...limit },
          isFull(limit) ? 'as much on disk as allowed' : 'nearly as much on disk as allowed',
        )
    }
    for (const old of was)
      // A home that is gone has no limit any more.
      if (!now.some(isOfSame(old))) tell(userId, toEvent(all.find(isOfSame(old)) ?? { ...old, used: 0 }))
  }

  /** Never throws. */
  async #renew(): Promise<void> {
    const isNew = performance.now() - this.#askedAt < (this.#parts.oldAfter ?? usualAge)
    if (isNew && !this.#measuring) return
    await attempt(this.#parts.log, 'measuring homes again before a launch is refused', () => this.measure())
  }

  #refusal(userId: number, limit: DiskLimit): Refusal {
    const { limits } = this.#parts
    const [used, most] = [bytesInWords(limit.used), bytesInWords(limit.limit)]
    return refusals.diskFull(used, most, limits.wayIn(limit, this.#bytesOf(userId))?.displayName)
  }

  #inTheWayOf(type: string, userId: number): DiskLimit | undefined {
    return this.#parts.limits.inTheWayOf(type, this.#bytesOf(userId))
  }

  #bytesOf(userId: number): HomeBytes {
    return this.#byUser.get(userId)?.bytes ?? none
  }
}

const none: HomeBytes = new Map()

const isOfSame = (one: DiskLimit) => (other: DiskLimit) => one.type === other.type

const toEvent = (limit: DiskLimit): PersonalEvent => ({ name: 'disk', data: { ...limit } })

interface Reached {
  readonly userId: number
  readonly slug: string
  readonly limit: DiskLimit
}

/** Slugs and numbers; an operator's page is no place for addresses. */
function largest(reached: readonly Reached[]): string {
  const first = reached.toSorted((one, other) => other.limit.used - one.limit.used).slice(0, mostNamed)
  const named = first.map(({ userId, slug, limit: { type, used, limit } }) => {
    const what = type === null ? slug : `${slug}-${type}`
    return `${what} (user ${userId}): ${bytesInWords(used)} of ${bytesInWords(limit)}`
  })
  return `${reached.length > named.length ? 'The largest: ' : ''}${named.join('; ')}.`
}
