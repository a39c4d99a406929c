import type { Refusal } from '#/errors.ts'
import type { Database } from '#/store/database.ts'
import { findUser, type User } from '#/store/users.ts'
import type { Template } from './template.ts'

/**
 * A reason why this user's container of this type may not be started now; undefined when there is none. Asked before
 * anything is started, when the container does not run already. Must end within a limit of its own.
 */
export type LaunchCheck = (user: User, template: Template) => Refusal | undefined | Promise<Refusal | undefined>

/** Whatever else has a say in whether a container may be started now. */
export class LaunchChecks {
  readonly #database: Database
  readonly #checks: readonly LaunchCheck[]

  /** @param checks asked in this order; the first refusal counts */
  constructor(database: Database, checks: readonly LaunchCheck[]) {
    this.#database = database
    this.#checks = checks
  }

  /** The first reason why this user's container may not be started now. */
  async refusalFor(userId: number, template: Template): Promise<Refusal | undefined> {
    const user = this.#checks.length > 0 ? await findUser(this.#database.db, userId) : undefined
    for (const check of this.#checks) {
      const refusal = user && (await check(user, template))
      if (refusal) return refusal
    }
    return undefined
  }
}
