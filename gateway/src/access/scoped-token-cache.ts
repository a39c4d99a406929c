import { clock } from '#/coarse-clock.ts'
import type { GatewayUser } from '#/port/gateway-state.ts'

/** A token for an app, and until when it is good (ms since 1970). */
export interface ScopedToken {
  readonly token: string
  readonly expiresAt: number
}

/** Callers' tokens for which one app's are kept; a class of 1,000 that opens one public app is served without asking twice. */
const maxTokens = 1_000

interface Entry extends ScopedToken {
  /** As it was when the token was asked for. */
  readonly user: GatewayUser
}

/**
 * Tokens for one app, by the `jti` of the caller's own token: bounded, and without those that have expired. A token is used
 * only for the caller's token and the state of the user that it was issued for, so that neither a change of rights or a
 * block nor another session meets an earlier one.
 */
export class ScopedTokenCache {
  readonly #byJti = new Map<string, Entry>()
  readonly #nonEmptyCaches: Set<ScopedTokenCache>

  /** @param nonEmptyCaches the caches that hold any, which this one enters by itself; who reads it takes out those that are empty */
  constructor(nonEmptyCaches: Set<ScopedTokenCache>) {
    this.#nonEmptyCaches = nonEmptyCaches
  }

  get size(): number {
    return this.#byJti.size
  }

  /** @param user as it is now */
  get(jti: string, user: GatewayUser): ScopedToken | undefined {
    const known = this.#byJti.get(jti)
    return known?.user === user ? known : undefined
  }

  /**
   * Evicts the token that was set first when there are too many: it expires first.
   * @param user as it was when the token was asked for
   */
  set(jti: string, user: GatewayUser, { token, expiresAt }: ScopedToken): void {
    this.#byJti.delete(jti)
    const [oldest] = this.#byJti.keys()
    if (oldest !== undefined && this.#byJti.size >= maxTokens) this.#byJti.delete(oldest)
    this.#byJti.set(jti, { token, expiresAt, user })
    this.#nonEmptyCaches.add(this)
  }

  /** Forgets tokens that expired `grace` ms ago: until then they are used on while no control plane answers. */
  prune(grace: number): void {
    for (const [jti, { expiresAt }] of this.#byJti) if (expiresAt + grace <= clock.wall) this.#byJti.delete(jti)
  }

  clear(): void {
    this.#byJti.clear()
  }
}
