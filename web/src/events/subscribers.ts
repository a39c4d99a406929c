/**
 * Listeners of a store, and the work that runs while there is at least one.
 * @typeParam News what they are told
 */
export class Subscribers<News = void> {
  readonly #listeners = new Set<(news: News) => void>()
  readonly #begin: () => () => void
  #stop: (() => void) | undefined

  /** @param begin starts the work for the first listener @returns stops it after the last one */
  constructor(begin: () => () => void) {
    this.#begin = begin
  }

  /** @param listener is called by `notify` @returns unsubscribes */
  add(listener: (news: News) => void): () => void {
    this.#listeners.add(listener)
    this.#stop ??= this.#begin()
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size > 0) return
      this.#stop?.()
      this.#stop = undefined
    }
  }

  notify(news: News): void {
    for (const listener of this.#listeners) listener(news)
  }
}
