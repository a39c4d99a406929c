import type { Database } from '#/store/database.ts'
import { findUser } from '#/store/users.ts'
import type { AccessTokens, ScopedToken } from './access-token.ts'

/** Issues scoped tokens for the apps in containers, by the present state of their user in the store. */
export class ScopedTokenIssuer {
  readonly #database: Database
  readonly #tokens: AccessTokens

  constructor(database: Database, tokens: AccessTokens) {
    this.#database = database
    this.#tokens = tokens
  }

  /** @param prefix of the container whose app sees it @param acting as in `Claims` @throws {Error} when there is no such user, or they are blocked */
  async issue(userId: number, prefix: string, acting: string | null, now: Date): Promise<ScopedToken> {
    const user = await findUser(this.#database.db, userId)
    if (!user || user.isBlocked) throw new Error(`user ${userId} is gone or blocked`)
    return this.#tokens.scoped(user, prefix, acting, now)
  }
}
