import { message } from '@berth/texts/localized-message.ts'
import type { Actor } from '#/accounts/actor.ts'
import { endStreamsOf } from '#/accounts/api-tokens.ts'
import { administer, isLastInCharge, refuseSelfAndLast, requireUser } from '#/accounts/administrator-changes.ts'
import type { Revocations } from '#/accounts/sessions/revocations.ts'
import type { Containers } from '#/containers/open-containers.ts'
import type { StreamRegistry } from '#/containers/stream-registry.ts'
import type { DiskUse } from '#/homes/open-homes.ts'
import { allSettledOrThrow } from '#/machine/try-or-log.ts'
import { refusals } from '#/refusals/errors.ts'
import { insertAuditEntries } from '#/store/audit-log.ts'
import type { Database, Db, Tx } from '#/store/database.ts'
import { setExtraDisk, setUserAdmin, type User } from '#/store/users.ts'
import { endTakeoversBy } from '#/store/session-ends.ts'
import type { StoredSession } from '#/store/sessions.ts'
import { withContainers, type UserWithContainers } from './admin-lists.ts'

export interface RightsParts {
  readonly database: Database
  /** They publish users to the gateway, which stops using scoped tokens that name the former role. */
  readonly containers: Containers
  readonly revocations: Revocations
  readonly streams: StreamRegistry
}

/**
 * Administrator rights. A change is in force from the user's next request, with their present tokens: the claim in a
 * token is for apps, which receive another token at once; the API reads the store.
 */
export class Rights {
  readonly #parts: RightsParts

  constructor(parts: RightsParts) {
    this.#parts = parts
  }

  /**
   * Makes a user an administrator; idempotent. A blocked user may be made one, and administers once they are unblocked.
   * @throws {Refusal} 403 as `administer` · 404
   */
  async promote(actor: Actor, id: number, now: Date): Promise<UserWithContainers> {
    return this.#set(actor, id, true, now)
  }

  /**
   * Ends the rights of an administrator; idempotent. @throws {Refusal} 403 as `administer` · 404 · 409 oneself, or the
   * last administrator who is not blocked
   */
  async demote(actor: Actor, id: number, now: Date): Promise<UserWithContainers> {
    return this.#set(actor, id, false, now)
  }

  /**
   * What the groups of a provider say of a user who signs in there. The last administrator stays one.
   * @param actor the provider, which has no account @throws {Refusal} 404 · 503 as `administer`
   */
  async followProvider(actor: Actor, id: number, isAdmin: boolean, at: Date): Promise<void> {
    const ended = await administer(this.#parts.database, actor, async (tx) => {
      const user = await requireUser(tx, id)
      if (user.isAdmin === isAdmin || (!isAdmin && (await isLastInCharge(tx, user)))) return undefined
      return change(tx, actor, user, isAdmin, at)
    })
    if (ended) await this.#apply(id, ended)
  }

  async #set(actor: Actor, id: number, isAdmin: boolean, at: Date): Promise<UserWithContainers> {
    const { takeovers, tokens, ...result } = await administer(this.#parts.database, actor, async (tx) => {
      const user = await requireUser(tx, id)
      if (user.isAdmin === isAdmin) return { ...(await withContainers(tx, id)), ...nothingEnded }
      if (!isAdmin) await refuseSelfAndLast(tx, actor, user, 'demote')
      const ended = await change(tx, actor, user, isAdmin, at)
      return { ...(await withContainers(tx, id)), ...ended }
    })
    await this.#apply(id, { takeovers, tokens })
    return result
  }

  /**
   * Publishes a change that is stored, and ends what it ended in the store. A repeated call makes up for a failed one.
   */
  async #apply(id: number, { takeovers, tokens }: Ended): Promise<void> {
    const { containers, revocations, streams } = this.#parts
    for (const token of tokens) endStreamsOf(streams, token)
    await allSettledOrThrow([containers.publishUsers([id]), revocations.revokeStored(takeovers)])
  }
}

/** What a change of the role ends: takeovers by the former administrator, and API tokens whose scopes need the role. */
interface Ended {
  readonly takeovers: readonly StoredSession[]
  readonly tokens: Awaited<ReturnType<typeof setUserAdmin>>
}

const nothingEnded: Ended = { takeovers: [], tokens: [] }

/** Stores the role with its audit entry. */
async function change(tx: Tx, actor: Actor, user: User, isAdmin: boolean, at: Date): Promise<Ended> {
  const tokens = await setUserAdmin(tx, user.id, isAdmin)
  const takeovers = isAdmin ? [] : await endTakeoversBy(tx, [user.id], at)
  await insertAuditEntries(tx, [
    {
      at,
      actor,
      action: isAdmin ? 'user.promote' : 'user.demote',
      target: `user:${user.id}`,
      before: { is_admin: user.isAdmin },
      after: { is_admin: isAdmin },
    },
  ])
  return { takeovers, tokens }
}

/** What the homes of one user may have beyond every disk limit. */
export class ExtraDisk {
  readonly #database: Database
  readonly #diskUse: Pick<DiskUse, 'followExtra'>

  constructor(database: Database, diskUse: Pick<DiskUse, 'followExtra'>) {
    this.#database = database
    this.#diskUse = diskUse
  }

  /** Idempotent. @param bytes 0 takes it away @throws {Refusal} 403 as `administer` · 404 */
  async set(actor: Actor, id: number, bytes: number, at: Date): Promise<UserWithContainers> {
    const result = await administer(this.#database, actor, async (tx) => {
      const before = (await requireUser(tx, id)).extraDisk ?? 0
      if (before !== bytes) {
        await setExtraDisk(tx, id, bytes === 0 ? null : bytes)
        await insertAuditEntries(tx, [
          { at, actor, action: 'user.extra-disk', target: `user:${id}`, before: { bytes: before }, after: { bytes } },
        ])
      }
      return withContainers(tx, id)
    })
    await this.#diskUse.followExtra(id)
    return result
  }
}

/**
 * Stores a signup link, which counts in the rate limit of the address. @throws {Refusal} 429
 * @returns mails it; if that fails the link is void, and `also` runs in the same transaction. @throws {Refusal} 500
 */
export type IssueSignupLink = (
  tx: Tx,
  user: User,
  actor: Actor,
  now: Date,
) => Promise<(also: (tx: Db) => Promise<void>) => Promise<void>>

/** Mails another signup link to a user, for an administrator. */
export class ResendVerification {
  readonly #database: Database
  readonly #issue: IssueSignupLink

  constructor(database: Database, issue: IssueSignupLink) {
    this.#database = database
    this.#issue = issue
  }

  /**
   * The link and its audit entry are stored together, before the mail; a mail that is not accepted is audited, too.
   * @returns the address of the mail
   * @throws {Refusal} 403 as `administer` · 404 · 409 already verified, or blocked · 429 limit · 500 mail not accepted
   */
  async run(actor: Actor, id: number, now: Date): Promise<string> {
    const entry = { at: now, actor, action: 'user.resend-verification' as const, target: `user:${id}` }
    const { email, mail } = await administer(this.#database, actor, async (tx) => {
      const user = await requireUser(tx, id)
      refuseWhoNeedsNone(user)
      const issued = await this.#issue(tx, user, actor, now)
      await insertAuditEntries(tx, [entry])
      return { email: user.email, mail: issued }
    })
    const failed = { ...entry, action: 'user.resend-verification-failed' as const }
    await mail((tx) => insertAuditEntries(tx, [failed]))
    return email
  }
}

/** @throws {Refusal} 409 */
function refuseWhoNeedsNone({ state, isBlocked }: User): void {
  if (state !== 'registered') throw refusals.conflict(message('requests.alreadyVerified'))
  if (isBlocked) throw refusals.conflict(message('requests.unblockFirst'))
}
