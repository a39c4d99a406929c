import type { Runtime, RuntimeContainer } from '#/engines/runtime.ts'

/** A list of the engine's containers. */
export interface EngineListing {
  readonly containers: readonly RuntimeContainer[]
  /** When the engine was asked; by `performance.now()`. */
  readonly askedAt: number
  /** Whether all containers are in it, or only those that run, are paused or restart. */
  readonly isFull: boolean
}

/**
 * `fullEvery`: a full list may take a thirtieth of the time; `quick`: up to this duration, in ms, every run requests a
 * full one. With up to some 5,000 containers every list is full; with 20,000, whose list takes five seconds, one in two
 * and a half minutes.
 */
const [fullEvery, quick] = [30, 1_000]
/** What a full list takes at least for each container, in ms: one that the adapter had at hand says nothing about the next one. */
const perContainer = 0.2

/**
 * One list of the engine per reconciler run, shared by all tasks that need it, and requested by the first of them. A
 * full list costs the engine 0.2 ms for each container, a list of running ones a tenth of that for each that does not
 * run; so most lists have only running containers, and those are all that can need an urgent action. A full list that
 * takes long is requested in the background, so that no run waits for it: the first run after it has arrived uses it. Of a
 * cluster, which keeps no stopped containers, the list of running ones is what its watch told: the full one finds what the watch
 * missed.
 */
export class EngineListCache {
  readonly #runtime: Pick<Runtime, 'list'>
  readonly #onFull: () => void
  readonly #now: () => number
  #current: Promise<EngineListing> | undefined
  /** When the last full list arrived, and how long it took, in ms. */
  #full: { readonly at: number; readonly took: number } | undefined
  /** A full list from the background that no run has used yet. */
  #ready: EngineListing | undefined
  #isListing = false
  #hasBegun = false
  /** Number of losses and recoveries of the engine. */
  #epoch = 0

  /**
   * @param onFull called when a full list has arrived for the next run; must not throw @param now monotonic clock, in
   * ms
   */
  constructor(runtime: Pick<Runtime, 'list'>, onFull: () => void, now = () => performance.now()) {
    this.#runtime = runtime
    this.#onFull = onFull
    this.#now = now
  }

  /** A run begins: the next request asks the engine again. The first run shares the list of the start. */
  startRun(): void {
    if (this.#hasBegun) this.#current = undefined
    this.#hasBegun = true
  }

  /** The engine went away or came back: earlier lists are void, and the next one is full. */
  invalidate(): void {
    this.#epoch++
    this.#current = undefined
    this.#full = undefined
    this.#ready = undefined
  }

  /** This run's list. @throws {RuntimeError} the same to all tasks of the run */
  async get(): Promise<EngineListing> {
    return (this.#current ??= this.#takeReady() ?? this.#list())
  }

  /** A list of all containers, asked for now. Before the first run it is that run's list, too. @throws {RuntimeError} */
  async listAll(): Promise<readonly RuntimeContainer[]> {
    const listing = this.#fetch(true)
    if (!this.#hasBegun) this.#current ??= listing
    return (await listing).containers
  }

  #takeReady(): Promise<EngineListing> | undefined {
    const ready = this.#ready
    this.#ready = undefined
    return ready && Promise.resolve(ready)
  }

  async #list(): Promise<EngineListing> {
    const last = this.#full
    if (!last || last.took <= quick) return this.#fetch(true)
    if (this.#now() - last.at >= last.took * fullEvery) void this.#listBeside()
    return this.#fetch(false)
  }

  /** Never rejects: if the engine does not answer the run's own list fails, and a later run tries again. */
  async #listBeside(): Promise<void> {
    if (this.#isListing) return
    this.#isListing = true
    const epoch = this.#epoch
    try {
      const listing = await this.#fetch(true)
      if (epoch !== this.#epoch) return
      this.#ready = listing
      this.#onFull()
    } catch {
      // A failure counts as no list, see above.
    } finally {
      this.#isListing = false
    }
  }

  async #fetch(isFull: boolean): Promise<EngineListing> {
    const [askedAt, epoch] = [this.#now(), this.#epoch]
    const containers = await this.#runtime.list(isFull ? {} : { isUp: true })
    const now = this.#now()
    const took = Math.max(now - askedAt, containers.length * perContainer)
    if (isFull && epoch === this.#epoch) this.#full = { at: now, took }
    return { containers, askedAt, isFull }
  }
}
