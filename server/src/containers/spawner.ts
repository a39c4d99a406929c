import type { Logger } from 'pino'
import { attempt } from '#/attempt.ts'
import { reached } from '#/crash-points.ts'
import { Refusal, refusals } from '#/errors.ts'
import { RuntimeError, type Instance, type Runtime } from '#/runtime/runtime.ts'
import type { Database } from '#/store/database.ts'
import {
  ensureContainer,
  findContainer,
  noteStopped,
  touchContainer,
  type UserContainer,
} from '#/store/user-containers.ts'
import { findUser, type User } from '#/store/users.ts'
import type { Admission } from './admission.ts'
import { AtMost } from './at-most.ts'
import { blockedGrace, blockOf } from './block-of.ts'
import type { CrashLoops } from './crash-loops.ts'
import type { Flights } from './flights.ts'
import { instanceSpec, type Dweller, type InstanceSettings } from './instance-spec.ts'
import type { LaunchChecks } from './launch-checks.ts'
import type { LaunchCounts } from './launch-counts.ts'
import { absenceAfter, explainFailure, failedStage } from './launch-failure.ts'
import { ownedKey, type OwnedType } from './owned-type.ts'
import type { Places } from './places.ts'
import type { Removal } from './removal.ts'
import type { Stages } from './stages.ts'
import { isUpToDate, Starter, type Start, type Step } from './starter.ts'
import type { Template } from './template.ts'

export interface SpawnerParts {
  readonly runtime: Runtime
  readonly database: Database
  readonly settings: InstanceSettings
  readonly flights: Flights
  /** Told what became of every launch before its caller is. */
  readonly places: Pick<Places, 'publishContainer'>
  /** What was deleted is gone before anything new is made in its place. */
  readonly removal: Pick<Removal, 'finishInFlight'>
  readonly checks: LaunchChecks
  readonly admission: Admission
  readonly stages: Stages
  readonly crashLoops: CrashLoops
  readonly launchCounts: Pick<LaunchCounts, 'launched' | 'failed'>
  readonly log: Logger
}

/** Containers that are looked for at the same time, beside those whose turn it is. */
const parallelFinds = 8

/** A container that runs. */
export interface Running {
  readonly containerId: string
}

/** Asked for by somebody; likewise, but to be made anew; asked for by nobody now. */
type Kind = 'launch' | 'replace' | 'restore'

/** What is known of a launch when its flight begins. */
interface Flight {
  readonly user: User
  readonly template: Template
  readonly now: Date
  readonly kind: Kind
  /** When it was asked for; by `performance.now()`. */
  readonly begun: number
}

/**
 * The policy above the runtime: at most one container per user and type, found by its derived name.
 * - The record is written before the engine is asked, the engine's id after: a crash leaves nothing that the next
 *   launch would not find and finish.
 * - What runs is adopted, what is stopped is started, what cannot be started is removed and made anew.
 * - An engine that does not answer is no reason to remove anything; a stranger's container never is touched.
 * - What makes the engine work waits for its turn; what runs already does not.
 */
export class Spawner {
  readonly #parts: SpawnerParts
  readonly #starter: Starter
  readonly #finds = new AtMost(parallelFinds)

  constructor(parts: SpawnerParts) {
    this.#parts = parts
    this.#starter = new Starter(parts.runtime, parts.database, parts.log)
  }

  /**
   * Makes sure that the user's container of this type runs, and that the gateway knows where.
   * Source: specification, Container lifecycle rules and launch 3, 4.
   * @throws {Refusal} 403 when it was blocked meanwhile, and it does not run then; 500 when there is no room for it
   * @throws {RuntimeError} `LaunchFailure` when it could not be made to run; what exists by then is found by the next launch
   */
  async ensureRunning(user: User, template: Template, now: Date): Promise<Running> {
    return this.#fly(flightOf(user, template, now, 'launch'))
  }

  /**
   * Takes the old container away and makes a new one; the home stays. Source: specification, restart 2 and 3: a failure
   * to remove is logged and ignored, and then the old one is used again rather than refused.
   * @throws as `ensureRunning`
   */
  async replace(user: User, template: Template, now: Date): Promise<Running> {
    return this.#fly(flightOf(user, template, now, 'replace'))
  }

  /**
   * As `ensureRunning`, for what ran before the engine restarted: nobody asked for it now, so everybody who did goes
   * first, nobody has used it, and what ends after each start is left alone for a while.
   * @throws as `ensureRunning`
   */
  async restore(user: User, template: Template, now: Date): Promise<Running> {
    if (!this.#parts.crashLoops.mayStart({ userId: user.id, type: template.type })) throw refusals.endsAgain()
    return this.#fly(flightOf(user, template, now, 'restore'))
  }

  /** What a container made now would be made of; another one is replaced when it is started. */
  fingerprintOf(user: Dweller, template: Template): string {
    return instanceSpec(user, template, this.#parts.settings).fingerprint
  }

  /** Launches of one container, one after the other; nobody who asks now waits behind those who were asked before. */
  async #fly(flight: Flight): Promise<Running> {
    const owned = { userId: flight.user.id, type: flight.template.type }
    if (flight.kind !== 'restore') this.#parts.admission.promote(owned)
    return this.#parts.flights.join(ownedKey(owned), flight.kind, () => this.#inFlight(flight))
  }

  /** As `ensureRunning`, for who is in a flight of this container already. */
  async ensureInFlight(user: User, template: Template, now: Date): Promise<Running> {
    return this.#inFlight(flightOf(user, template, now, 'launch'))
  }

  async #inFlight(flight: Flight): Promise<Running> {
    const { places, stages, admission, launchCounts } = this.#parts
    const owned = { userId: flight.user.id, type: flight.template.type }
    try {
      const { instance, isStarted } = await this.#launch(flight)
      await places.publishContainer(owned, { failure: undefined })
      if (isStarted) stages.started(owned, appOf(instance))
      if (isStarted) launchCounts.launched(flight.kind === 'restore' ? undefined : performance.now() - flight.begun)
      return { containerId: instance.id }
    } catch (error) {
      if (isFailure(error)) launchCounts.failed()
      throw await this.#explained(owned, error)
    } finally {
      admission.release(owned)
    }
  }

  /** Tells gateway and owner why it does not run. @returns the error with all that could be found out */
  async #explained(owned: OwnedType, error: unknown): Promise<unknown> {
    const { runtime, places, stages, log } = this.#parts
    const explained = error instanceof RuntimeError ? await explainFailure(runtime, error) : error
    const failure = absenceAfter(explained)
    // For want of room nothing was touched, and to look at a thousand that were refused would only cost more.
    if (!isForWantOfRoom(explained))
      await attempt(log, `publishing that ${owned.type} of user ${owned.userId} did not start`, () =>
        places.publishContainer(owned, failure && { failure }),
      )
    stages.enter(owned, failedStage(explained))
    return explained
  }

  /** The record first, then the engine. */
  async #launch(flight: Flight): Promise<{ instance: Instance; isStarted: boolean }> {
    const { user, template, now, kind } = flight
    const { removal, database } = this.#parts
    await removal.finishInFlight({ userId: user.id, slug: user.slug, type: template.type })
    const record = await this.#recordOf(flight)
    const spec = instanceSpec(user, template, this.#parts.settings)
    const start = { record, spec, onStep: (step: Step) => this.#noteStep(spec.owner, step) }
    const found = await this.#findThere(start)
    const adopted = kind === 'replace' ? undefined : await this.#adopt(start, found)
    const instance = adopted ?? (await this.#startInTurn(flight, start, found))
    await this.#stopIfBlocked(record, instance)
    if (kind === 'restore') await noteStopped(database.db, user.id, template.type, null)
    else await touchContainer(database.db, record.id, now)
    reached('launch.before-answer')
    return { instance, isStarted: found?.state !== 'running' || kind === 'replace' }
  }

  /** Read again inside the flight: a block may have been stored while this launch waited for another one. */
  async #recordOf({ user, template, now, kind }: Flight): Promise<UserContainer> {
    reached('launch.before-record')
    const record =
      kind === 'restore' ? await this.#findRecord(user, template) : await this.#ensureRecord(user, template, now)
    reached('launch.after-record')
    if (record.isBlocked) throw refusals.containerBlocked(record.blockedAt)
    return record
  }

  /** What was deleted meanwhile is not made again when nobody asks for it. @throws {Refusal} */
  async #findRecord(user: User, template: Template): Promise<UserContainer> {
    const record = await findContainer(this.#parts.database.db, user.id, template.type)
    if (!record) throw refusals.containerDeleted()
    return record
  }

  /** @throws {Refusal} 404 when the account was deleted meanwhile: the store takes no record of nobody */
  async #ensureRecord(user: User, template: Template, now: Date): Promise<UserContainer> {
    const { db } = this.#parts.database
    try {
      return await ensureContainer(db, user.id, template.type, template.image, now)
    } catch (error) {
      throw (await findUser(db, user.id)) ? error : refusals.userGone()
    }
  }

  /**
   * What should be there is looked for at once, to be used without a turn; all else when the turn has come. A thousand
   * questions at once would make the engine too slow for the launches that are under way.
   */
  async #findThere(start: Start): Promise<Instance | undefined> {
    const isThere = this.#parts.admission.isThere(start.spec.owner)
    return isThere ? this.#finds.run(() => this.#starter.find(start)) : undefined
  }

  /** What runs, or is only paused, is there without any turn; undefined when it is not. */
  async #adopt(start: Start, found: Instance | undefined): Promise<Instance | undefined> {
    if (found?.state === 'running') return this.#starter.adopt(start, found)
    return found?.state === 'paused' ? this.#starter.tryToStart(start, found) : undefined
  }

  async #startInTurn(flight: Flight, start: Start, found: Instance | undefined): Promise<Instance> {
    const { user, template, kind } = flight
    const isReplaced = kind === 'replace'
    const isThere = found?.state === 'running' || found?.state === 'paused'
    const refusal = isThere || kind === 'restore' ? undefined : await this.#parts.checks.refusalFor(user.id, template)
    if (refusal) throw refusal
    const admitted = {
      owned: start.spec.owner,
      image: template.image,
      needsImage: isReplaced || (found ? !isUpToDate(found, start.spec) : start.record.containerId === null),
      isPatient: kind === 'restore',
    }
    return this.#parts.admission.run(admitted, async (turn) => {
      if (isReplaced) await this.#removeOld(start)
      const now = await this.#starter.find(start)
      if (now?.state === 'running') return this.#starter.adopt(start, now)
      const started = now && (await this.#starter.tryToStart(start, now))
      return started ?? this.#starter.createAndStart(start, now, turn)
    })
  }

  async #removeOld(start: Start): Promise<void> {
    const what = `removing the old container of user ${start.spec.owner.userId}`
    await attempt(this.#parts.log, what, () => this.#starter.remove(start))
  }

  /** Blocking does not wait for a launch that is under way; the launch looks once more before it promises anything. */
  async #stopIfBlocked(record: UserContainer, instance: Instance): Promise<void> {
    const { database, runtime } = this.#parts
    const block = await blockOf(database.db, record.userId, record.type)
    if (!block) return
    await noteStopped(database.db, record.userId, record.type, new Date())
    await runtime.stop(instance.id, undefined, blockedGrace)
    throw block
  }

  #noteStep(owned: OwnedType, step: Step): void {
    if (step === 'starting') this.#parts.crashLoops.started(owned)
    this.#parts.stages.enter(owned, { stage: step })
  }
}

const flightOf = (user: User, template: Template, now: Date, kind: Kind): Flight => {
  return { user, template, now, kind, begun: performance.now() }
}

/** Who is blocked, or wants it no more, is no failure of ours. */
const isFailure = (error: unknown) => !(error instanceof Refusal) || error.status >= 500

const isForWantOfRoom = (error: unknown) => error instanceof Refusal && error.extra.reason === 'full'

const appOf = ({ address, port }: Instance) => (address === null || port === null ? undefined : { host: address, port })
