import type { Logger } from 'pino'
import { withTimeout } from '#/concurrency/try-or-log.ts'
import { Refusal, refusals } from '#/errors.ts'
import { message, type LocalizedMessage } from '#/messages/localized-message.ts'
import type { Database } from '#/store/database.ts'
import { findContainer } from '#/store/containers/user-containers.ts'
import { moveUserState, noteUserActive, touchUser, type User } from '#/store/users/users.ts'
import { LaunchFailure } from './launch-failure.ts'
import { containerKey, type ContainerRef } from '../container-key.ts'
import type { Running, Spawner } from './spawner.ts'
import type { LaunchStage, LaunchProgress } from './progress/launch-progress.ts'
import type { Template, Templates } from '../templates/template.ts'

export interface LaunchParts {
  readonly database: Database
  readonly spawner: Spawner
  readonly templates: Templates
  readonly launchProgress: Pick<LaunchProgress, 'of'>
  /** How long whoever asked is kept waiting, in ms. */
  readonly timeout: number
  readonly log: Pick<Logger, 'warn'>
}

/** `POST /api/container/launch/<type>` and `/restart`: what a user may do with their containers. */
export class Launch {
  readonly #parts: LaunchParts
  /** Launches under way that somebody has given up waiting for. */
  readonly #abandoned = new Set<string>()

  constructor(parts: LaunchParts) {
    this.#parts = parts
  }

  /**
   * Makes the user's container of this type run. Source: specification, launch rules 1 to 5.
   * @throws {Refusal} 400 unknown type · 403 blocked, nothing was started · 500 it could not be started, there is no room
   * for it, or it takes longer than the time that is waited; then it goes on, and whoever asks again waits for the same
   */
  async launch(user: User, type: string, now: Date): Promise<Running> {
    const { templates } = this.#parts
    const template = templates.get(type)
    if (!template) throw refusals.unknownType(templates.types)
    await this.#refuseBlocked(user, template)
    return this.#withTimeout({ userId: user.id, type }, this.#ensure(user, template, now))
  }

  /**
   * Replaces the user's container of this type. Source: specification, restart rules 1 to 5, which name the first type.
   * @throws {Refusal} 400 unknown type · 403 blocked, nothing was touched · 500 any failure, the home volume is safe; or as above
   */
  async restart(user: User, type: string, now: Date): Promise<Running> {
    const { templates } = this.#parts
    const template = templates.get(type)
    if (!template) throw refusals.unknownType(templates.types)
    await this.#refuseBlocked(user, template)
    return this.#withTimeout({ userId: user.id, type }, this.#replace(user, template, now))
  }

  /** `restart` of the first configured type. */
  restartPrimary(user: User, now: Date): Promise<Running> {
    return this.restart(user, this.#parts.templates.first.type, now)
  }

  /** Starts the first type's container for somebody who has just signed in; their block is no failure of signing in. */
  async startPrimary(user: User, now: Date): Promise<Running> {
    const { spawner, templates } = this.#parts
    await this.#refuseBlocked(user, templates.first)
    return spawner.ensureRunning(user, templates.first, now)
  }

  async #ensure(user: User, template: Template, now: Date): Promise<Running> {
    const { spawner, database } = this.#parts
    const running = await orFail(spawner.ensureRunning(user, template, now), refusals.launchFailed)
    // Administrators see both times side by side. A sign-in notes its own, and a sign-up, as specified, none.
    await noteUserActive(database.db, user.id, now)
    return running
  }

  async #replace(user: User, template: Template, now: Date): Promise<Running> {
    const { spawner, database } = this.#parts
    const running = await orFail(spawner.replace(user, template, now), refusals.restartFailed)
    await moveUserState(database.db, user.id, 'verified', 'active')
    await touchUser(database.db, user.id, now)
    return running
  }

  /** Of the container alone: a blocked user does not come here, and one who is blocked meanwhile is found in the flight. */
  async #refuseBlocked(user: User, template: Template): Promise<void> {
    const record = await findContainer(this.#parts.database.db, user.id, template.type)
    if (record?.isBlocked) throw refusals.containerBlocked(record.blockedAt)
  }

  /** Waits for a launch, but not for ever; it goes on without whoever waited. */
  async #withTimeout(owned: ContainerRef, work: Promise<Running>): Promise<Running> {
    const running = await withTimeout(this.#parts.timeout, work)
    if (running) return running
    this.#logAbandoned(owned, work)
    throw refusals.launchGoesOn(howFar(this.#parts.launchProgress.of(owned)))
  }

  /** Nobody hears how it ends, so a failure is logged here; once, however many have given up. */
  #logAbandoned(owned: ContainerRef, work: Promise<unknown>): void {
    const key = containerKey(owned)
    const isFollowed = this.#abandoned.has(key)
    this.#abandoned.add(key)
    work
      .catch((error: unknown) => {
        const err = error instanceof Refusal ? (error.cause ?? error.message) : error
        if (!isFollowed) this.#parts.log.warn({ err, ...owned }, 'a launch that nobody waits for any more failed')
      })
      .finally(() => this.#abandoned.delete(key))
  }
}

/** Refusals pass; whatever else went wrong becomes the given 500, with its cause for the log. */
async function orFail<T>(work: Promise<T>, refusal: (cause: unknown, why?: LaunchFailure) => Refusal): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (error instanceof Refusal) throw error
    throw error instanceof LaunchFailure ? refusal(error.cause, error) : refusal(error)
  }
}

function howFar(stage: LaunchStage | undefined): LocalizedMessage {
  if (stage?.stage === 'queued') return message('launches.waits', { place: stage.place, waiting: stage.waiting })
  if (stage?.stage === 'pulling')
    return message('launches.pulling', { done: stage.layers_done, total: stage.layers_total })
  return message('launches.starting')
}
