import type { Refusal } from '#/refusals/errors.ts'
import type { Database } from '#/store/database.ts'
import { findUser, type User } from '#/store/users.ts'
import type { Template } from '#/templates/template.ts'

/**
 * A reason why this user's container of this type may not be started now; undefined when there is none. Called before
 * anything is started, unless the container runs already. Must have a timeout of its own.
 */
export type PreLaunchHook = (user: User, template: Template) => Refusal | undefined | Promise<Refusal | undefined>

/** Pre-launch hooks: other features that may refuse a start. */
export class PreLaunchHooks {
  readonly #database: Database
  readonly #hooks: readonly PreLaunchHook[]

  /** @param hooks called in this order; the first refusal counts */
  constructor(database: Database, hooks: readonly PreLaunchHook[]) {
    this.#database = database
    this.#hooks = hooks
  }

  /** The first reason why this user's container may not be started now. */
  async refusalFor(userId: number, template: Template): Promise<Refusal | undefined> {
    const user = this.#hooks.length > 0 ? await findUser(this.#database.db, userId) : undefined
    for (const hook of this.#hooks) {
      const refusal = user && (await hook(user, template))
      if (refusal) return refusal
    }
    return undefined
  }
}
