/**
 * Looks at things, one at a time for each: whoever asks while a look is under way shares the next one, because the present
 * one may have begun before what they want to see. So a hundred askers cause two looks.
 */
export class Looks<T = void> {
  readonly #look: (id: string) => Promise<T>
  readonly #running = new Map<string, Promise<T>>()
  readonly #waiting = new Map<string, Promise<T>>()

  /** @param look must end within a limit of its own */
  constructor(look: (id: string) => Promise<T>) {
    this.#look = look
  }

  /** Resolves (or rejects) with a look that began after this call. */
  async look(id: string): Promise<T> {
    const running = this.#running.get(id)
    if (!running) return this.#start(id)
    const waiting = this.#waiting.get(id)
    if (waiting) return waiting
    const next = running.then(
      () => this.#startWaiting(id),
      () => this.#startWaiting(id),
    )
    this.#waiting.set(id, next)
    return next
  }

  /** What is under way or about to be; resolves at once when nothing is. */
  async settled(id: string): Promise<void> {
    await (this.#waiting.get(id) ?? this.#running.get(id))
  }

  async #startWaiting(id: string): Promise<T> {
    this.#waiting.delete(id)
    // Between the end of the one before and now somebody may have begun, later than those who wait here.
    return this.#running.get(id) ?? this.#start(id)
  }

  async #start(id: string): Promise<T> {
    const look = this.#look(id)
    this.#running.set(id, look)
    try {
      return await look
    } finally {
      if (this.#running.get(id) === look) this.#running.delete(id)
    }
  }
}
