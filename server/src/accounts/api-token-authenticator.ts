import type { Session } from '#/accounts/sessions/session-authenticator.ts'
import { insertAuditEntries } from '#/store/audit-log.ts'
import type { Database } from '#/store/database.ts'
import { findApiToken, noteApiTokenUsed, type StoredApiToken } from '#/store/api-tokens.ts'
import { apiTokenEntry } from '#/store/api-token-entry.ts'
import type { User } from '#/store/users.ts'
import { tryOrLog } from '#/machine/try-or-log.ts'
import type { Logger } from 'pino'
import { apiTokenHash } from './api-token-secret.ts'

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
    const [oldest] = this.#notedAt.size >= maxRemembered ? this.#notedAt.keys() : []
    if (oldest !== undefined) this.#notedAt.delete(oldest)
    this.#notedAt.set(id, now.getTime())
  }
}

/** What stands for the token where a session is known by its `sid`, e.g. for open streams. */
export const apiTokenJti = (id: number) => `api-token:${id}`

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
