import type { AccessTokens } from '#/accounts/sessions/access-token.ts'
import type { Containers } from '#/containers/open-containers.ts'
import { refusals } from '#/refusals/errors.ts'
import { message } from '@berth/texts/localized-message.ts'
import { insertAuditEntries } from '#/store/audit-log.ts'
import type { Database } from '#/store/database.ts'
import { insertSession } from '#/store/sessions.ts'
import { findUser, type User } from '#/store/users.ts'
import type { Actor } from '#/accounts/actor.ts'
import { administer, requireUser } from '#/accounts/administrator-changes.ts'

/** Max lifetime of a takeover, in seconds. */
const maxLifetime = 900

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
  readonly #tokens: AccessTokens
  readonly #containers: Containers

  /** @param containers their gateway and their owner's open pages learn of it */
  constructor(database: Database, tokens: AccessTokens, containers: Containers) {
    this.#database = database
    this.#tokens = tokens
    this.#containers = containers
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
    const lifetime = Math.min(maxLifetime, this.#tokens.lifetime)
    const planned = this.#tokens.plan(now, lifetime)
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
    await this.#containers.routeSync.publishUser(id)
    const token = await this.#tokens.issue(user, planned, String(actor.id ?? 'operator'))
    const data = { by: actor.email, reason, until: expiresAt.toISOString() }
    this.#containers.events.publish(id, { name: 'takeover', data })
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
