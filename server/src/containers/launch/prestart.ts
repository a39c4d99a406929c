import { setTimeout as sleep } from 'node:timers/promises'
import pLimit from 'p-limit'
import type { Logger } from 'pino'
import type { AdmissionControl } from './admission-control.ts'
import type { Spawner } from './spawner.ts'
import type { RuntimeCapabilities } from '#/engines/runtime.ts'
import { Refusal } from '#/refusals/errors.ts'
import { containerKey, type ContainerRef } from '#/store/user-containers.ts'
import type { User } from '#/store/users.ts'
import type { LaunchRules } from '#/templates/launch-rules.ts'
import { nextTimeOfDay, type Template, type Templates } from '#/templates/template.ts'
import type { Activity } from '#/containers/idle/activity.ts'
import type { IdleSuspension } from '#/containers/idle/idle-suspension.ts'

/** Between two checks, in ms. */
const timesCheckInterval = 10_000
/** Users who used a container of the type within this time, in ms, get theirs started ahead. */
const recentUse = 7 * 86_400_000
const pageSize = 100

export interface PrestartTimesParts {
  readonly templates: Templates
  readonly prestart: Pick<Prestart, 'run'>
  /** Users who used a container of this type since then, by id, after the last of the page before. */
  readonly usersOf: (type: string, since: Date, page: { after: number; limit: number }) => Promise<User[]>
  /** Makes sure that the engine has the image of a template. */
  readonly fetchImage: (template: Template, signal: AbortSignal) => Promise<void>
  /** Time zone of `prestart_at` where a template names none. */
  readonly timeZone: string
  readonly now: () => number
  readonly log: Pick<Logger, 'info' | 'warn'>
}

/** Starts containers at `prestart_at`. Without such a template there is no timer, no query and no call to the engine. */
export class PrestartTimes {
  readonly #parts: PrestartTimesParts
  #timer: NodeJS.Timeout | undefined
  #checkedAt = 0
  #stopping = new AbortController()

  constructor(parts: PrestartTimesParts) {
    this.#parts = parts
  }

  /** Starts, or goes on after the templates changed: what is under way goes on, too, by the new ones. */
  start(): void {
    const { templates, now } = this.#parts
    const wasRunning = this.#timer !== undefined
    clearInterval(this.#timer)
    this.#timer = undefined
    if (!templates.all().some(({ prestartAt }) => prestartAt !== null)) return
    if (this.#stopping.signal.aborted) this.#stopping = new AbortController()
    if (!wasRunning) this.#checkedAt = now()
    this.#timer = setInterval(() => this.check(), timesCheckInterval)
    this.#timer.unref()
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#stopping.abort()
  }

  /** Starts what has become due since the last check. */
  check(): void {
    const { templates, timeZone, now } = this.#parts
    const [from, to] = [this.#checkedAt, now()]
    this.#checkedAt = to
    for (const template of templates.all()) {
      const { prestartAt } = template
      if (prestartAt && nextTimeOfDay(prestartAt.minutes, prestartAt.zone ?? timeZone, from) <= to)
        void this.#startAll(template, this.#stopping.signal)
    }
  }

  /** Never throws. @param first as it is when the time has come; a reload may change it, or end what is under way */
  async #startAll(first: Template, signal: AbortSignal): Promise<void> {
    const { templates, usersOf, prestart, now, log } = this.#parts
    const { type } = first
    const since = new Date(now() - recentUse)
    await this.#fetchImage(first, signal)
    try {
      for (let after = 0; !signal.aborted;) {
        const template = templates.get(type)
        if (!template?.prestartAt) return
        const users = await usersOf(type, since, { after, limit: pageSize })
        const started = await Promise.all(users.map((user) => prestart.run(user, template)))
        const last = users.at(-1)
        if (!last || users.length < pageSize || started.includes(false)) return
        after = last.id
      }
    } catch (error) {
      log.warn({ err: error, type }, 'starting containers at prestart_at failed')
    }
  }

  /** Never throws. */
  async #fetchImage(template: Template, signal: AbortSignal): Promise<void> {
    const { fetchImage, log } = this.#parts
    try {
      await fetchImage(template, signal)
    } catch (error) {
      if (signal.aborted) return
      const { type, image } = template
      log.warn({ err: error, type, image }, 'fetching an image ahead failed; the first launch tries again')
    }
  }
}

/** Containers that are started ahead at the same time; the launch queue serves requests of users first. */
const maxParallel = 2
/** Further ones are not started ahead. */
const maxPending = 2_000
/** Timeout of an app's readiness, in ms; one that is not ready by then is paused all the same. */
const readinessTimeout = 60_000
/** Min time without a byte before a pause, in ms, and the pause between two attempts; the app itself may be younger. */
const quietTime = 1_000
const maxAttempts = 10

/** Refusals that concern every user; a limit of one user or group leaves room for others. */
const forAll: readonly (string | undefined)[] = ['serverFull', 'tooManyLaunches']

/** A container that was paused ahead, and the last use before. */
interface Unused {
  readonly owned: ContainerRef
  readonly usedAt: number
}

export interface PrestartParts {
  readonly templates: Templates
  readonly capabilities: Pick<RuntimeCapabilities, 'pauses'>
  readonly rules: Pick<LaunchRules, 'refusalFor'>
  readonly spawner: Pick<Spawner, 'prestart'>
  readonly admission: Pick<AdmissionControl, 'isUp'>
  readonly activity: Pick<Activity, 'lastOf' | 'usedAt'>
  readonly idleSuspension: Pick<IdleSuspension, 'suspend'>
  readonly isPaused: (owned: ContainerRef) => boolean
  /** Resolves when the app of a container that runs is ready; false at the timeout (ms) or the signal. */
  readonly awaitReady: (owned: ContainerRef, timeout: number, signal: AbortSignal) => Promise<boolean>
  readonly log: Pick<Logger, 'info' | 'warn'>
}

/**
 * Starts containers before their owners ask for them, and pauses them once their app is ready, so that opening one costs an
 * unpause. They respect every limit and block, wait behind all launches that a user asked for, and give way to one for
 * which there is no capacity.
 */
export class Prestart {
  readonly #parts: PrestartParts
  readonly #limit = pLimit(maxParallel)
  readonly #pending = new Set<string>()
  /** Those of the pending ones that their owner asked for meanwhile. */
  readonly #requested = new Set<string>()
  /** Paused ahead and not used since, by `containerKey`, the oldest first. */
  readonly #unused = new Map<string, Unused>()
  readonly #stopping = new AbortController()

  constructor(parts: PrestartParts) {
    this.#parts = parts
  }

  /**
   * A user signs in: starts what templates with `prestart` ask for, behind the answer. The container of the first type, which
   * every sign-in starts, is paused when it was not used by then.
   */
  async afterSignIn<T>(user: User, startPrimary: () => Promise<T>): Promise<T> {
    const { templates, admission } = this.#parts
    const [first, ...others] = templates.all().filter(({ prestart }) => prestart)
    if (!first) return startPrimary()
    const isPrimary = first === templates.first
    const isNew = isPrimary && !admission.isUp({ userId: user.id, type: first.type })
    for (const template of isPrimary ? others : [first, ...others]) void this.run(user, template)
    const started = await startPrimary()
    if (isNew) void this.#inBackground({ userId: user.id, type: first.type }, (owned) => this.#pauseUnused(owned))
    return started
  }

  /**
   * Starts a user's container of this type ahead; nothing to do when it runs, is paused, or is not allowed. Never throws.
   * @returns false when there is no capacity for any user
   */
  async run(user: User, template: Template): Promise<boolean> {
    let hasRoom = true
    await this.#inBackground({ userId: user.id, type: template.type }, async (owned) => {
      const { admission, rules, spawner } = this.#parts
      // What its owner asked for since is theirs: they may have stopped it by now.
      const isTheirs = () => admission.isUp(owned) || this.#requested.has(containerKey(owned))
      if (isTheirs() || (await rules.refusalFor(user, template, new Date())) || isTheirs()) return
      try {
        await spawner.prestart(user, template, new Date())
      } catch (error) {
        // No failure of anyone's request: the owner's own launch says why.
        if (!(error instanceof Refusal)) throw error
        hasRoom = !forAll.includes(error.code)
        return
      }
      await this.#pauseUnused(owned)
    })
    return hasRoom
  }

  /** A user asks for a container. */
  noteRequest(owned: ContainerRef): void {
    const key = containerKey(owned)
    if (this.#pending.has(key)) this.#requested.add(key)
  }

  /** A container does not exist any more, or its program does not run. */
  noteEnd(owned: ContainerRef): void {
    this.#unused.delete(containerKey(owned))
  }

  /**
   * A user's launch has no capacity: stops containers that were started ahead and not used, one for each item that is taken.
   * @param refusal of the launch; one that concerns this user alone costs no other user's container
   */
  async *makeRoom({ userId, type }: ContainerRef, refusal: Refusal): AsyncGenerator<ContainerRef> {
    const isForGpus = refusal.code === 'gpusTaken'
    const isForAll = isForGpus || refusal.code === 'serverFull'
    const helps = (each: ContainerRef) => !isForGpus || (this.#parts.templates.get(each.type)?.gpus ?? 0) > 0
    const all = [...this.#unused.values()].filter(
      ({ owned }) => (owned.userId !== userId || owned.type !== type) && helps(owned),
    )
    const own = all.filter(({ owned }) => owned.userId === userId)
    const others = isForAll ? all.filter(({ owned }) => owned.userId !== userId) : []
    for (const each of [...own, ...others])
      if (this.#isUnused(each) && (await this.#stopUnused(each.owned)) === 'done') yield each.owned
  }

  #isUnused({ owned, usedAt }: Unused): boolean {
    const { activity, isPaused } = this.#parts
    return isPaused(owned) && activity.usedAt(owned) === usedAt
  }

  /** Nothing begins afterwards. */
  stop(): void {
    this.#stopping.abort()
    this.#limit.clearQueue()
  }

  async #stopUnused(owned: ContainerRef): Promise<'done' | 'used'> {
    try {
      return await this.#parts.idleSuspension.suspend(owned, 'stop', 0)
    } catch (error) {
      this.#parts.log.warn({ err: error, ...owned }, 'stopping a container that was started ahead failed')
      return 'used'
    }
  }

  /** One at a time for each container, a few of all. Never throws. */
  async #inBackground(owned: ContainerRef, work: (owned: ContainerRef) => Promise<void>): Promise<void> {
    const key = containerKey(owned)
    if (this.#pending.has(key) || this.#pending.size >= maxPending || this.#stopping.signal.aborted) return
    this.#pending.add(key)
    try {
      await this.#limit(() => (this.#stopping.signal.aborted ? undefined : work(owned)))
    } catch (error) {
      this.#parts.log.warn({ err: error, ...owned }, 'starting a container ahead failed')
    } finally {
      this.#pending.delete(key)
      this.#requested.delete(key)
    }
  }

  /** A container that was used since its start, however briefly, runs on. */
  async #pauseUnused(owned: ContainerRef): Promise<void> {
    const { capabilities, activity, admission, idleSuspension, awaitReady } = this.#parts
    if (!capabilities.pauses) return
    const usedAt = activity.usedAt(owned)
    const isUsed = () => activity.usedAt(owned) !== usedAt || this.#requested.has(containerKey(owned))
    await awaitReady(owned, readinessTimeout, this.#stopping.signal)
    for (let attempt = 1; attempt <= maxAttempts; attempt++) {
      if (this.#stopping.signal.aborted || isUsed() || !admission.isUp(owned)) return
      // An event of its start, and any other operation on it, count as use for a moment.
      const quietFor = Math.min(quietTime, performance.now() - activity.lastOf(owned))
      if ((await idleSuspension.suspend(owned, 'pause', quietFor)) === 'done')
        return this.#noteUnused({ owned, usedAt })
      await sleep(quietTime, undefined, { ref: false, signal: this.#stopping.signal }).catch(() => undefined)
    }
  }

  #noteUnused({ owned, usedAt }: Unused): void {
    this.#unused.set(containerKey(owned), { owned, usedAt })
    this.#parts.log.info({ ...owned }, 'paused a container that was started ahead')
  }
}
