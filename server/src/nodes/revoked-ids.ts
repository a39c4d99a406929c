import { eraOf, revocationRetention } from '#/accounts/sessions/revocations.ts'
import type { Revocation } from '@berth/gateway/port/gateway.ts'

/** Additions between two searches for those that expired long ago. */
const pruneEvery = 10_000

/** Ids of revoked tokens, sessions and eras, as the leader has sent them. */
export class RevokedIds {
  readonly #expiryById = new Map<string, number>()
  #added = 0

  has(jti: string): boolean {
    return this.#expiryById.has(jti) || this.#expiryById.has(eraOf(jti))
  }

  replace(all: readonly Revocation[]): void {
    this.#expiryById.clear()
    for (const { jti, expiresAt } of all) this.#expiryById.set(jti, expiresAt)
  }

  add({ jti, expiresAt }: Revocation): void {
    this.#expiryById.set(jti, expiresAt)
    if (++this.#added % pruneEvery === 0) this.#prune(Date.now() - revocationRetention)
  }

  #prune(before: number): void {
    for (const [jti, expiresAt] of this.#expiryById) if (expiresAt <= before) this.#expiryById.delete(jti)
  }
}
