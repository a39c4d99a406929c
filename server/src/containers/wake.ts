import { allDone, within } from '#/attempt.ts'
import { Refusal } from '#/errors.ts'
import type { Absence, Address, ControlPlane, Explanation } from '#/gateway/gateway.ts'
import { RuntimeError, type Instance, type Runtime } from '#/runtime/runtime.ts'
import type { Database } from '#/store/database.ts'
import { noteStopped } from '#/store/user-containers.ts'
import { findUser } from '#/store/users.ts'
import type { Activity } from './activity.ts'
import type { Admission } from './admission.ts'
import { blockedGrace, blockOf } from './block-of.ts'
import type { CrashLoops } from './crash-loops.ts'
import { hasEnded } from './early-end.ts'
import type { Flights } from './flights.ts'
import { absence, isThere, type KnownContainer } from './known-container.ts'
import type { LaunchChecks } from './launch-checks.ts'
import { explainFailure, failedStage } from './launch-failure.ts'
import { ownedKey, type OwnedType } from './owned-type.ts'
import type { Places } from './places.ts'
import type { Spawner } from './spawner.ts'
import type { Stages } from './stages.ts'
import { isImageOld, isUpToDate } from './starter.ts'
import type { Template, Templates } from './template.ts'

/** How long somebody waits for a container, in ms; it goes on starting after that. */
const wakeLimit = 60_000
/** How long an explanation may take, in ms; what is missing then is left out. */
const explainLimit = 2_500
const mostLines = 20
/** Between two looks at a container that did not answer, in ms. */
const suspectEvery = 1_000
const mostSuspects = 10_000

export interface WakeParts {
  readonly runtime: Runtime
  readonly database: Database
  readonly templates: Templates
  readonly flights: Flights
  readonly places: Places
  readonly spawner: Spawner
  readonly checks: LaunchChecks
  readonly admission: Admission
  readonly stages: Stages
  readonly crashLoops: CrashLoops
  readonly activity: Activity
  readonly report: (error: unknown, what: string) => void
}

/** What the gateway asks about a container that it cannot reach. */
export class Wake implements Pick<ControlPlane, 'wake' | 'explain' | 'suspect'> {
  readonly #parts: WakeParts
  readonly #suspectedAt = new Map<string, number>()

  constructor(parts: WakeParts) {
    this.#parts = parts
  }

  /** In the container's turn: behind a stop that is under way, together with everybody else who wakes it. */
  async wake(prefix: string): Promise<Absence | undefined> {
    const { places, flights, admission, report } = this.#parts
    const known = places.find(prefix)
    if (!known) return absence('missing')
    admission.promote(known)
    const flight = flights.join<Woken>(ownedKey(known), 'wake', (answer) => this.#wakeInFlight(known, answer))
    // Whoever stops waiting leaves the flight without a listener.
    flight.catch((error: unknown) => report(error, 'waking a container'))
    const woken = await within(wakeLimit, flight)
    return woken?.instead ?? this.#whyNot(known, woken ? undefined : absence('asleep'))
  }

  async explain(prefix: string): Promise<Explanation> {
    const { places, templates } = this.#parts
    const known = places.find(prefix)
    if (!known) return { absence: absence('missing'), lastLines: [], displayName: '' }
    const [lastLines] = await Promise.all([
      within(explainLimit, this.#lastLines(known)),
      within(explainLimit, places.look(known)),
    ])
    const displayName = templates.get(known.type)?.displayName ?? known.type
    return { absence: this.#endOf(known) ?? this.#whyNot(known), lastLines: lastLines ?? [], displayName }
  }

  /** Ended by itself without an error, which its place tells from a stop by nothing but the exit code. */
  #endOf(owned: OwnedType): Absence | undefined {
    const known = this.#parts.places.get(owned)
    if (!known || known.isBlocked || known.wasStopped || !hasEnded(known) || exitCodeOf(known) !== 0) return undefined
    return absence('crashed', 0)
  }

  suspect(prefix: string): void {
    const { places, report } = this.#parts
    const known = places.find(prefix)
    const now = performance.now()
    if (!known || now - (this.#suspectedAt.get(prefix) ?? -suspectEvery) < suspectEvery) return
    if (this.#suspectedAt.size >= mostSuspects) this.#suspectedAt.clear()
    this.#suspectedAt.set(prefix, now)
    places.look(known).catch((error: unknown) => report(error, 'looking at a container that did not answer'))
  }

  /** @param answer lets those go on who wait for it; only what has to be noted is left then */
  async #wakeInFlight(owned: OwnedType, answer: (woken: Woken) => void): Promise<Woken> {
    const { places, admission, crashLoops } = this.#parts
    const before = places.get(owned)
    // It may have ended a moment ago, and not be asleep at all.
    if (before) await places.settled(before)
    const known = places.get(owned)
    if (known && !known.isBlocked && isRunning(places, known)) await places.tellAnew(known)
    if (!known || known.isBlocked || !isWakeable(places, known)) return {}
    if (!isPaused(known) && !crashLoops.mayStart(known)) return { instead: absence('crashed', exitCodeOf(known)) }
    let isNoteDue = false
    try {
      isNoteDue = await this.#startWhatIsThere(known)
      if (!isNoteDue) await this.#launch(known)
    } catch (error) {
      await this.#tellFailure(known, error)
    } finally {
      admission.release(known)
    }
    answer({})
    if (isNoteDue) await this.#note(known)
    return {}
  }

  /**
   * The short way, for the container that is there: no look at name and image, no watching whether the program stays.
   * @returns false when it takes a launch: there is no such container any more, it is of an older template or image, or does not start
   */
  async #startWhatIsThere(known: KnownContainer): Promise<boolean> {
    const { admission, templates, checks, runtime } = this.#parts
    const template = templates.get(known.type)
    const { containerId, seen } = known
    if (containerId === null || !template || !seen || seen === 'gone') return false
    if (!this.#isUpToDate(known, seen, template)) return false
    if (isPaused(known)) return this.#start(known, containerId)
    const refusal = await checks.refusalFor(known.userId, template)
    if (refusal) throw refusal
    const admitted = { owned: known, image: template.image, needsImage: false, isPatient: false }
    return admission.run(
      admitted,
      async () => !(await isImageOld(runtime, seen, template.image)) && this.#start(known, containerId),
    )
  }

  /** The block is looked up while the engine works; one that was stored after that stops it in the next flight. */
  async #start(known: KnownContainer, containerId: string): Promise<boolean> {
    const { database, places, runtime } = this.#parts
    const since = places.now()
    this.#noteStart(known)
    const [isStarted, block] = await allDone([
      isDone(runtime.start(containerId)),
      blockOf(database.db, known.userId, known.type),
    ])
    if (!isStarted) return false
    if (block) {
      await runtime.stop(containerId, undefined, blockedGrace)
      await places.publishContainer(known)
      throw block
    }
    if (isPaused(known)) await places.expect(known, 'running', since)
    else await this.#publishStarted(known)
    return true
  }

  /** What is only unpaused is there before a page could show any stage. */
  #noteStart(known: KnownContainer): void {
    if (isPaused(known)) return
    this.#parts.crashLoops.started(known)
    this.#parts.stages.enter(known, { stage: 'starting' })
  }

  /** The event of the start has often led to a look already, and that one found it. */
  async #publishStarted(known: KnownContainer): Promise<void> {
    const { places, stages } = this.#parts
    await places.settled(known)
    if (!this.#addressOf(known)) await places.look(known)
    stages.started(known, this.#addressOf(known))
  }

  #addressOf(known: KnownContainer): Address | undefined {
    const where = this.#parts.places.placeOf(known)?.where
    return where && isThere(where) ? where : undefined
  }

  #isUpToDate(known: KnownContainer, seen: Instance, template: Template): boolean {
    const { places, spawner } = this.#parts
    const person = places.personOf(known)
    return (
      person !== undefined &&
      isUpToDate(seen, { fingerprint: spawner.fingerprintOf({ ...person, id: person.userId }, template) })
    )
  }

  /** What the gateway shows is told by the place; this is for the owner's open pages. @throws what is no refusal */
  async #tellFailure(known: KnownContainer, error: unknown): Promise<void> {
    const { runtime, stages } = this.#parts
    const explained = error instanceof RuntimeError ? await explainFailure(runtime, error) : error
    stages.enter(known, failedStage(explained))
    if (!(error instanceof Refusal)) throw error
  }

  /** What went wrong is told by the place, which was published, and by the last stage. */
  async #launch(known: KnownContainer): Promise<void> {
    const { database, templates, spawner, report } = this.#parts
    const [template, user] = [templates.get(known.type), await findUser(database.db, known.userId)]
    if (!template || !user) return
    try {
      await spawner.ensureInFlight(user, template, new Date())
    } catch (error) {
      if (!(error instanceof Refusal)) report(error, 'waking a container')
    }
  }

  /** That it was used, and should run from now on. Within the flight, or it could undo a stop that follows. Never throws. */
  async #note(known: KnownContainer): Promise<void> {
    const { activity, database, places, report } = this.#parts
    activity.used(known, Date.now())
    try {
      await noteStopped(database.db, known.userId, known.type, null)
      if (known.wasStopped) await places.publishPerson(known.userId)
    } catch (error) {
      report(error, 'noting that a container was started')
    }
  }

  async #lastLines({ containerId }: KnownContainer): Promise<readonly string[]> {
    if (containerId === null) return []
    // The engine may keep no output, or not answer; there is a page to show all the same.
    return this.#parts.runtime.logs(containerId, mostLines).catch(() => [])
  }

  /** @param otherwise when the place says that it runs */
  #whyNot(owned: OwnedType, otherwise?: Absence): Absence | undefined {
    const { places } = this.#parts
    const known = places.get(owned)
    const where = known && places.placeOf(known)?.where
    if (!known || !where) return absence('missing')
    if (!isThere(where)) return where
    return known.isBlocked || where.isPaused ? absence('asleep') : otherwise
  }
}

/** What became of a wake: what is to be said instead of what its place says. */
interface Woken {
  readonly instead?: Absence
}

/** The gateway asks all the same: it may hold the place still, because what was to end that did not reach it. */
function isRunning(places: Places, known: KnownContainer): boolean {
  const where = places.placeOf(known)?.where
  return where !== undefined && isThere(where) && !where.isPaused
}

function isWakeable(places: Places, known: KnownContainer): boolean {
  const where = places.placeOf(known)?.where
  return where !== undefined && (isThere(where) ? where.isPaused : where.absent === 'asleep')
}

const isPaused = ({ seen }: KnownContainer) => seen !== undefined && seen !== 'gone' && seen.state === 'paused'

const exitCodeOf = ({ seen }: KnownContainer) => (seen && seen !== 'gone' ? seen.exitCode : null)

/** False when the engine says that it cannot. @throws {RuntimeError} when it does not answer */
async function isDone(work: Promise<void>): Promise<boolean> {
  try {
    await work
    return true
  } catch (error) {
    if (error instanceof RuntimeError && error.kind !== 'unreachable') return false
    throw error
  }
}
