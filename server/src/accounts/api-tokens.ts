import { hash, randomBytes } from 'node:crypto'
import type { Logger } from 'pino'
import { isAdminScope, type Scope } from '@berth/api/scopes.ts'
import { secretPrefix } from '@berth/gateway/tokens/opaque-secrets.ts'
import { message } from '@berth/texts/localized-message.ts'
import type { Session } from '#/accounts/sessions/session-authenticator.ts'
import type { Owner } from '#/accounts/sessions/session-list.ts'
import { normaliseEmail } from '#/accounts/sign-up/email-address.ts'
import { tryOrLog } from '#/machine/try-or-log.ts'
import { setLatest } from '#/machine/recent-counts.ts'
import { refusals } from '#/refusals/errors.ts'
import {
  apiTokenEntry,
  deleteApiToken,
  deleteExpiredApiTokens,
  findApiToken,
  insertApiToken,
  listApiTokensOf,
  noteApiTokenUsed,
  type StoredApiToken,
} from '#/store/api-tokens.ts'
import { insertAuditEntries, type AuditEntry } from '#/store/audit-log.ts'
import type { Database, Tx } from '#/store/database.ts'
import type { StreamRegistry } from '#/containers/stream-registry.ts'
import { findUser, findUserByEmail, type DeletedApiToken, type User } from '#/store/users.ts'
import { OwnChangeLimit } from './own-change-limit.ts'

/** Tokens of one account, those that have expired included. */
const maxPerUser = 100
/** How long the owner sees a token that has expired, in ms. */
const expiredShownFor = 30 * 86_400_000

/** What a token is to be. */
export interface ApiTokenRequest {
  readonly name: string
  /** Kept in this order, each once. */
  readonly scopes: readonly Scope[]
  /** Seconds. */
  readonly expiresIn: number
}

/** A token that was made: the only moment at which it is known. */
export interface CreatedApiToken extends StoredApiToken {
  readonly token: string
}

/**
 * API tokens: a user's access for programs, with named scopes and an end. They die with the block, the deletion and,
 * those with an administrator's scope, the demotion of their owner: the store deletes them with that change
 * (`users.ts`).
 */
export class ApiTokens {
  readonly #database: Database
  readonly #streams: Streams
  /** Also keeps a client from holding all connections to the database: a creation waits for a lock. */
  readonly #changes = new OwnChangeLimit()

  constructor(database: Database, streams: Streams) {
    this.#database = database
    this.#streams = streams
  }

  /** All of a user's tokens, newest first: at most 100. */
  list(userId: number): Promise<StoredApiToken[]> {
    return listApiTokensOf(this.#database.db, userId)
  }

  /**
   * Makes a token of this user.
   * @param actor the owner, or the operator
   * @throws {Refusal} 403 blocked, never verified, or a scope for administrators and the user is none · 404 user gone ·
   * 409 too many · 429 too many changes
   */
  async create(
    actor: AuditEntry['actor'],
    userId: number,
    { name, scopes, expiresIn }: ApiTokenRequest,
    now: Date,
  ): Promise<CreatedApiToken> {
    if (actor.id === userId) this.#changes.count(userId)
    const token = newApiToken()
    const wanted = [...new Set(scopes)]
    const stored = await this.#database.transaction(async (tx) => {
      // Blocks and demotions hold it, too: none is missed between this check and the insertion.
      await this.#database.lock(tx, 'administrators')
      await requireMayHave(tx, userId, wanted)
      const expiresAt = new Date(now.getTime() + expiresIn * 1_000)
      const made = {
        userId,
        tokenHash: apiTokenHash(token),
        name: name.trim(),
        scopes: wanted,
        createdAt: now,
        expiresAt,
      }
      const inserted = await insertApiToken(tx, made)
      await insertAuditEntries(tx, [apiTokenEntry('token.create', actor, inserted, now)])
      return inserted
    })
    return { ...stored, token }
  }

  /**
   * Makes a token of the account with this address, for the operator.
   * @throws {Refusal} 404 when no account has it · as `create`
   */
  async createFor(
    actor: AuditEntry['actor'],
    email: string,
    request: ApiTokenRequest,
    now: Date,
  ): Promise<CreatedApiToken> {
    const owner = await findUserByEmail(this.#database.db, normaliseEmail(email))
    if (!owner) throw refusals.notFound('user')
    return this.create(actor, owner.id, request, now)
  }

  /**
   * Removes a token of this user, who asks; it counts no more when this resolves.
   * @throws {Refusal} 404 none of theirs
   */
  async remove(owner: Owner, id: number, now: Date): Promise<void> {
    const removed = await this.#database.transaction(async (tx) => {
      const token = await deleteApiToken(tx, id, owner.id)
      if (!token) throw refusals.notFound('token')
      await insertAuditEntries(tx, [apiTokenEntry('token.remove', owner, token, now)])
      return token
    })
    endStreamsOf(this.#streams, removed)
  }

  /** Deletes tokens that expired more than 30 days ago. */
  async prune(now: Date): Promise<void> {
    await deleteExpiredApiTokens(this.#database.db, new Date(now.getTime() - expiredShownFor))
  }
}

async function requireMayHave(tx: Tx, userId: number, scopes: readonly Scope[]): Promise<void> {
  const owner = await findUser(tx, userId)
  if (!owner) throw refusals.userGone()
  if (owner.isBlocked) throw refusals.userBlocked()
  if (owner.state === 'registered') throw refusals.notVerified()
  if (scopes.some(isAdminScope) && !owner.isAdmin) throw refusals.adminScope()
  if ((await listApiTokensOf(tx, userId)).length >= maxPerUser)
    throw refusals.conflict(message('requests.tooManyTokens', { max: maxPerUser }))
}

/** How far `last_used` may be behind, in ms: a busy token costs one write a minute. */
const maxLag = 60_000
/** A use after so many ms without any is written to the audit log, as the first one is. */
const pause = 7 * 86_400_000
/** Tokens whose last write is remembered, so that concurrent requests do not each attempt it. */
const maxRemembered = 10_000

/** Turns an API token into a session, at the cost of one indexed query. */
export class ApiTokenAuthenticator {
  readonly #database: Database
  readonly #log: Pick<Logger, 'warn'>
  /** When the use of a token was written last, in ms since 1970, by its id. */
  readonly #notedAt = new Map<number, number>()

  constructor(database: Database, log: Pick<Logger, 'warn'>) {
    this.#database = database
    this.#log = log
  }

  /**
   * The session of a good token; undefined when it is unknown, has expired or was removed, or its owner is blocked.
   * @param address of the client, for the audit log
   * @throws {StoreFailure} also when a use that belongs into the audit log cannot be written there
   */
  async authenticate(token: string, address: string, now: Date): Promise<Session | undefined> {
    const found = await findApiToken(this.#database.db, apiTokenHash(token), now)
    if (!found || found.owner.isBlocked) return undefined
    await this.#noteUse(found.token, found.owner, address, now)
    return sessionOf(token, found.token, found.owner)
  }

  async #noteUse(token: StoredApiToken, owner: User, address: string, now: Date): Promise<void> {
    const unusedFor = token.lastUsed === null ? Infinity : now.getTime() - token.lastUsed.getTime()
    const notedFor = Math.abs(now.getTime() - (this.#notedAt.get(token.id) ?? -Infinity))
    if (unusedFor < maxLag || notedFor < maxLag) return
    this.#remember(token.id, now)
    if (unusedFor >= pause) await this.#auditUse(token, owner, address, now)
    // No request waits for it, or fails because the store cannot be written at the moment.
    else void tryOrLog(this.#log, 'writing the last use of an API token', () => this.#writeUse(token, now, maxLag))
  }

  async #auditUse(token: StoredApiToken, { id, email }: User, address: string, now: Date): Promise<void> {
    try {
      await this.#database.transaction(async (tx) => {
        const isFirst = await noteApiTokenUsed(tx, token.id, now, new Date(now.getTime() - pause))
        if (isFirst) await insertAuditEntries(tx, [apiTokenEntry('token.use', { id, email, address }, token, now)])
      })
    } catch (error) {
      this.#notedAt.delete(token.id)
      throw error
    }
  }

  #writeUse({ id }: StoredApiToken, now: Date, after: number): Promise<boolean> {
    return noteApiTokenUsed(this.#database.db, id, now, new Date(now.getTime() - after))
  }

  #remember(id: number, now: Date): void {
    setLatest(this.#notedAt, id, now.getTime(), maxRemembered)
  }
}

type Streams = Pick<StreamRegistry, 'endSession'>

/** Ends the event and log streams that were opened with a token which is deleted by now. */
export const endStreamsOf = (streams: Streams, { id, userId }: DeletedApiToken): void =>
  streams.endSession(userId, apiTokenJti(id))

/** What stands for the token where a session is known by its `sid`, e.g. for open streams. */
const apiTokenJti = (id: number) => `api-token:${id}`

function sessionOf(token: string, { id, userId, scopes, createdAt, expiresAt }: StoredApiToken, user: User): Session {
  const jti = apiTokenJti(id)
  return {
    claims: { userId, jti, sid: jti, isRenewable: false, issuedAt: createdAt, expiresAt, acting: null },
    token,
    user,
    via: 'header',
    scopes,
  }
}

/** A new API token: 256 random bits, so that no number of attempts finds one. */
const newApiToken = () => secretPrefix + randomBytes(32).toString('base64url')

/**
 * SHA-256 in hex: all that is stored of a token. A slow hash protects passwords, which people choose; it adds nothing
 * to 256 random bits (NIST SP 800-63B-4, 3.1.2.2). The lookup compares hashes by an index, so its time says nothing of
 * tokens.
 */
const apiTokenHash = (token: string) => hash('sha256', token, 'hex')
