import { clock } from '../coarse-clock.ts'

/** A token for an app, and until when it is good (ms since 1970). */
export interface ScopedToken {
  readonly token: string
  readonly expiresAt: number
}

/** Visitors of one app whose tokens are kept; a class of 1,000 that opens one public app is served without asking twice. */
const maxTokens = 1_000

/** Tokens for one app, by visitor: bounded, and without those that have expired. */
export class ScopedTokenCache {
  readonly #byName = new Map<string, ScopedToken>()
  readonly #nonEmptyCaches: Set<ScopedTokenCache>

  /** @param nonEmptyCaches the caches that hold any, which this one enters by itself; who reads it takes out those that are empty */
  constructor(nonEmptyCaches: Set<ScopedTokenCache>) {
    this.#nonEmptyCaches = nonEmptyCaches
  }

  get size(): number {
    return this.#byName.size
  }

  get(name: string): ScopedToken | undefined {
    return this.#byName.get(name)
  }

  /** Evicts the token that was set first when there are too many: it expires first. */
  set(name: string, token: ScopedToken): void {
    this.#byName.delete(name)
    const [oldest] = this.#byName.keys()
    if (oldest !== undefined && this.#byName.size >= maxTokens) this.#byName.delete(oldest)
    this.#byName.set(name, token)
    this.#nonEmptyCaches.add(this)
  }

  /** Forgets tokens that expired `grace` ms ago: until then they are used on while no control plane answers. */
  prune(grace: number): void {
    for (const [name, { expiresAt }] of this.#byName) if (expiresAt + grace <= clock.wall) this.#byName.delete(name)
  }

  clear(): void {
    this.#byName.clear()
  }
}
