import { ownedKey, type OwnedType } from './owned-type.ts'

/** A program that ends within this time after its start has not worked, whatever it says; in ms. */
const soon = 10_000
/** Bad starts in a row after which the next one has to wait: an accident, and another try. */
const free = 2
/** How long it waits then, in ms; doubled with each further one. */
const [firstPause, longestPause] = [5_000, 300_000]
/** Containers that are remembered. */
const most = 10_000

interface History {
  /** Undefined when its end is known. */
  startedAt: number | undefined
  badStarts: number
  /** Nothing that nobody asked for by hand starts it before. */
  notBefore: number
}

/**
 * Keeps apps that end right after every start from being started without end: an open page asks for its app every few
 * seconds, and each start costs everybody. Whoever launches by hand is not held up.
 */
export class CrashLoops {
  readonly #now: () => number
  readonly #histories = new Map<string, History>()

  /** @param now in ms, never set back */
  constructor(now = () => performance.now()) {
    this.#now = now
  }

  /** Whether it may be started without anybody asking for it by hand. */
  mayStart(owned: OwnedType): boolean {
    return this.#now() >= (this.#histories.get(ownedKey(owned))?.notBefore ?? 0)
  }

  started(owned: OwnedType): void {
    const key = ownedKey(owned)
    const history = this.#histories.get(key) ?? { startedAt: undefined, badStarts: 0, notBefore: 0 }
    history.startedAt = this.#now()
    if (this.#histories.size >= most) this.#histories.clear()
    this.#histories.set(key, history)
  }

  /** It ended, and nobody of ours stopped it. */
  ended(owned: OwnedType): void {
    const history = this.#histories.get(ownedKey(owned))
    if (history?.startedAt === undefined) return
    const now = this.#now()
    if (now - history.startedAt >= soon) return this.forget(owned)
    history.startedAt = undefined
    history.badStarts++
    const pause = Math.min(longestPause, firstPause * 2 ** (history.badStarts - free - 1))
    if (history.badStarts > free) history.notBefore = now + pause
  }

  forget(owned: OwnedType): void {
    this.#histories.delete(ownedKey(owned))
  }
}
