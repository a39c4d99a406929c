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
  /** For the rest of their minute: a browser whose answer was lost sends its request again. */
  readonly #used = new Map<string, Kept>()

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
    if (!kept || !isFor(kept, prefix, browsers)) return undefined
    this.#byHash.delete(hash)
    this.#used.set(hash, kept)
    return kept.grant
  }

  /** What a code stood for that this browser has used already: it opens nothing more. Parameters as of `redeem`. */
  findUsed(code: string, prefix: string, browsers: readonly string[]): EntryGrant | undefined {
    const kept = this.#used.get(hashOf(code))
    return kept && isFor(kept, prefix, browsers) ? kept.grant : undefined
  }

  #makeRoom(sid: string): void {
    const now = performance.now()
    for (const [hash, { ends }] of this.#used) if (ends <= now || this.#used.size > maxCodes) this.#used.delete(hash)
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

const isFor = ({ grant, ends }: Kept, prefix: string, browsers: readonly string[]) =>
  ends > performance.now() && grant.prefix === prefix && browsers.includes(grant.browser)

const hashOf = (code: string) => createHash('sha256').update(code).digest('base64url')
