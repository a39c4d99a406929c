import { createHash, randomBytes } from 'node:crypto'

/** Lifetime of a code, in ms. */
const lifetime = 60_000
/** Codes that one session, and all together, may have unused; of more the oldest are forgotten. */
const [maxPerSession, maxCodes] = [50, 10_000]

/** What a code stands for. */
export interface EntryGrant {
  /** `{slug}-{type}`: the only container whose host takes the code. */
  readonly prefix: string
  /** Hash of what the browser holds at that host. */
  readonly browser: string
  readonly userId: number
  readonly sid: string
  /** As in `Claims`. */
  readonly acting: string | null
  readonly isRenewable: boolean
  /** When the token ends that the browser had. */
  readonly expiresAt: Date
  /** Path and query to go on to. */
  readonly next: string
}

interface Kept {
  readonly grant: EntryGrant
  /** By `performance.now()`: a clock that is set back revives none. */
  readonly ends: number
}

/**
 * Codes by which a browser that is signed in gets into a container's host: single use, one minute. Only their hashes are
 * kept, in memory: after a restart of the API a browser asks for another one.
 */
export class EntryCodes {
  readonly #byHash = new Map<string, Kept>()

  issue(grant: EntryGrant): string {
    this.#makeRoom(grant.sid)
    const code = randomBytes(32).toString('base64url')
    this.#byHash.set(hashOf(code), { grant, ends: performance.now() + lifetime })
    return code
  }

  /**
   * What a code stands for, which is used up by this. With another container or another browser it is not: a client
   * that has seen the address must not be able to lock the right browser out.
   * @param browsers hashes of what the browser holds
   */
  redeem(code: string, prefix: string, browsers: readonly string[]): EntryGrant | undefined {
    const hash = hashOf(code)
    const kept = this.#byHash.get(hash)
    if (!kept || kept.ends <= performance.now()) return undefined
    if (kept.grant.prefix !== prefix || !browsers.includes(kept.grant.browser)) return undefined
    this.#byHash.delete(hash)
    return kept.grant
  }

  #makeRoom(sid: string): void {
    const now = performance.now()
    const own: string[] = []
    for (const [hash, { grant, ends }] of this.#byHash) {
      if (ends <= now) this.#byHash.delete(hash)
      else if (grant.sid === sid) own.push(hash)
    }
    for (const hash of own.slice(0, Math.max(0, own.length - maxPerSession + 1))) this.#byHash.delete(hash)
    const [oldest] = this.#byHash.size >= maxCodes ? this.#byHash.keys() : []
    if (oldest !== undefined) this.#byHash.delete(oldest)
  }
}

const hashOf = (code: string) => createHash('sha256').update(code).digest('base64url')
