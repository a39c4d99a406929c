import { randomBytes, randomUUID } from 'node:crypto'
import { allSettledOrThrow } from '#/concurrency/try-or-log.ts'
import type { Database } from '#/store/database.ts'
import { setTokenEra, tokenEra } from '#/store/installation.ts'
import { deleteExpiredRevocations, insertRevokedTokens, listRevokedTokens } from '#/store/users/revoked-tokens.ts'
import { markSessionsEnded } from '#/store/users/sessions.ts'

/**
 * How long a revocation is kept after its token has expired, in ms. The clock may be wrong at that moment: one that is set
 * back by a day must not find the revocation gone and the token good again.
 */
const keptFor = 2 * 86_400_000
/** Longer than any token lives, in ms; `JWT_ACCESS_TOKEN_EXPIRES` is a year at most. */
const maxTokenLifetime = 366 * 86_400_000

/** Of one token, or, with the part of their ids before the dot, of all tokens of an era. */
export interface Revocable {
  readonly jti: string
  readonly expiresAt: Date
}

/** A token that is to count no more, and whose it is. */
export interface RevokedSession extends Revocable {
  readonly userId: number
}

/** Who judges tokens by themselves; a revocation waits for them. */
export interface RevocationListeners {
  onRevoked(sessions: readonly RevokedSession[]): Promise<void>
  onEraEnded(era: Revocable): Promise<void>
  /** Something could not be stored; `save` is to be called soon. */
  onUnsaved(): void
}

/**
 * Which tokens were revoked before their time. Held in memory, as specified (Authentication 3), and written through:
 * a restart must not sign people in again who signed out.
 *
 * Every token's id begins with its era. An era ends when the clock is set back: among its tokens are some that had expired
 * and would be good again, and nobody knows which, so all of them are revoked.
 */
export class Revocations {
  readonly #database: Database
  readonly #listeners: RevocationListeners
  readonly #expiryByJti = new Map<string, Date>()
  /** What the store does not say yet, because it could not be written. */
  readonly #unsaved = new Map<string, Unsaved>()
  #era = newEra()

  constructor(database: Database, listeners: RevocationListeners) {
    this.#database = database
    this.#listeners = listeners
  }

  /** Reads what was revoked before this start. */
  async load(now: Date): Promise<void> {
    this.#era = await tokenEra(this.#database.db, newEra)
    for (const { jti, expiresAt } of await listRevokedTokens(this.#database.db, oldestKept(now)))
      this.#expiryByJti.set(jti, expiresAt)
  }

  /** An id for a token that is made now. */
  newId(): string {
    return `${this.#era}.${randomUUID()}`
  }

  has(jti: string): boolean {
    return this.#expiryByJti.has(jti) || this.#expiryByJti.has(eraOf(jti))
  }

  /** Whether a token counts no more: by its time, or because it was revoked. */
  isOver({ jti, expiresAt }: Revocable, now: Date): boolean {
    return expiresAt <= now || this.has(jti)
  }

  /** All that would still be accepted otherwise, for who begins to judge tokens. */
  all(): { jti: string; expiresAt: number }[] {
    return [...this.#expiryByJti].map(([jti, expiresAt]) => ({ jti, expiresAt: expiresAt.getTime() }))
  }

  /**
   * Durable, and refused everywhere, when it resolves; refused here from the first moment on, also when it rejects, and
   * then made durable as soon as the store allows.
   */
  async revoke(sessions: readonly RevokedSession[], now: Date): Promise<void> {
    if (sessions.length === 0) return
    const unsaved = sessions.map((session) => this.#remember(session, now))
    const [saved, notified] = await Promise.allSettled([this.#save(unsaved), this.#listeners.onRevoked(sessions)])
    if (saved.status === 'rejected') {
      this.#listeners.onUnsaved()
      throw saved.reason
    }
    if (notified.status === 'rejected') throw notified.reason
  }

  /** Refuses, here and everywhere, what the store says is revoked already. @throws what telling the gateway threw; refused here all the same */
  async revokeLocally(sessions: readonly RevokedSession[]): Promise<void> {
    for (const { jti, expiresAt } of sessions) this.#expiryByJti.set(jti, expiresAt)
    if (sessions.length > 0) await this.#listeners.onRevoked(sessions)
  }

  /** All tokens made until now count no more here, from this moment on. @returns what makes it so everywhere, and durable; to be repeated when it rejects */
  endEra(now: Date): () => Promise<void> {
    const era = { jti: this.#era, expiresAt: new Date(now.getTime() + maxTokenLifetime) }
    this.#remember(era, now)
    this.#era = newEra()
    return async () => {
      await allSettledOrThrow([this.save(), this.#listeners.onEraEnded(era)])
    }
  }

  /** Writes what could not be written before. @throws when the store still fails */
  async save(): Promise<void> {
    // The era first: should this be cut off, what is made after a restart belongs to none that ended.
    if (this.#unsaved.size > 0) await setTokenEra(this.#database.db, this.#era)
    for (const unsaved of this.#unsaved.values()) await this.#save([unsaved])
  }

  /** Forgets tokens that have expired by themselves, and long ago. */
  async prune(now: Date): Promise<void> {
    const before = oldestKept(now)
    for (const [jti, expiresAt] of this.#expiryByJti) if (expiresAt <= before) this.#expiryByJti.delete(jti)
    await deleteExpiredRevocations(this.#database.db, before)
  }

  #remember({ jti, expiresAt }: Revocable, at: Date): Unsaved {
    const unsaved = { jti, expiresAt, at }
    this.#expiryByJti.set(jti, expiresAt)
    this.#unsaved.set(jti, unsaved)
    return unsaved
  }

  /** The list of sessions says so, too, from the same moment on. @param revoked all of one moment */
  async #save(revoked: readonly Unsaved[]): Promise<void> {
    const [{ at } = { at: new Date(0) }] = revoked
    await this.#database.transaction(async (tx) => {
      await insertRevokedTokens(tx, revoked)
      await markSessionsEnded(
        tx,
        revoked.map(({ jti }) => jti),
        at,
      )
    })
    for (const { jti } of revoked) this.#unsaved.delete(jti)
  }
}

interface Unsaved extends Revocable {
  /** When it was revoked. */
  readonly at: Date
}

const oldestKept = (now: Date) => new Date(now.getTime() - keptFor)
const newEra = () => randomBytes(6).toString('base64url')
const eraOf = (jti: string) => jti.slice(0, Math.max(0, jti.indexOf('.')))
