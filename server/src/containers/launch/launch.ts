import type { Logger } from 'pino'
import { withTimeout } from '#/machine/try-or-log.ts'
import { Refusal, refusals } from '#/refusals/errors.ts'
import { message, type LocalizedMessage } from '@berth/texts/localized-message.ts'
import type { Database } from '#/store/database.ts'
import { StoreFailure } from '#/store/store-failure.ts'
import { containerKey, findContainer, type ContainerRef } from '#/store/user-containers.ts'
import { moveUserState, noteUserActive, touchUser, type User } from '#/store/users.ts'
import { LaunchFailure } from './launch-failure.ts'
import type { Activity } from '../idle/activity.ts'
import type { LaunchRules } from '#/templates/launch-rules.ts'
import type { Running, Spawner } from './spawner.ts'
import type { LaunchStage, LaunchProgress } from './launch-progress.ts'
import { checkParameters, type ParameterValues } from '#/templates/parameters.ts'
import type { Template, Templates } from '#/templates/template.ts'

export interface LaunchParts {
  readonly database: Database
  readonly spawner: Spawner
  readonly templates: Templates
  readonly rules: Pick<LaunchRules, 'refusalFor' | 'visible'>
  readonly launchProgress: Pick<LaunchProgress, 'of'>
  readonly activity: Pick<Activity, 'startOver'>
  /** Timeout of a request that waits for a launch, in ms. */
  readonly timeout: number
  readonly log: Pick<Logger, 'warn'>
}

/** Launch and restart of a user's own containers (`POST /api/container/launch/<type>`, `/restart`). */
export class Launch {
  readonly #parts: LaunchParts
  /** Launches in progress whose request has timed out. */
  readonly #abandoned = new Set<string>()

  constructor(parts: LaunchParts) {
    this.#parts = parts
  }

  /**
   * Makes the user's container of this type run. Source: specification, launch rules 1 to 5.
   * @param chosen parameters of the template; the container is created anew when they are others than before, and its home stays
   * @throws {Refusal} 400 unknown type, or a parameter that is not allowed · 403 blocked, or a type of other groups, nothing was started · 409 a limit of a group · 500 the start failed, there is no capacity,
   * or it takes longer than the timeout: then it continues, and the next request joins it
   */
  async launch(user: User, type: string, now: Date, chosen?: ParameterValues): Promise<Running> {
    const template = await this.#requireTemplate(user, type)
    await this.#refuse(user, template, now)
    if (chosen) checkParameters(template.parameters, chosen)
    return this.#withTimeout({ userId: user.id, type }, this.#ensure(user, template, now, chosen))
  }

  /**
   * Replaces the user's container of this type. Source: specification, restart rules 1 to 5, which name the first type.
   * @throws {Refusal} 400 unknown type · 403 blocked, nothing was changed · 500 any failure, the home volume is kept;
   * or as `launch`
   */
  async restart(user: User, type: string, now: Date): Promise<Running> {
    const template = await this.#requireTemplate(user, type)
    await this.#refuse(user, template, now)
    return this.#withTimeout({ userId: user.id, type }, this.#replace(user, template, now))
  }

  /** `restart` of the first configured type. */
  restartPrimary(user: User, now: Date): Promise<Running> {
    return this.restart(user, this.#parts.templates.first.type, now)
  }

  /**
   * Starts the first type's container after a sign-in; a block of the container does not make the sign-in fail.
   * @returns undefined when the type is not this user's
   */
  async startPrimary(user: User, now: Date): Promise<Running | undefined> {
    const { spawner, templates, rules } = this.#parts
    if (await rules.refusalFor(user, templates.first, now)) return undefined
    await this.#refuse(user, templates.first, now)
    return spawner.ensureRunning(user, templates.first, now)
  }

  async #ensure(user: User, template: Template, now: Date, chosen?: ParameterValues): Promise<Running> {
    const { spawner, database, activity } = this.#parts
    const running = await orFail(spawner.ensureRunning(user, template, now, chosen), refusals.launchFailed)
    // A container that ran unused and was about to be suspended is used now, although no byte has moved yet.
    activity.startOver({ userId: user.id, type: template.type })
    // Administrators see both times side by side. A sign-in sets its own time; a sign-up sets none (specification).
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

  /** The message of the refusal names the types that this user sees. @throws {Refusal} 400 */
  async #requireTemplate(user: User, type: string): Promise<Template> {
    const { templates, rules } = this.#parts
    const template = templates.get(type)
    if (!template) throw refusals.unknownType((await rules.visible(user)).map((each) => each.type))
    return template
  }

  /**
   * The only block that it checks is that of the container: a blocked user is refused earlier, and a block that comes later is found
   * by the spawner.
   */
  async #refuse(user: User, template: Template, now: Date): Promise<void> {
    const { database, rules } = this.#parts
    const record = await findContainer(database.db, user.id, template.type)
    if (record?.isBlocked) throw refusals.containerBlocked(record.blockedAt)
    const refusal = await rules.refusalFor(user, template, now)
    if (refusal) throw refusal
  }

  /** Waits for a launch up to the timeout; the launch continues after that. */
  async #withTimeout(owned: ContainerRef, work: Promise<Running>): Promise<Running> {
    const running = await withTimeout(this.#parts.timeout, work)
    if (running) return running
    this.#logAbandoned(owned, work)
    throw refusals.launchGoesOn(howFar(this.#parts.launchProgress.of(owned)))
  }

  /** Logs the failure of a launch that no request waits for; once, however many requests have timed out. */
  #logAbandoned(owned: ContainerRef, work: Promise<unknown>): void {
    const key = containerKey(owned)
    const isFollowed = this.#abandoned.has(key)
    this.#abandoned.add(key)
    work
      .catch((error: unknown) => {
        const err = error instanceof Refusal ? (error.cause ?? error.message) : error
        if (!isFollowed) this.#parts.log.warn({ err, ...owned }, 'a launch failed after its request had timed out')
      })
      .finally(() => this.#abandoned.delete(key))
  }
}

/**
 * Refusals pass through, and a store without room is the server without room, of which the log tells; any other error becomes
 * the given 500, with the error as cause for the log.
 */
async function orFail<T>(work: Promise<T>, refusal: (cause: unknown, why?: LaunchFailure) => Refusal): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (error instanceof Refusal) throw error
    if (error instanceof StoreFailure && error.isFull) throw refusals.serverFull()
    throw error instanceof LaunchFailure ? refusal(error.cause, error) : refusal(error)
  }
}

function howFar(stage: LaunchStage | undefined): LocalizedMessage {
  if (stage?.stage === 'queued') {
    const { place, waiting, waits_for: waitsFor } = stage
    return waitsFor
      ? message('launches.waitsForGpu', { place, waiting })
      : message('launches.waits', { place, waiting })
  }
  if (stage?.stage === 'pulling')
    return message('launches.pulling', { done: stage.layers_done, total: stage.layers_total })
  return message('launches.starting')
}
