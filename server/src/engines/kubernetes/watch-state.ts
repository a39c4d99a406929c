/** Within this time after the list that a watch begins with, other lists of all pods are answered from both, in ms. */
const sharing = 10_000
/**
 * A watch without a line for this long answers no list, in ms: bookmarks come every minute or so, and a connection that is half open
 * is noticed only later (`ClusterTimeouts.silence`).
 */
const maxSilence = 90_000

/** Whether the watch of pods tells of all changes now, so that what it told can answer a list. */
export class WatchState {
  readonly #now: () => number
  /** While a watch takes the list that it begins with, until it is open or has failed. */
  #opening: PromiseWithResolvers<void> | undefined
  #isOpen = false
  #heardAt = -Infinity
  #sharedUntil = -Infinity

  /** @param now monotonic clock, in ms */
  constructor(now = () => performance.now()) {
    this.#now = now
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** The list of all pods, from which the watch continues, is about to be asked for. */
  noteOpening(): void {
    this.#opening ??= Promise.withResolvers()
  }

  /** The watch is open: it tells of each change since its list, or since the last line of the watch before. */
  noteOpen(): void {
    this.#isOpen = true
    this.noteLine()
    if (this.#opening) this.#sharedUntil = this.#now() + sharing
    this.#endOpening()
  }

  /** A change, or a bookmark. */
  noteLine(): void {
    this.#heardAt = this.#now()
  }

  /** The watch has broken, or did not open. */
  noteLost(): void {
    this.#isOpen = false
    this.#sharedUntil = -Infinity
    this.#endOpening()
  }

  /** Resolves when no list of the watch is under way, whatever became of it. */
  async settled(): Promise<void> {
    await this.#opening?.promise
  }

  /**
   * Whether what the watch told can answer a list now. @param isUp whether of running pods alone: a list of all is asked for, so that
   * a line that never came is noticed, except right after the list that the watch began with
   */
  canAnswer(isUp: boolean): boolean {
    const now = this.#now()
    return this.#isOpen && now - this.#heardAt < maxSilence && (isUp || now < this.#sharedUntil)
  }

  #endOpening(): void {
    this.#opening?.resolve()
    this.#opening = undefined
  }
}
