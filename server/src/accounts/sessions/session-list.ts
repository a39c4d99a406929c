import { refusals } from '#/errors.ts'
import { insertAuditEntries, type AuditEntry } from '#/store/audit/audit-log.ts'
import type { Database } from '#/store/database.ts'
import {
  deleteOldSessions,
  findOtherSessions,
  findSession,
  findSessionOf,
  listSessions,
  type StoredSession,
} from '#/store/users/sessions.ts'
import type { Claims } from './access-token.ts'
import type { Revocations } from './revocations.ts'

/** How long the owner sees that somebody acted for them, in ms. */
const takeoversShownFor = 30 * 86_400_000
/** Sessions in one answer; and takeovers beside them. */
const maxListed = 100
/** Sessions that are ended in one transaction. */
const batchSize = 500

/** The person whose sessions they are, as they stand in the audit log. */
export interface Owner {
  readonly id: number
  readonly email: string
  readonly address: string
}

/** What people see of their own sessions, and end. A session is an access token that was handed out. */
export class SessionList {
  readonly #database: Database
  readonly #revocations: Revocations

  constructor(database: Database, revocations: Revocations) {
    this.#database = database
    this.#revocations = revocations
  }

  /** Live sessions, and takeovers of the last 30 days; the newest first, at most 100 of each. */
  async list(userId: number, now: Date): Promise<StoredSession[]> {
    const takeoversSince = new Date(now.getTime() - takeoversShownFor)
    const found = await listSessions(this.#database.db, userId, { now, takeoversSince, limit: maxListed })
    // One that was revoked while the store failed counts no more, whatever the store says yet.
    return found.filter(({ jti, acting }) => acting !== null || !this.#revocations.has(jti))
  }

  /** Who acts by a takeover's token, and until when, for the person who does; null when it is no takeover's. */
  async takeoverOf({ jti, acting, expiresAt }: Claims): Promise<{ readonly by: string; readonly until: Date } | null> {
    if (acting === null) return null
    const session = await findSessionOf(this.#database.db, jti)
    return { by: session?.acting?.email ?? '', until: session?.endedAt ?? expiresAt }
  }

  /** Ends a session of this person, whichever; one that is over stays over. @throws {Refusal} 404 none of theirs */
  async end(owner: Owner, id: number, now: Date): Promise<StoredSession> {
    const session = await findSession(this.#database.db, owner.id, id)
    if (!session) throw refusals.notFound('session')
    if (session.endedAt === null) await this.#revoke([session], owner, now)
    return session
  }

  /** Ends all sessions of this person but the one that asks. @returns how many there were */
  async endOthers(owner: Owner, { jti: exceptJti }: Claims, now: Date): Promise<number> {
    let ended = 0
    for (;;) {
      const sessions = await findOtherSessions(this.#database.db, owner.id, { exceptJti, now, limit: batchSize })
      await this.#revoke(sessions, owner, now)
      ended += sessions.length
      if (sessions.length < batchSize) return ended
    }
  }

  /** Of takeovers the audit log says that the owner ended them, each once however many ask at the same time. */
  async #revoke(sessions: readonly StoredSession[], owner: Owner, now: Date): Promise<void> {
    const live = sessions.filter((session) => !this.#revocations.isOver(session, now))
    await this.#revocations.revoke(live, now)
    const entries = live.flatMap(({ acting }): AuditEntry[] => {
      if (acting === null) return []
      const detail = { acting: acting.email }
      return [{ at: now, actor: owner, action: 'user.end-takeover', target: `user:${owner.id}`, detail }]
    })
    if (entries.length > 0) await this.#database.transaction((tx) => insertAuditEntries(tx, entries))
  }

  /** Forgets what nobody is shown any more. */
  async prune(now: Date): Promise<void> {
    await deleteOldSessions(this.#database.db, now, new Date(now.getTime() - takeoversShownFor))
  }
}
