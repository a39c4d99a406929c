import type { Pod } from './api-objects.ts'

/**
 * What the watch tells of one pod. A change that comes while its reader is busy is kept: a reader that only heard changes while it
 * listens would miss the last one, and look for it a second later.
 */
export class PodFollower {
  readonly #onEnd: () => void
  /** The newest that was told and not read yet. */
  #news: { readonly pod: Pod | undefined } | undefined
  #wake: (() => void) | undefined

  constructor(onEnd: () => void) {
    this.#onEnd = onEnd
  }

  /** @param pod undefined: it is gone */
  tell(pod: Pod | undefined): void {
    this.#news = { pod }
    this.#wake?.()
  }

  /**
   * The pod as of the newest change since the last call, at once if there was one. One reader at a time.
   * @returns undefined when it is gone, when nothing was told within `ms`, and when the signal aborts
   */
  async next(ms: number, signal?: AbortSignal): Promise<Pod | undefined> {
    if (!this.#news && !signal?.aborted) await this.#change(ms, signal)
    const news = this.#news
    this.#news = undefined
    return news?.pod
  }

  end(): void {
    this.#onEnd()
  }

  async #change(ms: number, signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#wake = resolve
    const timer = setTimeout(resolve, ms)
    signal?.addEventListener('abort', this.#wake, { once: true })
    await promise
    signal?.removeEventListener('abort', this.#wake)
    clearTimeout(timer)
    this.#wake = undefined
  }
}
