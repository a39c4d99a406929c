import { refusals } from '#/refusals/errors.ts'
import { insertAuditEntries, type AuditEntry } from '#/store/audit-log.ts'
import type { Database } from '#/store/database.ts'
import {
  deleteOldSessions,
  findOtherSessions,
  findSession,
  findSessionBySid,
  listSessions,
  type StoredSession,
} from '#/store/sessions.ts'
import type { Claims } from './access-token.ts'
import { revocationOf, type Revocations } from './revocations.ts'
import type { SessionUses } from './session-uses.ts'

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
    // One that was revoked while the store failed counts no more, whatever the store says yet.
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
