import type { RuntimeContainer } from '#/runtime/runtime-container.ts'
import type { Runtime } from '#/runtime/runtime.ts'

/** What the engine had when a run asked it. */
export interface EngineListing {
  readonly instances: readonly RuntimeContainer[]
  /** When the engine was asked; by `performance.now()`. */
  readonly askedAt: number
  /** Whether all containers are in it, or only those that run, are paused or restart. */
  readonly isFull: boolean
}

/**
 * Share of the time in which the engine makes a full list, and Berth reads it: a thirtieth; and how long one may take to be
 * asked for in every run, in ms. With up to some 5,000 containers every look is a full one; with 20,000, of which the list
 * takes five seconds, one in two and a half minutes.
 */
const [fullEvery, quick] = [30, 1_000]

/**
 * One list of the engine per reconciler run, shared by all tasks that need it, and asked for when the first of them does.
 * A full list costs the engine 0.2 ms for each container, a list of what is up a tenth of that for each that is not; so most
 * looks have only what is up, which is all that can be wrong at once. A full list that takes long is made beside the runs, so
 * that none waits for it: it is the look of the next run after it has come.
 */
export class EngineListCache {
  readonly #runtime: Pick<Runtime, 'list'>
  readonly #onFull: () => void
  readonly #now: () => number
  #current: Promise<EngineListing> | undefined
  /** When the last full list came, and how long it took, in ms. */
  #full: { readonly at: number; readonly took: number } | undefined
  /** A full list that came beside the runs and was not looked at yet. */
  #ready: EngineListing | undefined
  #isListing = false
  #hasBegun = false
  /** Counts how often the engine went away or came back. */
  #epoch = 0

  /** @param onFull called when a full list has come that the next run looks at; must not throw @param now in ms, never set back */
  constructor(runtime: Pick<Runtime, 'list'>, onFull: () => void, now = () => performance.now()) {
    this.#runtime = runtime
    this.#onFull = onFull
    this.#now = now
  }

  /** A run begins: what is asked for from now on is asked of the engine anew. The first run shares what the start has asked. */
  startRun(): void {
    if (this.#hasBegun) this.#current = undefined
    this.#hasBegun = true
  }

  /** The engine went away or came back: nothing that it said counts, and the next look is a full one. */
  invalidate(): void {
    this.#epoch++
    this.#current = undefined
    this.#full = undefined
    this.#ready = undefined
  }

  /** This run's look. @throws {RuntimeError} the same to all tasks of the run */
  async get(): Promise<EngineListing> {
    return (this.#current ??= this.#takeReady() ?? this.#list())
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

  /** Never rejects: of an engine that does not answer the run hears by its own list, and a later run tries again. */
  async #listBeside(): Promise<void> {
    if (this.#isListing) return
    this.#isListing = true
    const epoch = this.#epoch
    try {
      const look = await this.#fetch(true)
      if (epoch !== this.#epoch) return
      this.#ready = look
      this.#onFull()
    } catch {
      // See above.
    } finally {
      this.#isListing = false
    }
  }

  async #fetch(isFull: boolean): Promise<EngineListing> {
    const [askedAt, epoch] = [this.#now(), this.#epoch]
    const instances = await this.#runtime.list(isFull ? {} : { isUp: true })
    const now = this.#now()
    if (isFull && epoch === this.#epoch) this.#full = { at: now, took: now - askedAt }
    return { instances, askedAt, isFull }
  }
}
