import type { Instance, Runtime } from '#/runtime/runtime.ts'

/** What the engine had when a run asked it. */
export interface EngineLook {
  readonly instances: readonly Instance[]
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
 * looks have only what is up, which is all that can be wrong at once.
 */
export class EngineLooks {
  readonly #runtime: Pick<Runtime, 'list'>
  readonly #now: () => number
  #current: Promise<EngineLook> | undefined
  /** When the last full list came, and how long it took, in ms. */
  #full: { readonly at: number; readonly took: number } | undefined
  #hasBegun = false
  /** Counts how often the engine went away or came back. */
  #epoch = 0

  /** @param now in ms, never set back */
  constructor(runtime: Pick<Runtime, 'list'>, now = () => performance.now()) {
    this.#runtime = runtime
    this.#now = now
  }

  /** A run begins: what is asked for from now on is asked of the engine anew. The first run shares what the start has asked. */
  begin(): void {
    if (this.#hasBegun) this.#current = undefined
    this.#hasBegun = true
  }

  /** The engine went away or came back: nothing that it said counts, and the next look is a full one. */
  forget(): void {
    this.#epoch++
    this.#current = undefined
    this.#full = undefined
  }

  /** This run's look. @throws {RuntimeError} the same to all tasks of the run */
  async look(): Promise<EngineLook> {
    return (this.#current ??= this.#ask())
  }

  async #ask(): Promise<EngineLook> {
    const askedAt = this.#now()
    const last = this.#full
    const isFull = !last || last.took <= quick || askedAt - last.at >= last.took * fullEvery
    const epoch = this.#epoch
    const instances = await this.#runtime.list(isFull ? {} : { isUp: true })
    const now = this.#now()
    if (isFull && epoch === this.#epoch) this.#full = { at: now, took: now - askedAt }
    return { instances, askedAt, isFull }
  }
}
