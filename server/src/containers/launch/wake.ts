import {
  isWakeable,
  unavailable,
  type ControlPlane,
  type Explanation,
  type Unavailable,
  type UpstreamAddress,
  type WakeRight,
} from '@berth/gateway/port/gateway.ts'
import { localizeInAll } from '@berth/texts/localize.ts'
import { blockedGrace, checkBlock } from '#/containers/blocked-containers.ts'
import type { Activity } from '#/containers/idle/activity.ts'
import { isAddress, type ContainerState } from '#/containers/routes/container-state.ts'
import type { RouteSync } from '#/containers/routes/route-sync.ts'
import type { Runtime, RuntimeContainer } from '#/engines/runtime.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { SingleFlight } from '#/machine/single-flight.ts'
import { allSettledOrThrow, withTimeout } from '#/machine/try-or-log.ts'
import { Refusal } from '#/refusals/errors.ts'
import { containerKey, findContainer, noteStopped, type ContainerRef } from '#/store/user-containers.ts'
import type { Database } from '#/store/database.ts'
import { findUser } from '#/store/users.ts'
import type { ParameterValues } from '#/templates/parameters.ts'
import type { Template, Templates } from '#/templates/template.ts'
import type { AdmissionControl } from './admission-control.ts'
import type { CrashLoops } from './crash-loops.ts'
import { explainFailure, failedStage, hasExited } from './launch-failure.ts'
import { waitStage, type LaunchProgress } from './launch-progress.ts'
import type { LaunchSlot } from './launch-queue.ts'
import type { PreLaunchHooks, Spawner } from './spawner.ts'
import { canBeStarted, isImageOutdated, isUpToDate } from './starter.ts'

/** Timeout of a request that waits for a wake, in ms; the start continues after that. */
const wakeTimeout = 60_000
/** Timeout of an explanation, in ms; details that are missing then are left out. */
const explainTimeout = 2_500
const maxLines = 20
/** Min interval between two inspects of a container that did not answer, in ms. */
const minSuspectInterval = 1_000
const maxSuspects = 10_000

export interface WakeParts {
  readonly runtime: Runtime
  readonly database: Database
  readonly templates: Templates
  readonly singleFlight: SingleFlight
  readonly routeSync: RouteSync
  readonly spawner: Spawner
  readonly preLaunchHooks: PreLaunchHooks
  readonly admission: AdmissionControl
  readonly launchProgress: LaunchProgress
  readonly crashLoops: CrashLoops
  readonly activity: Activity
  readonly report: (error: unknown, what: string) => void
}

/** Wake (cold start): starts suspended containers for the gateway, and explains why a container cannot be reached. */
export class Wake implements Pick<ControlPlane, 'explain' | 'reportUnreachable'> {
  readonly #parts: WakeParts
  readonly #suspectedAt = new Map<string, number>()

  constructor(parts: WakeParts) {
    this.#parts = parts
  }

  /**
   * Behind a stop in progress, and together with all other requests that wake it (single-flight). A start that is refused, such as
   * by a limit, is answered in the words in which a launch is refused. As `ControlPlane.wake`.
   */
  async wake(prefix: string, right: WakeRight = 'start'): Promise<Unavailable | undefined> {
    const { routeSync, singleFlight, admission, report } = this.#parts
    const known = routeSync.findByPrefix(prefix)
    if (!known) return unavailable('missing')
    const mayStart = right !== 'resume'
    if (mayStart) admission.promote(known)
    const waking = singleFlight.run<Woken>(containerKey(known), mayStart ? 'wake' : 'resume', (answer) =>
      this.#wakeExclusive(known, mayStart, answer),
    )
    // After its timeout a request no longer awaits the flight; its failure is reported here.
    waking.catch((error: unknown) => report(error, 'waking a container'))
    const woken = await withTimeout(wakeTimeout, waking)
    return woken?.instead ?? this.#absenceOf(known, woken ? undefined : unavailable('asleep'))
  }

  async explain(prefix: string): Promise<Explanation> {
    const { routeSync, templates } = this.#parts
    const known = routeSync.findByPrefix(prefix)
    if (!known) return { unavailable: unavailable('missing'), lastLines: [], displayName: '' }
    const [lastLines] = await Promise.all([
      withTimeout(explainTimeout, this.#lastLines(known)),
      withTimeout(explainTimeout, routeSync.inspect(known)),
    ])
    const displayName = templates.get(known.type)?.displayName ?? known.type
    return { unavailable: this.#endOf(known) ?? this.#absenceOf(known), lastLines: lastLines ?? [], displayName }
  }

  /** Why its program ended without an error: its route shows that like a stop, except for the exit code. */
  #endOf(owned: ContainerRef): Unavailable | undefined {
    const known = this.#parts.routeSync.get(owned)
    if (!known || known.isBlocked || known.wasStopped || !hasExited(known) || exitCodeOf(known) !== 0) return undefined
    return unavailable('crashed', 0)
  }

  reportUnreachable(prefix: string): void {
    const { routeSync, report } = this.#parts
    const known = routeSync.findByPrefix(prefix)
    const now = performance.now()
    if (!known || now - (this.#suspectedAt.get(prefix) ?? -minSuspectInterval) < minSuspectInterval) return
    if (this.#suspectedAt.size >= maxSuspects) this.#suspectedAt.clear()
    this.#suspectedAt.set(prefix, now)
    routeSync.inspect(known).catch((error: unknown) => report(error, 'looking at a container that did not answer'))
  }

  /**
   * @param mayStart otherwise it is left as it is unless it is paused
   * @param answer answers waiting requests; only notes are left to do then
   */
  async #wakeExclusive(owned: ContainerRef, mayStart: boolean, answer: (woken: Woken) => void): Promise<Woken> {
    const { routeSync, admission, crashLoops } = this.#parts
    const before = routeSync.get(owned)
    // The container may have ended a moment ago, with the inspect still in progress.
    if (before) await routeSync.settled(before)
    const known = routeSync.get(owned)
    if (known && !known.isBlocked && isRunning(routeSync, known)) await routeSync.republishKnown(known)
    if (!known || known.isBlocked || !mayBeWoken(routeSync, known)) return {}
    if (!mayStart && !isPaused(known)) return {}
    if (!isPaused(known) && !crashLoops.mayStart(known)) return { instead: unavailable('crashed', exitCodeOf(known)) }
    let isNoteDue = false
    let refusal: Refusal | undefined
    try {
      isNoteDue = await this.#startExisting(known)
      if (!isNoteDue && mayStart) refusal = await this.#launch(known)
    } catch (error) {
      await this.#publishFailure(known, error)
      if (error instanceof Refusal) refusal = error
    } finally {
      admission.release(known)
    }
    const woken = this.#outcomeOf(known, refusal)
    answer(woken)
    if (isNoteDue) await this.#note(known)
    return woken
  }

  /** The route of a container whose start was refused says that it sleeps; why it stays so is in the refusal alone. */
  #outcomeOf(known: ContainerState, refusal: Refusal | undefined): Woken {
    const state = this.#absenceOf(known)
    if (!refusal || !state) return {}
    return { instead: { ...state, refusal: localizeInAll(refusal.sentence) } }
  }

  /**
   * Fast path for an existing container: no look-up of name and image, no start verification.
   * @returns false when a launch is needed: the container is gone, has an older template or image, or does not start
   */
  async #startExisting(known: ContainerState): Promise<boolean> {
    const { admission, templates, preLaunchHooks, runtime } = this.#parts
    const template = templates.get(known.type)
    const { containerId, seen } = known
    if (containerId === null || !template || !seen || seen === 'gone') return false
    if (!canBeStarted(runtime.capabilities, seen, template)) return false
    if (!(await this.#isUpToDate(known, seen, template))) return false
    if (isPaused(known)) return this.#start(known, containerId)
    const refusal = await preLaunchHooks.refusalFor(known.userId, template)
    if (refusal) throw refusal
    const admitted = { owned: known, image: template.image, needsImage: false, isLowPriority: false }
    return admission.run(
      admitted,
      async (slot) => !(await isImageOutdated(runtime, seen, template.image)) && this.#start(known, containerId, slot),
    )
  }

  /**
   * The block is looked up while the engine works; a block that is stored after that stops it in the next flight.
   * @param slot of the launch queue; a paused container has none
   */
  async #start(known: ContainerState, containerId: string, slot?: LaunchSlot): Promise<boolean> {
    const { database, routeSync, runtime } = this.#parts
    const since = routeSync.now()
    this.#noteStart(known)
    const [isStarted, block] = await allSettledOrThrow([
      isDone(this.#startOnEngine(known, containerId, slot)),
      checkBlock(database.db, known.userId, known.type),
    ])
    if (!isStarted) return false
    if (block) {
      await runtime.stop(containerId, undefined, blockedGrace)
      await routeSync.publishContainer(known)
      throw block
    }
    if (isPaused(known)) await routeSync.applyConfirmed(known, 'running', since)
    else await this.#publishStarted(known)
    return true
  }

  /** While the start waits, as for a node, others have the slot, and its owner can cancel it and reads what it waits for. */
  async #startOnEngine(known: ContainerState, containerId: string, slot: LaunchSlot | undefined): Promise<void> {
    const { runtime, launchProgress } = this.#parts
    if (!slot) return runtime.start(containerId)
    return slot.start(({ signal, onWait }) =>
      runtime.start(containerId, signal, (wait) => {
        onWait(wait)
        launchProgress.enter(known, waitStage(wait))
      }),
    )
  }

  /** An unpaused container answers before a page could show any stage. */
  #noteStart(known: ContainerState): void {
    if (isPaused(known)) return
    this.#parts.crashLoops.started(known)
    this.#parts.launchProgress.enter(known, { stage: 'starting' })
  }

  /** The start event has often caused an inspect already, and that one found it. */
  async #publishStarted(known: ContainerState): Promise<void> {
    const { routeSync, launchProgress } = this.#parts
    await routeSync.settled(known)
    if (!this.#addressOf(known)) await routeSync.inspect(known)
    launchProgress.started(known, this.#addressOf(known))
  }

  #addressOf(known: ContainerState): UpstreamAddress | undefined {
    const where = this.#parts.routeSync.routeOf(known)?.where
    return where && isAddress(where) ? where : undefined
  }

  async #isUpToDate(known: ContainerState, seen: RuntimeContainer, template: Template): Promise<boolean> {
    const { routeSync, spawner } = this.#parts
    const user = routeSync.gatewayUserOf(known)
    if (user === undefined) return false
    // A paused container is kept as it is, whatever its template's mounts are now.
    if (seen.state === 'paused') return true
    const chosen = await this.#parametersOf(known, template)
    await spawner.whenSourcesAnswer(template)
    return isUpToDate(seen, { fingerprint: spawner.fingerprintOf({ ...user, id: user.userId }, template, chosen) })
  }

  /** What the owner chose; a template without parameters costs no query. */
  async #parametersOf({ userId, type }: ContainerState, { parameters }: Template): Promise<ParameterValues> {
    if (Object.keys(parameters).length === 0) return {}
    return (await findContainer(this.#parts.database.db, userId, type))?.parameters ?? {}
  }

  /** The route has what the gateway shows; this is for the owner's open pages. @throws any error that is no refusal */
  async #publishFailure(known: ContainerState, error: unknown): Promise<void> {
    const { runtime, launchProgress } = this.#parts
    const explained = error instanceof RuntimeError ? await explainFailure(runtime, error) : error
    launchProgress.enter(known, failedStage(explained))
    if (!(error instanceof Refusal)) throw error
  }

  /** The published route and the last stage have the cause of a failure. @returns why it was refused, if it was */
  async #launch(known: ContainerState): Promise<Refusal | undefined> {
    const { database, templates, spawner, report } = this.#parts
    const [template, user] = [templates.get(known.type), await findUser(database.db, known.userId)]
    if (!template || !user) return undefined
    try {
      await spawner.ensureRunningLocked(user, template, new Date())
    } catch (error) {
      if (error instanceof Refusal) return error
      report(error, 'waking a container')
    }
    return undefined
  }

  /** Notes the use, and that it should run. Within the flight, or it could undo a later stop. Never throws. */
  async #note(known: ContainerState): Promise<void> {
    const { activity, database, routeSync, report } = this.#parts
    activity.used(known, Date.now())
    try {
      await noteStopped(database.db, known.userId, known.type, null)
      if (known.wasStopped) await routeSync.publishUser(known.userId)
    } catch (error) {
      report(error, 'noting that a container was started')
    }
  }

  async #lastLines({ containerId }: ContainerState): Promise<readonly string[]> {
    if (containerId === null) return []
    // The engine may keep no output, or not answer; the page is shown without it.
    return this.#parts.runtime.logs(containerId, maxLines).catch(() => [])
  }

  /** @param otherwise result when the route says that it runs */
  #absenceOf(owned: ContainerRef, otherwise?: Unavailable): Unavailable | undefined {
    const { routeSync } = this.#parts
    const known = routeSync.get(owned)
    const where = known && routeSync.routeOf(known)?.where
    if (!known || !where) return unavailable('missing')
    if (!isAddress(where)) return where
    return known.isBlocked || where.isPaused ? unavailable('asleep') : otherwise
  }
}

/** Outcome of a wake: what to answer instead of the route's state. */
interface Woken {
  readonly instead?: Unavailable
}

/** The gateway may hold a route that runs already, because the message that ends the hold did not reach it. */
function isRunning(routeSync: RouteSync, known: ContainerState): boolean {
  const where = routeSync.routeOf(known)?.where
  return where !== undefined && isAddress(where) && !where.isPaused
}

function mayBeWoken(routeSync: RouteSync, known: ContainerState): boolean {
  const where = routeSync.routeOf(known)?.where
  return where !== undefined && (isAddress(where) ? where.isPaused : isWakeable(where))
}

const isPaused = ({ seen }: ContainerState) => seen !== undefined && seen !== 'gone' && seen.state === 'paused'

const exitCodeOf = ({ seen }: ContainerState) => (seen && seen !== 'gone' ? seen.exitCode : null)

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
