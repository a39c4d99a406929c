import type { Database } from '#/store/database.ts'
import { findSessionsAtProvider, type ProviderSessions } from '#/store/session-ends.ts'
import { findOtherSessions, findSessionBySid, type SessionEnd, type StoredSession } from '#/store/sessions.ts'
import type { Claims } from './access-token.ts'
import { revocationOf, type Revocations } from './revocations.ts'

/** Sessions that are ended in one transaction. */
const batchSize = 500

/** A takeover that ends before its time. */
interface EndedTakeover {
  readonly userId: number
  /** Who acted, as in `Claims`. */
  readonly acting: string
}

export interface EndSessionsParts {
  readonly database: Database
  readonly revocations: Pick<Revocations, 'isOver' | 'has' | 'revoke'>
  /** Seconds that a token made from now on can live. */
  readonly tokenLifetime: number
  /** Writes the end of a takeover to the audit log. @param address of the client that ended it */
  readonly noteTakeoverEnd: (ended: EndedTakeover, address: string, now: Date) => Promise<void>
}

/**
 * Ends sessions before their expiry: nothing renews them, their tokens are refused, and their open connections end within
 * a second. A block ends sessions in another way: `endBlockedSessions`.
 */
export class EndSessions {
  readonly #parts: EndSessionsParts

  constructor(parts: EndSessionsParts) {
    this.#parts = parts
  }

  /**
   * Revokes the tokens that are not over yet and ends their sessions; each takeover among them is written to the audit log
   * once. Sessions that are over already are left alone.
   * @param address of the client
   * @throws when the store fails; tokens that were revoked before that stay revoked
   */
  async run(claims: readonly Claims[], address: string, now: Date): Promise<void> {
    const { revocations, tokenLifetime, noteTakeoverEnd } = this.#parts
    const ending = claims.filter((each) => !revocations.isOver(each, now) && !revocations.has(each.sid))
    // Another token of the session may have been made a moment ago.
    const latest = now.getTime() + tokenLifetime * 1_000
    const revoked = ending.flatMap(({ userId, jti, sid, expiresAt }) => [
      { userId, jti, expiresAt },
      ...(sid === jti ? [] : [{ userId, jti: sid, expiresAt: new Date(Math.max(latest, expiresAt.getTime())) }]),
    ])
    await revocations.revoke(revoked, now, 'signed-out')
    for (const { userId, acting } of ending)
      if (acting !== null) await noteTakeoverEnd({ userId, acting }, address, now)
  }

  /** Ends the session of this claim `sid`, if it is known and live. @throws {StoreFailure} */
  async ofSid(sid: string, why: SessionEnd, now: Date): Promise<void> {
    const { database, revocations } = this.#parts
    const session = await findSessionBySid(database.db, sid)
    if (session?.endedAt === null) await revocations.revoke([revocationOf(session)], now, why)
  }

  /** Ends all sessions of a user, takeovers included. @returns how many @throws {StoreFailure} some may have ended */
  async ofUser(userId: number, why: SessionEnd, now: Date): Promise<number> {
    const { db } = this.#parts.database
    return this.#endAll((limit) => findOtherSessions(db, userId, { exceptSid: '', now, limit }), why, now)
  }

  /** Ends the sessions that began at a provider, as far as it means them. @returns how many @throws {StoreFailure} some may have ended */
  async atProvider(meant: ProviderSessions, why: SessionEnd, now: Date): Promise<number> {
    const { db } = this.#parts.database
    return this.#endAll((limit) => findSessionsAtProvider(db, meant, { now, limit }), why, now)
  }

  async #endAll(find: (limit: number) => Promise<StoredSession[]>, why: SessionEnd, now: Date): Promise<number> {
    let ended = 0
    for (;;) {
      const sessions = await find(batchSize)
      await this.#parts.revocations.revoke(sessions.map(revocationOf), now, why)
      ended += sessions.length
      if (sessions.length < batchSize) return ended
    }
  }
}
