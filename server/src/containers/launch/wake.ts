import {
  isWakeable,
  unavailable,
  type ControlPlane,
  type Explanation,
  type Unavailable,
  type WakeRight,
} from '@berth/gateway/port/gateway.ts'
import { localizeInAll } from '@berth/texts/localize.ts'
import type { Activity } from '#/containers/idle/activity.ts'
import { isAddress, type ContainerState } from '#/containers/routes/container-state.ts'
import type { RouteSync } from '#/containers/routes/route-sync.ts'
import type { Runtime } from '#/engines/runtime.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { SingleFlight } from '#/machine/single-flight.ts'
import { withTimeout } from '#/machine/try-or-log.ts'
import { Refusal } from '#/refusals/errors.ts'
import { containerKey, type ContainerRef } from '#/store/user-containers.ts'
import type { Templates } from '#/templates/template.ts'
import type { AdmissionControl } from './admission-control.ts'
import type { CrashLoops } from './crash-loops.ts'
import { hasExited } from './launch-failure.ts'
import type { Spawner } from './spawner.ts'

/** Timeout of a request that waits for a wake, in ms; the start continues after that. */
const wakeTimeout = 60_000
/** Timeout of an explanation, in ms; details that are missing then are left out. */
const explainTimeout = 2_500
const maxLines = 20
/** Min interval between two inspects of a container that did not answer, in ms. */
const minSuspectInterval = 1_000
const maxSuspects = 10_000

export interface WakeParts {
  readonly runtime: Pick<Runtime, 'logs'>
  readonly templates: Templates
  readonly singleFlight: SingleFlight
  readonly routeSync: RouteSync
  readonly spawner: Pick<Spawner, 'wakeLocked'>
  readonly admission: Pick<AdmissionControl, 'promote'>
  readonly crashLoops: Pick<CrashLoops, 'mayStart'>
  readonly activity: Pick<Activity, 'used' | 'isSilent'>
  readonly report: (error: unknown, what: string) => void
}

/** Wake (cold start): has suspended containers started for the gateway, and explains why a container cannot be reached. */
export class Wake implements Pick<ControlPlane, 'explain' | 'reportUnreachable'> {
  readonly #parts: WakeParts
  readonly #suspectedAt = new Map<string, number>()

  constructor(parts: WakeParts) {
    this.#parts = parts
  }

  /**
   * Behind a stop in progress, and together with all other requests that wake it (single-flight). A start that is refused, such as
   * by a limit, is answered in the words in which a launch is refused. As `ControlPlane.wake`.
   * @param asked the right of who asks
   */
  async wake(prefix: string, asked: WakeRight = 'start'): Promise<Unavailable | undefined> {
    const { routeSync, singleFlight, admission, activity, report } = this.#parts
    const known = routeSync.findByPrefix(prefix)
    if (!known) return unavailable('missing')
    const right = activity.isSilent(known) ? (ofSilent[asked] ?? asked) : asked
    if (!mayCause.has(right)) return this.#absenceOf(known)
    if (mayStart(known, right)) admission.promote(known)
    const waking = singleFlight.run<Woken>(containerKey(known), `wake: ${right}`, (answer) =>
      this.#wakeExclusive(known, right, answer),
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
   * What it may cause is decided here: a stop by request may have been in progress when the request came.
   * @param answer answers waiting requests; only notes are left to do then
   */
  async #wakeExclusive(owned: ContainerRef, right: WakeRight, answer: (woken: Woken) => void): Promise<Woken> {
    const { routeSync, spawner, templates, crashLoops, activity } = this.#parts
    const before = routeSync.get(owned)
    // The container may have ended a moment ago, with the inspect still in progress.
    if (before) await routeSync.settled(before)
    const known = routeSync.get(owned)
    if (known && !known.isBlocked && isRunning(routeSync, known)) await routeSync.republishKnown(known)
    if (!known || known.isBlocked || !mayBeWoken(routeSync, known)) return {}
    if (!mayStart(known, right) && !isPaused(known)) return {}
    if (!isPaused(known) && !crashLoops.mayStart(known)) return { instead: unavailable('crashed', exitCodeOf(known)) }
    const [user, template] = [routeSync.gatewayUserOf(known), templates.get(known.type)]
    if (!user || !template) return {}
    const onRunning = () => {
      activity.used(known, Date.now())
      answer(this.#outcomeOf(known, undefined))
    }
    try {
      await spawner.wakeLocked({ ...user, id: user.userId }, template, {
        known,
        mayStart: mayStart(known, right),
        onRunning,
      })
    } catch (error) {
      return this.#outcomeOf(known, error)
    }
    return this.#outcomeOf(known, undefined)
  }

  /**
   * The route of a container whose start was refused says that it sleeps; why it stays so is in the refusal alone. After a failure
   * the published route has the cause.
   * @param error of the start, if any @throws it when the route cannot have the cause: store or engine do not answer
   */
  #outcomeOf(known: ContainerState, error: unknown): Woken {
    const state = this.#absenceOf(known)
    if (error instanceof Refusal) return state ? { instead: { ...state, refusal: localizeInAll(error.sentence) } } : {}
    if (error === undefined) return {}
    if (!(error instanceof RuntimeError) || error.kind === 'unreachable') throw error
    this.#parts.report(error, 'waking a container')
    return {}
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

/** What a poll may cause: of an application that does not say whether it is used, all traffic counts as use. */
const ofSilent: Partial<Record<WakeRight, WakeRight>> = { poll: 'use', 'visitor-poll': 'resume' }

/** Rights by which something happens at all. */
const mayCause: ReadonlySet<WakeRight> = new Set(['start', 'use', 'resume'])

const mayStart = ({ isStopRequested }: ContainerState, right: WakeRight) =>
  right === 'start' || (right === 'use' && !isStopRequested)

const isPaused = ({ seen }: ContainerState) => seen !== undefined && seen !== 'gone' && seen.state === 'paused'

const exitCodeOf = ({ seen }: ContainerState) => (seen && seen !== 'gone' ? seen.exitCode : null)
