import { randomBytes, randomUUID } from 'node:crypto'
import { endedSession, revocationRetention } from '@berth/gateway/tokens/token-selection.ts'
import type { ClockJumpHandler } from '#/machine/clock-jump-detector.ts'
import { allSettledOrThrow } from '#/machine/try-or-log.ts'
import { beginClockJump, finishClockJump } from '#/store/clock-jumps.ts'
import { setTokenEra, tokenEra, type Database } from '#/store/database.ts'
import {
  deleteExpiredRevocations,
  insertRevokedTokens,
  listRevokedTokens,
  listTokenEnds,
  markSessionsEnded,
} from '#/store/session-ends.ts'
import type { SessionEnd, StoredSession } from '#/store/sessions.ts'

/** For nodes, which keep revocations as long as the store. */
export { revocationRetention }

/** Above the max lifetime of a token, in ms; `JWT_ACCESS_TOKEN_EXPIRES` is a year at most. */
const maxTokenLifetime = 366 * 86_400_000

/**
 * Id of one token, of all tokens of a session (`sid`), of an ended session (`endedSession`), or, with the part of their
 * ids before the dot, of all of an era.
 */
export interface Revocable {
  readonly jti: string
  readonly expiresAt: Date
}

/** A token, or a session with all its tokens, that is to count no more, and whose it is. */
export interface RevokedSession extends Revocable {
  readonly userId: number
}

/** What refuses all tokens of a session. */
export const revocationOf = ({ userId, sid, tokenExpiresAt }: StoredSession): RevokedSession => ({
  userId,
  jti: sid,
  expiresAt: tokenExpiresAt,
})

/** What keeps the tokens of a session that a block ended from opening anything; see `endedSession`. */
export const endOfBlocked = ({ userId, sid, tokenExpiresAt }: StoredSession): RevokedSession => ({
  userId,
  jti: endedSession(sid),
  expiresAt: tokenExpiresAt,
})

/** Who judges tokens by themselves; a revocation waits for them. */
export interface RevocationListeners {
  onRevoked(sessions: readonly RevokedSession[]): Promise<void>
  onEraEnded(era: Revocable): Promise<void>
  /** A revocation could not be stored; `save` has to be called soon. */
  onUnsaved(): void
}

/**
 * Revocation list of tokens. Held in memory, as specified (Authentication 3), and written through: a session that was
 * ended must stay ended after a restart.
 *
 * Every token's id begins with its era. An era ends when the clock is set back: some of its tokens had expired and
 * would be valid again, and it is unknown which, so all of them are revoked.
 */
export class Revocations {
  readonly #database: Database
  readonly #listeners: RevocationListeners
  readonly #expiryByJti = new Map<string, Date>()
  /** Revocations that could not be stored yet. */
  readonly #unsaved = new Map<string, Unsaved>()
  #era = newEra()

  constructor(database: Database, listeners: RevocationListeners) {
    this.#database = database
    this.#listeners = listeners
  }

  /** Loads the stored revocations at the start. */
  async load(now: Date): Promise<void> {
    this.#era = await tokenEra(this.#database.db, newEra)
    for (const { jti, expiresAt } of await listRevokedTokens(this.#database.db, oldestKept(now)))
      this.#expiryByJti.set(jti, expiresAt)
  }

  newId(): string {
    return `${this.#era}.${randomUUID()}`
  }

  has(jti: string): boolean {
    return this.#expiryByJti.has(jti) || this.#expiryByJti.has(eraOf(jti))
  }

  /** Whether a block ended the session of these tokens, which are not revoked. */
  isEndedByBlock({ sid }: { readonly sid: string }): boolean {
    return this.#expiryByJti.has(endedSession(sid))
  }

  /** Whether a token is expired or revoked. */
  isOver({ jti, expiresAt }: Revocable, now: Date): boolean {
    return expiresAt <= now || this.has(jti)
  }

  /** All revocations of unexpired tokens, for a party that begins to verify tokens. */
  all(): { jti: string; expiresAt: number }[] {
    return [...this.#expiryByJti].map(([jti, expiresAt]) => ({ jti, expiresAt: expiresAt.getTime() }))
  }

  /**
   * Durable, and refused everywhere, when it resolves; refused here from the first moment on, also when it rejects, and
   * then made durable as soon as the store allows.
   * @param why the sessions among them end
   */
  async revoke(sessions: readonly RevokedSession[], now: Date, why: SessionEnd): Promise<void> {
    if (sessions.length === 0) return
    const unsaved = sessions.map((session) => this.#remember(session, now, why))
    const [saved, notified] = await Promise.allSettled([this.#save(unsaved), this.#listeners.onRevoked(sessions)])
    if (saved.status === 'rejected') {
      this.#listeners.onUnsaved()
      throw saved.reason
    }
    if (notified.status === 'rejected') throw notified.reason
  }

  /** Refuses tokens whose revocation is stored, here and in every party. @throws as the listener; here they are refused */
  async refuseStored(sessions: readonly RevokedSession[]): Promise<void> {
    for (const { jti, expiresAt } of sessions) this.#expiryByJti.set(jti, expiresAt)
    if (sessions.length > 0) await this.#listeners.onRevoked(sessions)
  }

  /** Does the same with sessions whose end is stored already, e.g. takeovers by a demoted administrator. */
  revokeStored(ended: readonly StoredSession[]): Promise<void> {
    return this.refuseStored(
      ended.map((each) => (each.endedWhy === 'blocked' ? endOfBlocked(each) : revocationOf(each))),
    )
  }

  /**
   * Revokes all present tokens, here and at once.
   * @returns does so in every party, and stores it; repeat if it rejects
   */
  endEra(now: Date): () => Promise<void> {
    const era = { jti: this.#era, expiresAt: new Date(now.getTime() + maxTokenLifetime) }
    this.#remember(era, now, 'clock')
    this.#era = newEra()
    return async () => {
      await allSettledOrThrow([this.save(), this.#listeners.onEraEnded(era)])
    }
  }

  /** Stores revocations that could not be stored before. @throws when the store still fails */
  async save(): Promise<void> {
    // The era first: if this is interrupted, tokens issued after a restart belong to no ended era.
    if (this.#unsaved.size > 0) await setTokenEra(this.#database.db, this.#era)
    for (const unsaved of this.#unsaved.values()) await this.#save([unsaved])
  }

  /** Drops revocations of tokens that expired long ago. */
  async prune(now: Date): Promise<void> {
    const before = oldestKept(now)
    for (const [jti, expiresAt] of this.#expiryByJti) if (expiresAt <= before) this.#expiryByJti.delete(jti)
    await deleteExpiredRevocations(this.#database.db, before)
  }

  #remember({ jti, expiresAt }: Revocable, at: Date, why: SessionEnd): Unsaved {
    const unsaved = { jti, expiresAt, at, why }
    this.#expiryByJti.set(jti, expiresAt)
    this.#unsaved.set(jti, unsaved)
    return unsaved
  }

  /**
   * The session list shows it from the same moment on. A session may have a token that lasts longer than was known when
   * it was revoked: one of a renewal that was under way, or from before the lifetime of tokens was shortened. Its
   * revocation lasts as long, here and in every party. @param revoked all of one moment
   */
  async #save(revoked: readonly Unsaved[]): Promise<void> {
    const [first] = revoked
    if (!first) return
    const expiryOf = new Map(revoked.map(({ jti, expiresAt }) => [jti, expiresAt]))
    const longer = await this.#database.transaction(async (tx) => {
      await markSessionsEnded(tx, [...expiryOf.keys()], first.at, first.why)
      // Behind the update, which waits for a renewal that is under way.
      const ends = await listTokenEnds(tx, [...expiryOf.keys()])
      const found = ends.filter(({ jti, expiresAt }) => expiresAt > (expiryOf.get(jti) ?? expiresAt))
      const longest = new Map([...expiryOf, ...found.map(({ jti, expiresAt }) => [jti, expiresAt] as const)])
      await insertRevokedTokens(
        tx,
        [...longest].map(([jti, expiresAt]) => ({ jti, expiresAt })),
      )
      return found
    })
    for (const { jti } of revoked) this.#unsaved.delete(jti)
    await this.refuseStored(longer)
  }
}

interface Unsaved extends Revocable {
  /** When it was revoked, and why. */
  readonly at: Date
  readonly why: SessionEnd
}

const oldestKept = (now: Date) => new Date(now.getTime() - revocationRetention)
const newEra = () => randomBytes(6).toString('base64url')
/** Era of a token's id. */
export const eraOf = (jti: string) => jti.slice(0, Math.max(0, jti.indexOf('.')))

export interface ClockJumpHandlerParts {
  readonly database: Database
  readonly revocations: Revocations
  /** Ends all streams: their end was computed by the old clock. */
  readonly endStreams: () => void
  /** Called when stored instants have changed. */
  readonly onMoved: () => void
}

/**
 * Effects of a clock jump on access. After a jump forward links and tokens expire, unless it only makes good for a jump
 * back. After a jump back expired ones stay void, and every session ends. See docs/explanation/decisions/021.
 */
export function clockJumpHandler({
  database,
  revocations,
  endStreams,
  onMoved,
}: ClockJumpHandlerParts): ClockJumpHandler {
  return {
    handle: ({ by, before, now }) => {
      endStreams()
      const endEra = by < 0 ? revocations.endEra(before) : async () => undefined
      return {
        begin: async () => {
          await endEra()
          await beginClockJump(database, by, now)
        },
        finish: async () => {
          await finishClockJump(database)
          onMoved()
        },
      }
    },
  }
}
