import pLimit from 'p-limit'
import type { Logger } from 'pino'
import { blockedGrace, checkBlock } from '#/containers/blocked-containers.ts'
import type { ContainerRemoval } from '#/containers/container-removal.ts'
import type { RouteSync } from '#/containers/routes/route-sync.ts'
import type { Runtime, RuntimeContainer, StartWait } from '#/engines/runtime.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { crashPoint } from '#/machine/crash-points.ts'
import type { SingleFlight } from '#/machine/single-flight.ts'
import { tryOrLog } from '#/machine/try-or-log.ts'
import { Refusal, refusals } from '#/refusals/errors.ts'
import {
  containerKey,
  ensureContainer,
  findContainer,
  noteStopped,
  storeParameters,
  touchContainer,
  type ContainerRef,
  type UserContainer,
} from '#/store/user-containers.ts'
import type { Database, Db } from '#/store/database.ts'
import { findUser, type User } from '#/store/users.ts'
import { areOthers, type ParameterValues } from '#/templates/parameters.ts'
import type { PutStarterFiles } from '#/templates/starter-files/put-starter-files.ts'
import type { Template } from '#/templates/template.ts'
import type { AdmissionControl } from './admission-control.ts'
import { containerSpec, type InstallationSettings, type SpecUser } from './build-container-spec.ts'
import type { CrashLoops } from './crash-loops.ts'
import { explainFailure, failedStage, unavailableAfter } from './launch-failure.ts'
import { waitStage, type LaunchProgress } from './launch-progress.ts'
import type { LaunchMetrics } from './load-metrics.ts'
import { Starter, canBeStarted, isUpToDate, type BeforeImage, type Start, type Step } from './starter.ts'

export interface SpawnerParts {
  readonly runtime: Runtime
  readonly database: Database
  readonly settings: InstallationSettings
  readonly singleFlight: SingleFlight
  /** Publishes the outcome of every launch before its caller receives it. */
  readonly routeSync: Pick<RouteSync, 'publishContainer' | 'get'>
  /** Finishes pending deletions before a new container is created under the same name. */
  readonly removal: Pick<ContainerRemoval, 'finishLocked'>
  readonly preLaunchHooks: PreLaunchHooks
  readonly admission: AdmissionControl
  readonly launchProgress: LaunchProgress
  readonly crashLoops: CrashLoops
  readonly starterFiles: Pick<PutStarterFiles, 'run'>
  /** Called before a home gets another image. */
  readonly beforeImage: BeforeImage | undefined
  readonly launchMetrics: Pick<LaunchMetrics, 'launched' | 'failed'>
  readonly log: Logger
}

/** Max look-ups of containers without a slot of the launch queue. */
const maxParallelFinds = 8

/** What waits for a slot of the launch queue. */
interface AdmittedStart {
  readonly attempt: LaunchAttempt
  readonly start: Start
  readonly found: RuntimeContainer | undefined
  /** Whether a new container takes the place of the old one. */
  readonly isReplaced: boolean
  /** Whether that is because the user chose other parameters. */
  readonly isChanged: boolean
}

/** A container that runs. */
export interface Running {
  readonly containerId: string
}

/**
 * Spawner: the policy above the runtime, at most one container per user and type, found by its derived name. Launches
 * of one container are serialized.
 * - The record is written before the engine is called, the engine's id after: what a crash leaves is found and finished
 *   by the next launch.
 * - A running container is adopted, a stopped one started, one that cannot be started is removed and created anew.
 * - Nothing is removed because the engine does not answer; a container of another owner is never touched.
 * - Work for the engine waits for a slot of the launch queue; adopting a running container does not.
 */
export class Spawner {
  readonly #parts: SpawnerParts
  readonly #starter: Starter
  readonly #findLimit = pLimit(maxParallelFinds)
  /** Containers that a user asked for while an operation on them is in progress; a restore of one has high priority. */
  readonly #requested = new Set<string>()

  constructor(parts: SpawnerParts) {
    this.#parts = parts
    this.#starter = new Starter(parts)
  }

  /**
   * Makes sure that the user's container of this type runs and that the gateway has its route.
   * Source: specification, Container lifecycle rules and launch 3, 4.
   * @param chosen parameters of the template, checked; a container with others is removed and created anew
   * @throws {Refusal} 403 when it was blocked meanwhile, and it does not run then; 500 when there is no capacity for it, and then
   * an old container stays
   * @throws {RuntimeError} `LaunchFailure` when it could not be started; the next launch finds what exists by then
   */
  async ensureRunning(user: User, template: Template, now: Date, chosen?: ParameterValues): Promise<Running> {
    return this.#run(launchAttempt(user, template, now, 'launch', chosen))
  }

  /**
   * Removes the old container and creates a new one; the home stays. Source: specification, restart 2 and 3: a failure
   * to remove is logged and ignored, and then the old container is used again.
   * @throws as `ensureRunning`
   */
  async replace(user: User, template: Template, now: Date): Promise<Running> {
    return this.#run(launchAttempt(user, template, now, 'replace'))
  }

  /**
   * Starts again what ran before the engine restarted: with low priority, behind every launch that a user
   * asked for; it does not count as use, and a crash loop delays it.
   * @throws as `ensureRunning`
   */
  async restore(user: User, template: Template, now: Date): Promise<Running> {
    if (!this.#parts.crashLoops.mayStart({ userId: user.id, type: template.type })) throw refusals.endsAgain()
    return this.#run(launchAttempt(user, template, now, 'restore'))
  }

  /**
   * Starts, with low priority, a container that its owner may ask for soon: one that was never launched is created. A refusal is reported
   * to no page. @throws as `ensureRunning`
   */
  async prestart(user: User, template: Template, now: Date): Promise<Running> {
    if (!this.#parts.crashLoops.mayStart({ userId: user.id, type: template.type })) throw refusals.endsAgain()
    return this.#run(launchAttempt(user, template, now, 'prestart'))
  }

  /**
   * Fingerprint of a container that would be created now; one with another fingerprint is replaced when it is started.
   * @param chosen as the record of the container has it
   */
  fingerprintOf(user: SpecUser, template: Template, chosen: ParameterValues): string {
    return containerSpec(user, template, this.#parts.settings, chosen).fingerprint
  }

  /** To be awaited before `fingerprintOf`. @throws {RuntimeError} as `TemplateSources.whenAnswering` */
  async whenSourcesAnswer(template: Template): Promise<void> {
    await this.#parts.settings.sources?.whenAnswering(template)
  }

  /** Serializes launches of one container (single-flight by key); a request joins the launch that is in progress. */
  async #run(attempt: LaunchAttempt): Promise<Running> {
    const owned = { userId: attempt.user.id, type: attempt.template.type }
    const key = containerKey(owned)
    if (!isUnrequested(attempt)) {
      this.#requested.add(key)
      this.#parts.admission.promote(owned)
    }
    return this.#parts.singleFlight.run(key, flightOf(attempt), () => this.#runExclusive(attempt))
  }

  /** Does what `ensureRunning` does, for callers that hold this container's flight already. */
  async ensureRunningLocked(user: User, template: Template, now: Date): Promise<Running> {
    return this.#runExclusive(launchAttempt(user, template, now, 'launch'))
  }

  async #runExclusive(attempt: LaunchAttempt): Promise<Running> {
    const { routeSync, launchProgress, admission, launchMetrics } = this.#parts
    const owned = { userId: attempt.user.id, type: attempt.template.type }
    try {
      const { container, isStarted } = await this.#launch(attempt)
      const app = appOf(container)
      const firstProbe = isStarted ? launchProgress.probe(owned, app) : undefined
      await routeSync.publishContainer(owned, { failure: undefined })
      if (isStarted) launchProgress.started(owned, app, firstProbe)
      if (isStarted) launchMetrics.launched(isUnrequested(attempt) ? undefined : performance.now() - attempt.begun)
      return { containerId: container.id }
    } catch (error) {
      if (isFailure(error)) launchMetrics.failed()
      if (attempt.kind === 'prestart' && error instanceof Refusal) {
        launchProgress.forget(owned)
        throw error
      }
      throw await this.#explained(owned, error)
    } finally {
      this.#requested.delete(containerKey(owned))
      admission.release(owned)
    }
  }

  /** Publishes to gateway and owner why it does not run. @returns the error with all that is known of its cause */
  async #explained(owned: ContainerRef, error: unknown): Promise<unknown> {
    const { runtime, routeSync, launchProgress, log } = this.#parts
    const explained = error instanceof RuntimeError ? await explainFailure(runtime, error) : error
    const failure = unavailableAfter(explained)
    // Without capacity nothing was changed, and an inspect for each of a thousand refused launches would cost too much.
    if (!isCapacityRefusal(explained))
      await tryOrLog(log, `publishing that ${owned.type} of user ${owned.userId} did not start`, () =>
        routeSync.publishContainer(owned, failure && { failure }),
      )
    launchProgress.enter(owned, failedStage(explained))
    return explained
  }

  /** The record first, then the engine. */
  async #launch(attempt: LaunchAttempt): Promise<{ container: RuntimeContainer; isStarted: boolean }> {
    const { user, template, now, kind } = attempt
    const { removal, database, launchProgress } = this.#parts
    await removal.finishLocked({ userId: user.id, slug: user.slug, type: template.type })
    const record = await recordFor(database.db, attempt)
    const parameters = { ...record.parameters, ...attempt.chosen }
    const isChanged = areOthers(template.parameters, record.parameters, parameters)
    await this.whenSourcesAnswer(template)
    const spec = containerSpec(user, template, this.#parts.settings, parameters)
    const onStep = (step: Step) => this.#reportStep(spec.owner, step)
    const onWait = (wait: StartWait) => launchProgress.enter(spec.owner, waitStage(wait))
    const credentials = this.#parts.settings.sources?.credentialsOf(template)
    const start = { record, spec, credentials, files: template.files, requestedAt: attempt.begun, onStep, onWait }
    const found = await this.#findExisting(start)
    const isReplaced = kind === 'replace' || isChanged
    const adopted = isReplaced ? undefined : await this.#adopt(start, found)
    if (adopted) await this.#keepParameters(attempt, record)
    const container = adopted ?? (await this.#startAdmitted({ attempt, start, found, isReplaced, isChanged }))
    await this.#stopIfBlocked(record, container)
    if (isUnrequested(attempt)) await noteStopped(database.db, user.id, template.type, null)
    else await touchContainer(database.db, record.id, now)
    crashPoint('launch.before-answer')
    return { container, isStarted: found?.state !== 'running' || isReplaced }
  }

  /**
   * Looks at once for a container that should exist, so that it is used without a slot; for any other with the slot. A
   * thousand look-ups at once would slow the engine for the launches in progress.
   */
  async #findExisting(start: Start): Promise<RuntimeContainer | undefined> {
    const isUp = this.#parts.admission.isUp(start.spec.owner)
    return isUp ? this.#findLimit(() => this.#starter.find(start)) : undefined
  }

  /** A running or paused container needs no slot; undefined when it is neither. */
  async #adopt(start: Start, found: RuntimeContainer | undefined): Promise<RuntimeContainer | undefined> {
    if (found?.state === 'running') return this.#starter.adopt(start, found)
    return found?.state === 'paused' ? this.#starter.tryToStart(start, found) : undefined
  }

  async #startAdmitted({ attempt, start, found, isReplaced, isChanged }: AdmittedStart): Promise<RuntimeContainer> {
    const { user, template, kind } = attempt
    const isUp = found?.state === 'running' || found?.state === 'paused'
    const refusal =
      isUp || kind === 'restore' ? undefined : await this.#parts.preLaunchHooks.refusalFor(user.id, template)
    if (refusal) throw refusal
    const admitted = {
      owned: start.spec.owner,
      image: template.image,
      needsImage: isReplaced || this.#needsNew(start, found),
      // A user may have asked before the restore was queued, when there was nothing to promote yet.
      isLowPriority: isUnrequested(attempt) && !this.#requested.has(containerKey(start.spec.owner)),
      isRestore: kind === 'restore',
    }
    return this.#parts.admission.run(admitted, async (slot) => {
      if (isChanged || isReplaced) await this.#starter.fetchImage(start, slot)
      // A container with other parameters must not be used again, so a failure to remove it ends this launch.
      const removed = isChanged ? await this.#starter.remove(start) : isReplaced && (await this.#removeOld(start))
      await this.#keepParameters(attempt, start.record)
      const now = await this.#starter.find(start)
      if (now?.state === 'running') return this.#starter.adopt(start, now)
      const started = now && (await this.#starter.tryToStart(start, now, slot))
      if (started) return started
      // The launch was admitted to start what exists: for that the disk of the engine does not count.
      const shortage = admitted.needsImage ? undefined : this.#parts.admission.creationRefusal()
      if (shortage) throw shortage
      return this.#starter.createAndStart(start, now, now?.imageId ?? (removed || undefined), slot)
    })
  }

  /**
   * Whether a new container has to be created, as far as is known without asking the engine: a look at each of a thousand stopped
   * ones would slow it.
   */
  #needsNew({ record, spec, files }: Start, found: RuntimeContainer | undefined): boolean {
    const { runtime, routeSync } = this.#parts
    if (record.containerId === null || record.image !== spec.image) return true
    const seen = found ?? routeSync.get(spec.owner)?.seen
    if (!seen) return false
    return seen === 'gone' || !canBeStarted(runtime.capabilities, seen, { files }) || !isUpToDate(seen, spec)
  }

  /** Before a container has them, and after the one with others is gone: a crash in between loses the choice alone. */
  async #keepParameters({ chosen }: LaunchAttempt, { id, parameters }: UserContainer): Promise<void> {
    if (chosen) await storeParameters(this.#parts.database.db, id, { ...parameters, ...chosen })
  }

  async #removeOld(start: Start): Promise<string | undefined> {
    const what = `removing the old container of user ${start.spec.owner.userId}`
    return tryOrLog(this.#parts.log, what, () => this.#starter.remove(start))
  }

  /** Blocking does not wait for a launch in progress; so the launch checks the block again after the start. */
  async #stopIfBlocked(record: UserContainer, container: RuntimeContainer): Promise<void> {
    const { database, runtime, log } = this.#parts
    const block = await checkBlock(database.db, record.userId, record.type)
    if (!block) return
    // A block holds also while the store can be read and not written.
    await tryOrLog(log, 'storing that a container is stopped', () =>
      noteStopped(database.db, record.userId, record.type, new Date()),
    )
    await runtime.stop(container.id, undefined, blockedGrace)
    throw block
  }

  #reportStep(owned: ContainerRef, step: Step): void {
    if (step === 'starting') this.#parts.crashLoops.started(owned)
    this.#parts.launchProgress.enter(owned, { stage: step })
  }
}

/** A refusal of the user's own request (blocked, cancelled) is no failure of the launch. */
const isFailure = (error: unknown) => !(error instanceof Refusal) || error.status >= 500

const isCapacityRefusal = (error: unknown) => error instanceof Refusal && error.extra.reason === 'full'

const appOf = ({ address, port }: RuntimeContainer) =>
  address === null || port === null ? undefined : { host: address, port }

/**
 * `launch`: a user asks for it · `replace`: likewise, but a new container · `restore`: the reconciler asks · `prestart`: ahead
 * of its owner's request.
 */
type LaunchKind = 'launch' | 'replace' | 'restore' | 'prestart'

/** Parameters of one launch. */
interface LaunchAttempt {
  readonly user: User
  readonly template: Template
  readonly now: Date
  readonly kind: LaunchKind
  /** Parameters that the user chooses with this launch, checked; undefined: those that were chosen before count. */
  readonly chosen?: ParameterValues
  /** When it was requested; by `performance.now()`. */
  readonly begun: number
}

/** A launch that is requested now. */
function launchAttempt(
  user: User,
  template: Template,
  now: Date,
  kind: LaunchKind,
  chosen?: ParameterValues,
): LaunchAttempt {
  return { user, template, now, kind, begun: performance.now(), ...(chosen && { chosen }) }
}

/** Whether no user asks for it. */
const isUnrequested = ({ kind }: Pick<LaunchAttempt, 'kind'>) => kind === 'restore' || kind === 'prestart'

/** Attempts with the same words share one launch. */
function flightOf({ kind, chosen }: LaunchAttempt): string {
  return chosen ? `${kind} ${JSON.stringify(Object.entries(chosen).sort())}` : kind
}

/**
 * Record of the container to launch, created for a launch that a user asks for; a restore does not create a record that
 * was deleted meanwhile, and starts nothing that was stopped meanwhile. Read inside the flight: a block may have been stored while this launch waited for another one.
 * @throws {Refusal} 403 when it is blocked; 404 when the account was deleted meanwhile, 500 when the record was
 */
async function recordFor(db: Db, attempt: LaunchAttempt): Promise<UserContainer> {
  crashPoint('launch.before-record')
  const record = attempt.kind === 'restore' ? await findRecord(db, attempt) : await ensureRecord(db, attempt)
  crashPoint('launch.after-record')
  if (record.isBlocked) throw refusals.containerBlocked(record.blockedAt)
  return record
}

async function findRecord(db: Db, { user, template }: LaunchAttempt): Promise<UserContainer> {
  const record = await findContainer(db, user.id, template.type)
  if (!record) throw refusals.containerDeleted()
  // Its owner, or a manager, may have stopped it while the restore waited for that stop.
  if (!record.runningSince) throw refusals.launchStopped()
  return record
}

async function ensureRecord(db: Db, { user, template, now }: LaunchAttempt): Promise<UserContainer> {
  try {
    return await ensureContainer(db, user.id, template.type, template.image, now)
  } catch (error) {
    // A record needs its user.
    throw (await findUser(db, user.id)) ? error : refusals.userGone()
  }
}

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
