import { Refusal, refusals } from '#/errors.ts'
import type { Database } from '#/store/database.ts'
import { findContainer } from '#/store/user-containers.ts'
import { moveUserState, touchUser, type User } from '#/store/users.ts'
import type { Running, Spawner } from './spawner.ts'
import type { Template, Templates } from './template.ts'

/** `POST /api/container/launch/<type>` and `/restart`: what a user may do with their containers. */
export class Launch {
  readonly #database: Database
  readonly #spawner: Spawner
  readonly #templates: Templates

  constructor(database: Database, spawner: Spawner, templates: Templates) {
    this.#database = database
    this.#spawner = spawner
    this.#templates = templates
  }

  /**
   * Makes the user's container of this type run. Source: specification, launch rules 1 to 5.
   * @throws {Refusal} 400 unknown type · 403 blocked, nothing was started · 500 the engine could not
   */
  async launch(user: User, type: string, now: Date): Promise<Running> {
    const template = this.#templates.get(type)
    if (!template) throw refusals.unknownType(this.#templates.types)
    await this.#refuseBlocked(user, template)
    return orFail(this.#spawner.ensureRunning(user, template, now), refusals.launchFailed)
  }

  /**
   * Replaces the container of the first type. Source: specification, restart rules 1 to 5.
   * @throws {Refusal} 403 blocked, nothing was touched · 500 any failure; the home volume is safe
   */
  async restart(user: User, now: Date): Promise<Running> {
    await this.#refuseBlocked(user, this.#templates.first)
    const running = await orFail(this.#spawner.replace(user, this.#templates.first, now), refusals.restartFailed)
    await moveUserState(this.#database.db, user.id, 'verified', 'active')
    await touchUser(this.#database.db, user.id, now)
    return running
  }

  /** Starts the first type's container for somebody who has just signed in; their block is no failure of signing in. */
  async startPrimary(user: User, now: Date): Promise<Running> {
    await this.#refuseBlocked(user, this.#templates.first)
    return this.#spawner.ensureRunning(user, this.#templates.first, now)
  }

  async #refuseBlocked(user: User, template: Template): Promise<void> {
    const record = await findContainer(this.#database.db, user.id, template.type)
    if (record?.isBlocked) throw refusals.containerBlocked(record.blockedAt)
    if (user.isBlocked) throw refusals.userBlockedFromContainers(null)
  }
}

/** Refusals pass; whatever else went wrong becomes the given 500, with its cause for the log. */
async function orFail<T>(work: Promise<T>, refusal: (cause: unknown) => Refusal): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw error instanceof Refusal ? error : refusal(error)
  }
}
