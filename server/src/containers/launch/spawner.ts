import { isDeepStrictEqual } from 'node:util'
import pLimit from 'p-limit'
import type { Logger } from 'pino'
import { blockedGrace, checkBlock } from '#/containers/blocked-containers.ts'
import type { ContainerRemoval } from '#/containers/container-removal.ts'
import { isAddress, type ContainerState } from '#/containers/routes/container-state.ts'
import type { RouteSync } from '#/containers/routes/route-sync.ts'
import type { ContainerSpec } from '#/engines/container-spec.ts'
import type { Runtime, RuntimeContainer, StartWait } from '#/engines/runtime.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { crashPoint } from '#/machine/crash-points.ts'
import { traced } from '#/machine/log-context.ts'
import type { SingleFlight } from '#/machine/single-flight.ts'
import { allSettledOrThrow, tryOrLog } from '#/machine/try-or-log.ts'
import { Refusal, refusals } from '#/refusals/errors.ts'
import {
  containerKey,
  findContainer,
  noteStopped,
  storeParameters,
  touchContainer,
  type ContainerRef,
  type UserContainer,
} from '#/store/user-containers.ts'
import type { Database } from '#/store/database.ts'
import type { User } from '#/store/users.ts'
import type { LaunchRules, MountedGroupFolder } from '#/templates/launch-rules.ts'
import { areOthers, type ParameterValues } from '#/templates/parameters.ts'
import type { PutStarterFiles } from '#/templates/starter-files/put-starter-files.ts'
import type { Template } from '#/templates/template.ts'
import type { AdmissionControl, PreLaunchHooks } from './admission-control.ts'
import { containerSpec, type InstallationSettings, type SpecUser } from './build-container-spec.ts'
import type { CrashLoops } from './crash-loops.ts'
import type { GpuNeeds } from './gpu-allocation.ts'
import type { HomeCheck } from './home-check.ts'
import { flightOf, isUnrequested, launchAttempt, ownedBy, recordFor, type LaunchAttempt } from './launch-attempt.ts'
import { LaunchFailure, explainFailure, failedStage, unavailableAfter } from './launch-failure.ts'
import { waitStage, type AppAddress, type LaunchProgress } from './launch-progress.ts'
import type { LaunchSlot } from './launch-queue.ts'
import type { LaunchMetrics } from './load-metrics.ts'
import {
  ContainerStarter,
  canBeStarted,
  hasGpus,
  isImageOutdated,
  isUpToDate,
  type BeforeImage,
  type Start,
  type Step,
} from './container-starter.ts'

export interface SpawnerParts {
  readonly runtime: Runtime
  readonly database: Database
  readonly settings: InstallationSettings
  readonly singleFlight: SingleFlight
  /** Publishes the outcome of every launch before its caller receives it. */
  readonly routeSync: PublishedRoutes
  /** Finishes pending deletions before a new container is created under the same name. */
  readonly removal: Pick<ContainerRemoval, 'finishLocked' | 'withHome'>
  readonly preLaunchHooks: PreLaunchHooks
  readonly rules: Pick<LaunchRules, 'foldersFor'>
  readonly admission: AdmissionControl
  readonly launchProgress: LaunchProgress
  readonly crashLoops: CrashLoops
  readonly starterFiles: Pick<PutStarterFiles, 'run'>
  /** Called before a home gets another image. */
  readonly beforeImage: BeforeImage | undefined
  /** Undefined: nothing is looked at. */
  readonly homeCheck?: HomeCheck
  readonly launchMetrics: Pick<LaunchMetrics, 'launched' | 'failed'>
  readonly log: Logger
}

type PublishedRoutes = Pick<
  RouteSync,
  'publishContainer' | 'publishUser' | 'applyConfirmed' | 'now' | 'settled' | 'inspect' | 'get' | 'routeOf'
>

/** Max look-ups of containers without a slot of the launch queue. */
const maxParallelFinds = 8

/** In ms: who may launch what is asked again after a wait as long as this, and not for launches that have their turn at once. */
const longWait = 1_000
const hasWaited = (since: number) => performance.now() - since >= longWait

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

/** A container that sleeps, and what a request that asks for it may cause. */
export interface Wakeable {
  /** Its state, read in its flight. */
  readonly known: ContainerState
  /** Whether it may be started, or created anew; otherwise it runs again only if it is paused. */
  readonly mayStart: boolean
  /** Called when it runs and its route is published: only notes in the store are left to do then. */
  readonly onRunning: () => void
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
 * - A wake starts the container that is known to sleep, without these look-ups; a launch follows where that is not possible.
 */
export class Spawner {
  readonly #parts: SpawnerParts
  readonly #starter: ContainerStarter
  readonly #findLimit = pLimit(maxParallelFinds)
  /** Containers that a user asked for while an operation on them is in progress; a restore of one has high priority. */
  readonly #requested = new Set<string>()

  constructor(parts: SpawnerParts) {
    this.#parts = parts
    this.#starter = new ContainerStarter(parts)
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
   * Makes a container run that sleeps, for a request to its address; for callers that hold this container's flight. Without
   * `mayStart` one that is not paused, or that its engine refuses to unpause, stays as it is.
   * @throws as `ensureRunning`; a record that was deleted meanwhile is not created again
   */
  async wakeLocked(user: SpecUser, template: Template, wakeable: Wakeable): Promise<void> {
    const attempt = launchAttempt(user, template, new Date(), 'wake')
    return this.#conclude(attempt, async (located) => {
      if (await this.#startAsleep(located, wakeable)) return
      if (wakeable.mayStart) await this.#launch(located)
    })
  }

  /** Serializes launches of one container (single-flight by key); a request joins the launch that is in progress. */
  async #run(attempt: LaunchAttempt): Promise<Running> {
    const owned = ownedBy(attempt)
    const key = containerKey(owned)
    if (!isUnrequested(attempt)) {
      this.#requested.add(key)
      this.#parts.admission.promote(owned)
    }
    return this.#parts.singleFlight.run(key, flightOf(attempt), () =>
      this.#conclude(attempt, (located) => this.#launch(located)),
    )
  }

  /** Reports why a start failed, and gives its capacity back. @param start gets the attempt with its home */
  #conclude<T>(attempt: LaunchAttempt, start: (located: LaunchAttempt) => Promise<T>): Promise<T> {
    const attributes = { 'berth.container_type': attempt.template.type, 'berth.user_id': attempt.user.id }
    return traced(`container ${attempt.kind}`, 'internal', attributes, () => this.#concludeUntraced(attempt, start))
  }

  async #concludeUntraced<T>(attempt: LaunchAttempt, start: (located: LaunchAttempt) => Promise<T>): Promise<T> {
    const { launchProgress, admission, removal } = this.#parts
    const owned = ownedBy(attempt)
    const { user, template } = attempt
    try {
      const owner = { ...owned, slug: user.slug }
      return await removal.withHome(owner, template.home !== null && template.homeSource === null, (home) =>
        start({ ...attempt, home }),
      )
    } catch (error) {
      if (attempt.kind === 'prestart' && error instanceof Refusal) {
        launchProgress.forget(owned)
        throw error
      }
      throw await this.#explained(attempt, error)
    } finally {
      this.#requested.delete(containerKey(owned))
      admission.release(owned)
    }
  }

  /** Publishes to gateway and owner why it does not run. @returns the error with all that is known of its cause */
  async #explained(attempt: LaunchAttempt, error: unknown): Promise<unknown> {
    const { runtime, routeSync, launchProgress, log } = this.#parts
    const owned = ownedBy(attempt)
    const explained = error instanceof RuntimeError ? await explainFailure(runtime, error) : error
    if (explained instanceof LaunchFailure)
      await this.#parts.homeCheck?.runAfterFailure(explained, owned, attempt.template)
    const failure = unavailableAfter(explained)
    if (!isUnchanged(attempt, explained))
      await tryOrLog(log, `publishing that ${owned.type} of user ${owned.userId} did not start`, () =>
        routeSync.publishContainer(owned, failure && { failure }),
      )
    launchProgress.enter(owned, failedStage(explained))
    return explained
  }

  /**
   * Starts, or unpauses, the container that is known to sleep: without a look-up of its name and without start verification.
   * @returns whether it runs; a launch is needed when it is gone, has an older template or image, or its engine refuses to start it
   */
  async #startAsleep(attempt: LaunchAttempt, { known, onRunning }: Wakeable): Promise<boolean> {
    const { runtime, database, routeSync, log } = this.#parts
    const { containerId, seen, hasFullLayer } = known
    if (containerId === null || !seen || seen === 'gone' || hasFullLayer) return false
    if (!canBeStarted(runtime.capabilities, seen, attempt.template)) return false
    const isStarted =
      seen.state === 'paused'
        ? await this.#startKnown(known, containerId)
        : await this.#startStopped(attempt, known, { ...seen, id: containerId })
    if (!isStarted) return false
    onRunning()
    // Within the flight: afterwards it could undo a later stop.
    await tryOrLog(log, 'noting that a container was started', async () => {
      await noteStopped(database.db, known.userId, known.type, null)
      if (known.wasStopped || known.isStopRequested) await routeSync.publishUser(known.userId)
    })
    return true
  }

  async #startStopped(attempt: LaunchAttempt, known: ContainerState, seen: RuntimeContainer): Promise<boolean> {
    const { runtime, admission } = this.#parts
    const { user, template } = attempt
    const folders = await this.#parts.rules.foldersFor(user.id, template)
    const spec = await this.#specOf(attempt, await this.#parametersOf(attempt), folders)
    if (!isUpToDate(seen, spec)) return false
    await this.#requireAllowed(attempt)
    const askedAt = performance.now()
    const gpus = gpuNeeds(template, seen)
    const admitted = { owned: known, image: template.image, needsImage: false, isLowPriority: false, gpus }
    return admission.run(admitted, async (slot, gpuIds) => {
      if (hasWaited(askedAt)) {
        await this.#requireAllowed(attempt)
        // With other folders it has to be made anew, by a launch.
        if (!isDeepStrictEqual(await this.#parts.rules.foldersFor(user.id, template), folders)) return false
      }
      if (!hasGpus(seen, gpuIds) || (await isImageOutdated(runtime, seen, template.image))) return false
      return this.#startKnown(known, seen.id, slot)
    })
  }

  /**
   * The block is looked up while the engine works; one that is stored after that stops it in the next flight.
   * @param slot of the launch queue; a paused container needs none, and runs before a page could show any stage
   * @returns false when the engine refuses @throws the block, after a stop
   */
  async #startKnown(known: ContainerState, id: string, slot?: LaunchSlot): Promise<boolean> {
    const { database, routeSync } = this.#parts
    const since = routeSync.now()
    if (slot) this.#reportStep(known, 'starting')
    const [isStarted, block] = await allSettledOrThrow([
      isDone(this.#starter.start(id, this.#onWait(known), slot)),
      checkBlock(database.db, known.userId, known.type),
    ])
    if (!isStarted) return false
    if (block) await this.#stopBlocked(known, id, block)
    if (slot) await this.#publishStarted(known)
    else await routeSync.applyConfirmed(known, 'running', since)
    return true
  }

  /** The start event has often caused an inspect already, and that one found it. */
  async #publishStarted(known: ContainerState): Promise<void> {
    const { routeSync, launchProgress } = this.#parts
    await routeSync.settled(known)
    if (!this.#publishedAddress(known)) await routeSync.inspect(known)
    launchProgress.started(known, this.#publishedAddress(known))
  }

  #publishedAddress(known: ContainerState): AppAddress | undefined {
    const where = this.#parts.routeSync.routeOf(known)?.where
    return where && isAddress(where) ? where : undefined
  }

  /** What the owner chose; a template without parameters costs no query. */
  async #parametersOf({ user, template }: LaunchAttempt): Promise<ParameterValues> {
    if (Object.keys(template.parameters).length === 0) return {}
    return (await findContainer(this.#parts.database.db, user.id, template.type))?.parameters ?? {}
  }

  /** @throws {RuntimeError} when a secret or mount of the template cannot be looked at */
  async #specOf(
    { user, template, home }: LaunchAttempt,
    parameters: ParameterValues,
    folders: readonly MountedGroupFolder[],
  ): Promise<ContainerSpec> {
    const { settings } = this.#parts
    const owner = { userId: user.id, slug: user.slug }
    await settings.sources?.whenAnswering(template, owner)
    await settings.sources?.makeHome(template, owner)
    return containerSpec(user, template, settings, parameters, { home, folders })
  }

  /** Makes it run, whatever exists of it, and publishes its route. */
  async #launch(attempt: LaunchAttempt): Promise<Running> {
    const { routeSync, launchProgress, launchMetrics } = this.#parts
    const owned = ownedBy(attempt)
    try {
      const { container, isStarted, record } = await this.#makeRun(attempt)
      const app = appOf(container)
      const firstProbe = isStarted ? launchProgress.probe(owned, app) : undefined
      await routeSync.publishContainer(owned, { failure: undefined })
      if (isStarted) launchProgress.started(owned, app, firstProbe)
      if (isStarted) await this.#parts.homeCheck?.run(record, container.id, attempt.template)
      if (isStarted) launchMetrics.launched(isUnrequested(attempt) ? undefined : performance.now() - attempt.begun)
      return { containerId: container.id }
    } catch (error) {
      if (isFailure(error)) launchMetrics.failed()
      throw error
    }
  }

  /** The record first, then the engine. */
  async #makeRun(
    attempt: LaunchAttempt,
  ): Promise<{ container: RuntimeContainer; isStarted: boolean; record: UserContainer }> {
    const { user, template, now, kind } = attempt
    const { removal, database, rules } = this.#parts
    await removal.finishLocked({ userId: user.id, slug: user.slug, type: template.type })
    const record = await recordFor(database.db, attempt)
    const parameters = { ...record.parameters, ...attempt.chosen }
    const isChanged = areOthers(template.parameters, record.parameters, parameters)
    const folders = await rules.foldersFor(user.id, template)
    const spec = await this.#specOf(attempt, parameters, folders)
    const onStep = (step: Step) => this.#reportStep(spec.owner, step)
    const onWait = this.#onWait(spec.owner)
    const credentials = this.#parts.settings.sources?.credentialsOf(template)
    const start = {
      record,
      spec,
      credentials,
      files: template.files,
      folders,
      requestedAt: attempt.begun,
      onStep,
      onWait,
    }
    const found = await this.#findExisting(start)
    const isReplaced = kind === 'replace' || isChanged
    const adopted = isReplaced ? undefined : await this.#adopt(start, found)
    if (adopted) await this.#keepParameters(attempt, record)
    const container = adopted ?? (await this.#startAdmitted({ attempt, start, found, isReplaced, isChanged }))
    const block = await checkBlock(database.db, user.id, template.type)
    if (block) await this.#stopBlocked(record, container.id, block)
    const isStarted = found?.state !== 'running' || isReplaced
    if (isUnrequested(attempt)) await noteStopped(database.db, user.id, template.type, null)
    else await touchContainer(database.db, record.id, now, isStarted)
    crashPoint('launch.before-answer')
    return { container, isStarted, record }
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
    if (found && isReachable(this.#parts.runtime, found)) return this.#starter.adopt(start, found)
    return found?.state === 'paused' ? this.#starter.tryToStart(start, found) : undefined
  }

  async #startAdmitted(admittedStart: AdmittedStart): Promise<RuntimeContainer> {
    const { attempt, start: requested, found, isReplaced, isChanged } = admittedStart
    const { template, kind } = attempt
    const isUp = found?.state === 'running' || found?.state === 'paused'
    const isLaunch = !isUp && kind !== 'restore'
    if (isLaunch) await this.#requireAllowed(attempt)
    const askedAt = performance.now()
    const admitted = {
      owned: requested.spec.owner,
      image: template.image,
      needsImage: isReplaced || this.#needsNew(requested, found),
      // A user may have asked before the restore was queued, when there was nothing to promote yet.
      isLowPriority: isUnrequested(attempt) && !this.#requested.has(containerKey(requested.spec.owner)),
      isRestore: kind === 'restore',
      gpus: gpuNeeds(template, found ?? this.#parts.routeSync.get(requested.spec.owner)?.seen),
    }
    return this.#parts.admission.run(admitted, async (slot, gpuIds) => {
      if (isLaunch && hasWaited(askedAt)) await this.#requireAllowed(attempt)
      const allowed = hasWaited(askedAt) ? await this.#withFoldersOfNow(admittedStart) : requested
      const start = gpuIds ? { ...allowed, spec: { ...allowed.spec, gpuIds } } : allowed
      if (isChanged || isReplaced) await this.#starter.fetchImage(start, slot)
      // A container with other parameters must not be used again, so a failure to remove it ends this launch.
      const removed = isChanged ? await this.#starter.remove(start) : isReplaced && (await this.#removeOld(start))
      await this.#keepParameters(attempt, start.record)
      const now = await this.#starter.find(start)
      if (now && isReachable(this.#parts.runtime, now)) return this.#starter.adopt(start, now)
      const started = now && (await this.#starter.tryToStart(start, now, slot))
      if (started) return started
      // The launch was admitted to start what exists: for that the disk of the engine does not count.
      const shortage = admitted.needsImage ? undefined : this.#parts.admission.creationRefusal()
      if (shortage) throw shortage
      return this.#starter.createAndStart(start, now, now?.imageId ?? (removed || undefined), slot)
    })
  }

  /** Asked before a launch waits, and again when it has waited long: who has left the group meanwhile gets none of its types. @throws {Refusal} */
  async #requireAllowed({ user, template }: LaunchAttempt): Promise<void> {
    const refusal = await this.#parts.preLaunchHooks.refusalFor(user.id, template)
    if (refusal) throw refusal
  }

  /** A folder that is no more theirs, since the launch was asked for, is not mounted. */
  async #withFoldersOfNow({ attempt, start }: AdmittedStart): Promise<Start> {
    const folders = await this.#parts.rules.foldersFor(attempt.user.id, attempt.template)
    if (isDeepStrictEqual(folders, start.folders)) return start
    const spec = await this.#specOf(attempt, { ...start.record.parameters, ...attempt.chosen }, folders)
    return { ...start, spec, folders }
  }

  /**
   * Whether a new container has to be created, as far as is known without asking the engine: a look at each of a thousand stopped
   * ones would slow it.
   */
  #needsNew({ record, spec, files }: Start, found: RuntimeContainer | undefined): boolean {
    const { runtime, routeSync } = this.#parts
    if (record.containerId === null || record.image !== spec.image || record.fullLayer !== null) return true
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

  /** Blocking does not wait for a start in progress; so each start looks the block up again. @throws the block */
  async #stopBlocked(owned: ContainerRef, id: string, block: Refusal): Promise<never> {
    const { database, runtime, routeSync, log } = this.#parts
    // A block holds also while the store can be read and not written.
    await tryOrLog(log, 'storing that a container is stopped', () =>
      noteStopped(database.db, owned.userId, owned.type, new Date(), 'block'),
    )
    await runtime.stop(id, undefined, blockedGrace)
    await routeSync.publishContainer(owned)
    throw block
  }

  #reportStep(owned: ContainerRef, step: Step): void {
    if (step === 'starting') this.#parts.crashLoops.started(owned)
    this.#parts.launchProgress.enter(owned, { stage: step })
  }

  /** What the start waits for, as its owner reads it. */
  #onWait(owned: ContainerRef): (wait: StartWait) => void {
    return (wait) => this.#parts.launchProgress.enter(owned, waitStage(wait))
  }
}

/** @param seen the container that there is, which has had some already */
const gpuNeeds = ({ gpus }: Template, seen: ContainerState['seen']): GpuNeeds => ({
  count: gpus,
  before: (seen && seen !== 'gone' && seen.gpuIds) || [],
})

/** A refusal of the user's own request (blocked, cancelled) is no failure of the launch. */
const isFailure = (error: unknown) => !(error instanceof Refusal) || error.status >= 500

/**
 * Whether a start ended before anything was changed. An inspect for each of a thousand launches without capacity would cost too much,
 * and a wake that is refused is asked for again by every request of an open page.
 */
const isUnchanged = ({ kind }: LaunchAttempt, error: unknown) =>
  error instanceof Refusal && (kind === 'wake' || error.extra.reason === 'full')

/** False when the engine refuses. @throws {RuntimeError} when it does not answer */
async function isDone(work: Promise<void>): Promise<boolean> {
  try {
    await work
    return true
  } catch (error) {
    if (error instanceof RuntimeError && error.kind !== 'unreachable') return false
    throw error
  }
}

/**
 * Whether a container runs where the gateway can reach it: one that was disconnected from its network never answers,
 * until a start connects it again. A pod that has just begun to run may have no address yet.
 */
const isReachable = ({ capabilities }: Pick<Runtime, 'capabilities'>, found: RuntimeContainer): boolean =>
  found.state === 'running' && (found.address !== null || !capabilities.keepsStopped)

const appOf = ({ address, port }: RuntimeContainer) =>
  address === null || port === null ? undefined : { host: address, port }
