import { within } from '#/attempt.ts'
import { refusals } from '#/errors.ts'
import { RuntimeError, type Created, type CreateOptions, type PullProgress } from '#/runtime/runtime.ts'
import { EngineOutage } from './engine-outage.ts'
import { tell, tellEvery, type Entrant, type Entry, type Turn } from './entrant.ts'
import type { OwnedType } from './owned-type.ts'
import { WaitingLine } from './waiting-line.ts'

/** Whoever comes when so many wait is refused. */
const mostWaiting = 10_000
/** After so long what the engine works on gives its slot back, in ms: a start that never returns would keep all others waiting. */
const usualSlotLimit = 15_000
/** Max launches that go on without a slot: an engine that is slow with everything is not given ever more to do. */
const maxOverdue = 32
/** How long somebody who comes while the engine does not answer is kept, in ms; who has waited already is kept longer. */
const newcomerPatience = 3_000

export interface LaunchQueueParts {
  /** How many the engine works for at the same time. */
  readonly parallel: number
  /** Resolves when the engine answers. */
  readonly ping: () => Promise<void>
  /** ms, for tests */
  readonly slotLimit?: number
}

/**
 * Lets only so many at a time ask the engine for a start: more at once make each slower, and none done earlier.
 * First come, first served, except behind a pull, which takes minutes and nothing of what starts need.
 */
export class LaunchQueue {
  readonly #parallel: number
  readonly #outage: EngineOutage
  readonly #line = new WaitingLine<Entry>()
  /** All of them, whether they wait or not, by user and type. */
  readonly #entries = new Map<number, Map<string, Entry>>()
  /** By image, how many pull it. */
  readonly #pulls = new Map<string, number>()
  readonly #slotLimit: number
  #underWay = 0
  #overdue = 0
  #ticking: NodeJS.Timeout | undefined
  #closed: PromiseWithResolvers<void> | undefined

  constructor({ parallel, ping, slotLimit = usualSlotLimit }: LaunchQueueParts) {
    this.#parallel = parallel
    this.#slotLimit = slotLimit
    this.#outage = new EngineOutage(ping)
  }

  /**
   * Does the work when its turn has come; at once, when nobody waits.
   * @throws {Refusal} when too many wait, it may not go on, or `close` was called
   * @throws {RuntimeError} `unreachable`, soon, when the engine does not answer · whatever the work throws
   */
  async run<T>(entrant: Entrant, work: (turn: Turn) => Promise<T>): Promise<T> {
    if (this.#outage.over && !(await within(newcomerPatience, this.#outage.over)))
      throw new RuntimeError('unreachable', `launch ${entrant.owned.type} of user ${entrant.owned.userId}`)
    if (this.#closed) throw refusals.stopping()
    if (this.#line.size >= mostWaiting) throw refusals.tooManyLaunches()
    const entry = this.#enter(entrant)
    try {
      if (entry.hasWaited) await this.#wait(entry)
      this.#limitSlot(entry)
      return await work({ create: (creation) => this.#create(entry, creation) })
    } catch (error) {
      if (isUnreachable(error)) void this.#sitOut(error)
      throw error
    } finally {
      this.#leave(entry)
    }
  }

  /** Somebody asks for it now: it is patient no more. */
  promote({ userId, type }: OwnedType): void {
    const entry = this.#entries.get(userId)?.get(type)
    if (entry) this.#line.promote(entry)
  }

  /**
   * Sends away who waits, or pulls, for this user (and type) and may not go on any more. What the engine works on ends by
   * itself soon.
   */
  recheck(userId: number, type?: string): void {
    for (const [each, entry] of this.#entries.get(userId) ?? [])
      if ((type === undefined || type === each) && entry.standing !== 'working') void this.#recheckOne(entry)
  }

  /** Sends one away that waits, or pulls; what the engine works on ends by itself soon. */
  dismiss({ userId, type }: OwnedType, why: Error): void {
    const entry = this.#entries.get(userId)?.get(type)
    if (entry) this.#sendAway(entry, why)
  }

  counts(): { waiting: number; underWay: number; parallel: number } {
    return { waiting: this.#line.size, underWay: this.#underWay, parallel: this.#parallel }
  }

  /** Refuses who waits, who pulls, and who comes. Resolves when the engine works for nobody any more. */
  async close(): Promise<void> {
    this.#closed ??= Promise.withResolvers()
    this.#outage.close()
    for (const entry of this.#all()) this.#sendAway(entry, refusals.stopping())
    if (this.#entries.size === 0) this.#closed.resolve()
    return this.#closed.promise
  }

  // --- Coming and going

  /** Who could be let in was let in when somebody left, so nobody is overtaken who could go on. */
  #enter(entrant: Entrant): Entry {
    const hasWaited = !this.#hasRoom() || this.#isHeld(entrant)
    const standing = hasWaited ? 'waiting' : 'working'
    const [admitted, pull] = [Promise.withResolvers<void>(), new AbortController()]
    const entry: Entry = { entrant, hasWaited, admitted, pull, standing, slotTimer: undefined, told: undefined }
    if (!hasWaited) this.#underWay++
    const { userId, type } = entrant.owned
    this.#entries.set(userId, (this.#entries.get(userId) ?? new Map<string, Entry>()).set(type, entry))
    return entry
  }

  async #wait(entry: Entry): Promise<void> {
    tell(entry, this.#line.add(entry, entry.entrant.isPatient), this.#line.size)
    this.#ticking ??= setInterval(() => this.#tick(), tellEvery).unref()
    await entry.admitted.promise
    const refusal = await entry.entrant.mayGoOn()
    if (refusal) throw refusal
  }

  #leave(entry: Entry): void {
    const { userId, type } = entry.entrant.owned
    const theirs = this.#entries.get(userId)
    theirs?.delete(type)
    if (theirs?.size === 0) this.#entries.delete(userId)
    clearTimeout(entry.slotTimer)
    if (entry.standing === 'working') this.#underWay--
    if (entry.standing === 'overdue') this.#overdue--
    this.#admit()
    if (this.#entries.size === 0) this.#closed?.resolve()
  }

  #admit(): void {
    for (const entry of this.#line) {
      if (!this.#hasRoom()) break
      if (this.#isHeld(entry.entrant)) continue
      this.#line.remove(entry)
      entry.standing = 'working'
      this.#underWay++
      entry.admitted.resolve()
    }
    if (this.#line.size > 0) return
    clearInterval(this.#ticking)
    this.#ticking = undefined
  }

  #limitSlot(entry: Entry): void {
    entry.slotTimer = setTimeout(() => this.#giveSlotBack(entry), this.#slotLimit).unref()
  }

  #giveSlotBack(entry: Entry): void {
    if (entry.standing !== 'working' || this.#overdue >= maxOverdue) return
    entry.standing = 'overdue'
    this.#overdue++
    this.#underWay--
    this.#admit()
  }

  #sendAway(entry: Entry, why: Error): void {
    if (entry.standing === 'pulling') entry.pull.abort(why)
    if (entry.standing !== 'waiting') return
    this.#line.remove(entry)
    entry.admitted.reject(why)
  }

  /** A store that cannot be asked now is asked again when the turn comes. */
  async #recheckOne(entry: Entry): Promise<void> {
    const refusal = await entry.entrant.mayGoOn().catch(() => undefined)
    if (refusal) this.#sendAway(entry, refusal)
  }

  #hasRoom(): boolean {
    return this.#underWay < this.#parallel && !this.#outage.over
  }

  *#all(): Generator<Entry> {
    for (const theirs of this.#entries.values()) yield* theirs.values()
  }

  #tick(): void {
    let place = 0
    for (const entry of this.#line) {
      place++
      if (!this.#isHeld(entry.entrant)) tell(entry, place, this.#line.size)
    }
  }

  // --- Pulls

  #isHeld({ image, needsImage }: Entrant): boolean {
    return needsImage && this.#pulls.has(image)
  }

  /** Those who wait for the same image share its failure: a registry that is down is asked once, not once for each. */
  async #create(entry: Entry, work: (options: CreateOptions) => Promise<Created>): Promise<Created> {
    try {
      return await work({
        signal: entry.pull.signal,
        onPull: (progress) => this.#notePull(entry, progress),
      })
    } catch (error) {
      if (entry.standing === 'pulling' && error instanceof RuntimeError && error.kind === 'image')
        for (const other of this.#waitingFor(entry.entrant.image)) this.#sendAway(other, error)
      throw error
    } finally {
      if (entry.standing === 'pulling') this.#endPull(entry)
    }
  }

  #notePull(entry: Entry, progress: PullProgress): void {
    const { image } = entry.entrant
    entry.entrant.onPull(progress)
    for (const { entrant } of this.#waitingFor(image)) entrant.onPull(progress)
    if (entry.standing === 'pulling') return
    clearTimeout(entry.slotTimer)
    if (entry.standing === 'overdue') this.#overdue--
    else this.#underWay--
    entry.standing = 'pulling'
    this.#pulls.set(image, (this.#pulls.get(image) ?? 0) + 1)
    this.#admit()
  }

  /** It goes on at once, although for a moment one more than agreed may be under way: the rest of it is short. */
  #endPull(entry: Entry): void {
    const { image } = entry.entrant
    const pulling = (this.#pulls.get(image) ?? 1) - 1
    if (pulling > 0) this.#pulls.set(image, pulling)
    else this.#pulls.delete(image)
    entry.standing = 'working'
    this.#underWay++
    this.#limitSlot(entry)
    this.#admit()
  }

  *#waitingFor(image: string): Generator<Entry> {
    for (const entry of this.#line) if (entry.entrant.needsImage && entry.entrant.image === image) yield entry
  }

  /** Nobody is let in until the engine answers, so that its restart costs those who wait nothing; nor is anybody kept for ever. */
  async #sitOut(error: Error): Promise<void> {
    if (this.#outage.over) return
    if (!(await this.#outage.begin())) for (const entry of this.#line) this.#sendAway(entry, error)
    this.#admit()
  }
}

const isUnreachable = (error: unknown): error is RuntimeError =>
  error instanceof RuntimeError && error.kind === 'unreachable'
