import type { Logger } from 'pino'
import { within } from '#/attempt.ts'
import { refusals } from '#/errors.ts'
import type { Database } from '#/store/database.ts'
import { findContainer } from '#/store/user-containers.ts'
import type { User } from '#/store/users.ts'
import type { Activity } from './activity.ts'
import type { Admission } from './admission.ts'
import { isThere } from './known-container.ts'
import type { OwnedType } from './owned-type.ts'
import type { Places } from './places.ts'
import type { Rest } from './rest.ts'
import type { Template, Templates } from './template.ts'

/** How long whoever asked for a stop is kept waiting, in ms; it goes on after that. */
const stopLimit = 25_000
/** Between two looks whether a launch that stands before the stop waits for its turn, in ms. */
const dismissEvery = 250

export interface OwnContainerParts {
  readonly database: Database
  readonly templates: Templates
  readonly admission: Pick<Admission, 'dismiss'>
  readonly places: Pick<Places, 'get' | 'placeOf' | 'isUnknown'>
  readonly rest: Pick<Rest, 'stopNow'>
  readonly activity: Pick<Activity, 'startOver'>
  readonly log: Pick<Logger, 'warn'>
}

/** What owners do with a container of theirs beside launching it; a takeover does it for them, as it launches. */
export class OwnContainer {
  readonly #parts: OwnContainerParts

  constructor(parts: OwnContainerParts) {
    this.#parts = parts
  }

  /**
   * Stops it at once; its home stays, and the next launch or visit starts it again. A launch that is under way is given
   * up: at once while it waits or fetches its image, otherwise as soon as the engine has done its step.
   * @returns false when it did not run
   * @throws {Refusal} 400 unknown type · 403 blocked · 500 the engine could not, or takes too long; then it goes on
   */
  async stop(user: User, type: string): Promise<boolean> {
    await this.#mustBeFree(user, type)
    const owned = { userId: user.id, type }
    const stop = this.#stopNow(owned)
    const stopped = await within(stopLimit, stop)
    if (stopped !== undefined) return stopped
    stop.catch((error: unknown) => this.#parts.log.warn({ err: error, ...owned }, 'a stop that took long failed'))
    throw refusals.stopFailed(new Error(`a stop took longer than ${stopLimit} ms`))
  }

  /**
   * Counts the time of nobody using it from now on. Also when it is reached by another process than this: what that one
   * hears of use is told here (`ControlPlane.used`), and nothing is put to rest without asking here.
   * @returns when it is put to rest at the earliest; null when it never is, or does not run
   * @throws {Refusal} 400 unknown type · 403 blocked · 500 the engine does not answer about it
   */
  async keep(user: User, type: string, now: Date): Promise<Date | null> {
    const { places, activity } = this.#parts
    const template = await this.#mustBeFree(user, type)
    const known = places.get({ userId: user.id, type })
    if (known && places.isUnknown(known)) throw refusals.keepFailed(new Error('the engine does not answer about it'))
    const where = known && places.placeOf(known)?.where
    if (!known || known.wasStopped || !where || !isThere(where)) return null
    activity.startOver(known)
    const rest = secondsToRest(template, where.isPaused)
    return rest === 0 ? null : new Date(now.getTime() + rest * 1_000)
  }

  /** @throws {Refusal} 400 · 403 */
  async #mustBeFree(user: User, type: string): Promise<Template> {
    const { templates, database } = this.#parts
    const template = templates.get(type)
    if (!template) throw refusals.unknownType(templates.types)
    const record = await findContainer(database.db, user.id, type)
    if (record?.isBlocked) throw refusals.containerBlocked(record.blockedAt)
    return template
  }

  /** A launch may stand before it that has not come to the line yet, so that is looked at until it is this one's turn. */
  async #stopNow(owned: OwnedType): Promise<boolean> {
    const { admission, rest } = this.#parts
    const dismiss = () => admission.dismiss(owned, refusals.launchStopped())
    dismiss()
    const timer = setInterval(dismiss, dismissEvery)
    try {
      return await rest.stopNow(owned, () => clearInterval(timer))
    } finally {
      clearInterval(timer)
    }
  }
}

/** 0 is never. */
const secondsToRest = ({ idlePause, idleTimeout }: Template, isPaused: boolean) =>
  isPaused ? idleTimeout : idlePause || idleTimeout
