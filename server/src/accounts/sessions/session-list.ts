import { refusals } from '#/refusals/errors.ts'
import { insertAuditEntries, type AuditEntry } from '#/store/audit-log.ts'
import type { Database } from '#/store/database.ts'
import {
  deleteOldSessions,
  findOtherSessions,
  findSession,
  findSessionBySid,
  listSessions,
  noteSessionUses,
  type SessionEnd,
  type SessionLimits,
  type StoredSession,
} from '#/store/sessions.ts'
import { findSessionsAtProvider, type ProviderSessions } from '#/store/session-ends.ts'
import type { Claims } from './access-token.ts'
import { revocationOf, type Revocations } from './revocations.ts'

/** Max sessions in one answer; and as many takeovers. */
const maxListed = 100
/** Sessions that are ended in one transaction. */
const batchSize = 500

/** Owner of the sessions, for the audit log. */
export interface Owner {
  readonly id: number
  readonly email: string
  readonly address: string
}

/** What people see of their own sessions, and end. */
export class SessionList {
  readonly #database: Database
  readonly #revocations: Revocations
  readonly #uses: SessionUses
  readonly #keepTakeovers: number

  /** @param keepTakeovers time for which the owner sees a takeover, in seconds */
  constructor(database: Database, revocations: Revocations, uses: SessionUses, keepTakeovers = 30 * 86_400) {
    this.#database = database
    this.#revocations = revocations
    this.#uses = uses
    this.#keepTakeovers = keepTakeovers * 1_000
  }

  /** Live sessions, and takeovers that are kept; the newest first, at most 100 of each. */
  async list(userId: number, now: Date): Promise<StoredSession[]> {
    const takeoversSince = new Date(now.getTime() - this.#keepTakeovers)
    await this.#uses.writeAll()
    const found = await listSessions(this.#database.db, userId, { now, takeoversSince, limit: maxListed })
    // A session that was revoked while the store failed counts no more, whatever the store says yet.
    return found.filter(({ sid, acting }) => acting !== null || !this.#revocations.has(sid))
  }

  /** Who acts by a takeover's token, and until when, for the person who does; null when it is no takeover's. */
  async takeoverOf({ sid, acting, expiresAt }: Claims): Promise<{ readonly by: string; readonly until: Date } | null> {
    if (acting === null) return null
    const session = await findSessionBySid(this.#database.db, sid)
    return { by: session?.acting?.email ?? '', until: session?.endedAt ?? expiresAt }
  }

  /** Ends a session of this user; one that has ended stays so. @throws {Refusal} 404 not one of theirs */
  async end(owner: Owner, id: number, now: Date): Promise<StoredSession> {
    const session = await findSession(this.#database.db, owner.id, id)
    if (!session) throw refusals.notFound('session')
    if (session.endedAt === null) await this.#revoke([session], owner, now)
    return session
  }

  /** Ends all sessions of this person but the one that asks. @returns how many there were */
  async endOthers(owner: Owner, { sid: exceptSid }: Claims, now: Date): Promise<number> {
    let [ended, after] = [0, 0]
    for (;;) {
      // By id: one whose revocation could not be stored yet is live in the store, and would be found again for ever.
      const page = { exceptSid, now, limit: batchSize, after }
      const sessions = await findOtherSessions(this.#database.db, owner.id, page)
      await this.#revoke(sessions, owner, now)
      ended += sessions.length
      after = sessions.at(-1)?.id ?? after
      if (sessions.length < batchSize) return ended
    }
  }

  /** Each takeover that its owner ends is written to the audit log once, also by concurrent requests. */
  async #revoke(sessions: readonly StoredSession[], owner: Owner, now: Date): Promise<void> {
    const live = sessions.filter((session) => !this.#revocations.isOver({ ...session, jti: session.sid }, now))
    await this.#revocations.revoke(live.map(revocationOf), now, 'ended')
    const entries = live.flatMap(({ acting }): AuditEntry[] => {
      if (acting === null) return []
      const detail = { acting: acting.email }
      return [{ at: now, actor: owner, action: 'user.end-takeover', target: `user:${owner.id}`, detail }]
    })
    if (entries.length > 0) await this.#database.transaction((tx) => insertAuditEntries(tx, entries))
  }

  /** Deletes sessions that are no longer shown. */
  async prune(now: Date): Promise<void> {
    await this.#uses.writeAll()
    await deleteOldSessions(this.#database.db, now, new Date(now.getTime() - this.#keepTakeovers))
  }
}

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
 * Ends sessions before their expiry: nothing renews them, their tokens are refused, and their open connections end
 * within a second. A block ends sessions in another way: `endBlockedSessions`.
 */
export class EndSessions {
  readonly #parts: EndSessionsParts

  constructor(parts: EndSessionsParts) {
    this.#parts = parts
  }

  /**
   * Revokes the tokens that are not over yet and ends their sessions; each takeover among them is written to the audit
   * log once. Sessions that are over already are left alone.
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

  /**
   * Ends the sessions that began at a provider, as far as it means them.
   * @returns how many
   * @throws {StoreFailure} some may have ended
   */
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

/** Between two writes of `last_used`, in ms. */
const writeInterval = 60_000
const maxUsesInStatement = 200

/**
 * When sessions were used: noted in memory at each request, and written at most once a minute, all together. Who asks
 * when a session ends has its use written first.
 */
export class SessionUses {
  readonly #database: Database
  readonly #limits: SessionLimits
  #pending = new Map<string, Date>()
  /** By `performance.now()`. */
  #writtenAt = performance.now()

  constructor(database: Database, limits: SessionLimits) {
    this.#database = database
    this.#limits = limits
  }

  note(sid: string, at: Date): void {
    const known = this.#pending.get(sid)
    if (known === undefined || known < at) this.#pending.set(sid, at)
  }

  /** Writes what is known of one session. @throws {StoreFailure} it is tried again with the others then */
  async writeOne(sid: string): Promise<void> {
    const at = this.#pending.get(sid)
    if (at === undefined) return
    await noteSessionUses(this.#database.db, [{ sid, at }], this.#limits)
    if (this.#pending.get(sid) === at) this.#pending.delete(sid)
  }

  /** Does what `writeAll` does when the last time was a minute ago. */
  async writeDue(): Promise<void> {
    if (performance.now() - this.#writtenAt >= writeInterval) await this.writeAll()
  }

  /** Writes all uses. @throws {StoreFailure} what is not written stays noted */
  async writeAll(): Promise<void> {
    this.#writtenAt = performance.now()
    // Rows are locked in an order of their own, so that no circle of waits comes of it.
    const uses = [...this.#pending].map(([sid, at]) => ({ sid, at })).toSorted((a, b) => (a.sid < b.sid ? -1 : 1))
    for (let start = 0; start < uses.length; start += maxUsesInStatement) {
      const batch = uses.slice(start, start + maxUsesInStatement)
      await noteSessionUses(this.#database.db, batch, this.#limits)
      for (const { sid, at } of batch) if (this.#pending.get(sid) === at) this.#pending.delete(sid)
    }
  }
}
