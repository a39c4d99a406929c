import { refusals } from '#/refusals/errors.ts'
import { message } from '@berth/texts/localized-message.ts'
import { insertAuditEntries } from '#/store/audit-log.ts'
import type { Database } from '#/store/database.ts'
import { insertSession } from '#/store/sessions.ts'
import { findUser, type User } from '#/store/users.ts'
import type { Actor } from '#/accounts/actor.ts'
import { administer, requireUser } from '#/accounts/guards.ts'

/** Max lifetime of a takeover, in seconds. */
const maxLifetime = 900

/** A token before it is signed. */
interface Planned {
  readonly jti: string
  readonly sid: string
  readonly issuedAt: Date
  readonly expiresAt: Date
}

/** What a takeover needs of other parts. */
export interface TakeoverEffects {
  /** Seconds that an ordinary token lives. */
  readonly tokenLifetime: number
  /** @param lifetime seconds */
  plan(now: Date, lifetime: number): Planned
  /** @param acting who acts: an administrator's id, or `operator` */
  issue(user: User, planned: Planned, acting: string): Promise<string>
  /** Publishes the state of this user to the gateway. */
  publish(userId: number): Promise<void>
  /** Notifies the owner's open pages. */
  notify(userId: number, takeover: { readonly by: string; readonly reason: string; readonly until: Date }): void
}

/** A session in which an administrator acts for a user. */
export interface TakenOver {
  readonly user: User
  readonly token: string
  readonly sid: string
  /** Seconds. */
  readonly lifetime: number
}

/**
 * Impersonation: an administrator acts for a user in a session of that user, for 15 minutes at most. Its token names
 * the actor, has no administrator's rights and cannot end sessions. The owner sees the session and its reason in the
 * list of their sessions. An administrator's own token opens only their own containers (decision 003), so a takeover is
 * the only way into another user's container.
 */
export class Takeover {
  readonly #database: Database
  readonly #effects: TakeoverEffects

  constructor(database: Database, effects: TakeoverEffects) {
    this.#database = database
    this.#effects = effects
  }

  /**
   * The session is stored with its audit entry before there is a token.
   * @param reason for the owner and the audit log
   * @param browser of the actor, when it is known
   * @throws {Refusal} 403 as `administer` · 404 · 409 oneself
   */
  async begin(
    actor: Actor,
    id: number,
    { reason, browser, now }: { reason: string; browser: string | null; now: Date },
  ): Promise<TakenOver> {
    const lifetime = Math.min(maxLifetime, this.#effects.tokenLifetime)
    const planned = this.#effects.plan(now, lifetime)
    const { sid, expiresAt } = planned
    const user = await administer(this.#database, actor, async (tx) => {
      const owner = await requireUser(tx, id)
      if (owner.id === actor.id) throw refusals.conflict(message('requests.ownAccount'))
      const acting = { id: actor.id, email: actor.email, reason }
      const session = { userId: id, sid, createdAt: now, expiresAt, tokenExpiresAt: expiresAt }
      await insertSession(tx, { ...session, address: actor.address, browser, acting, began: null, cookieHash: null })
      await insertAuditEntries(tx, [
        { at: now, actor, action: 'user.takeover', target: `user:${id}`, reason, detail: { until: expiresAt } },
      ])
      return owner
    })
    await this.#effects.publish(id)
    const token = await this.#effects.issue(user, planned, String(actor.id ?? 'operator'))
    this.#effects.notify(id, { by: actor.email, reason, until: expiresAt })
    return { user, token, sid, lifetime }
  }

  /**
   * Writes to the audit log that a takeover ended before its time. One that expires needs no entry: the entry of its
   * beginning has the time of its end.
   * @param acting who acted, as their token says
   */
  async noteEnd({ userId, acting }: { userId: number; acting: string }, address: string, now: Date): Promise<void> {
    await this.#database.transaction(async (tx) => {
      const id = /^\d+$/.test(acting) ? Number(acting) : null
      const email = (id === null ? undefined : (await findUser(tx, id))?.email) ?? acting
      const entry = {
        at: now,
        actor: { id, email, address },
        action: 'user.end-takeover' as const,
        target: `user:${userId}`,
      }
      await insertAuditEntries(tx, [entry])
    })
  }
}
