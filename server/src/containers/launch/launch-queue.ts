import { setTimeout as sleep } from 'node:timers/promises'
import type { CreateOptions, PullProgress, StartWait } from '#/engines/runtime.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { PriorityQueue } from '#/machine/fair-queue.ts'
import { withTimeout } from '#/machine/try-or-log.ts'
import { refusals, type Refusal } from '#/refusals/errors.ts'
import type { ContainerRef } from '#/store/user-containers.ts'

/** Max queued launches; further ones are refused. */
const maxWaiting = 10_000
/** Timeout after which a launch returns its slot, in ms: a start that never ends must not block the queue. */
const defaultSlotTimeout = 15_000
/** Max launches that continue without a slot: a slow engine does not receive ever more work. */
const maxOverdue = 32
/** Timeout of a launch that is queued while the engine does not answer, in ms; those queued before wait longer. */
const outageTimeout = 3_000

export interface LaunchQueueParts {
  /** Max launches that the engine works on at the same time. */
  readonly parallel: number
  /** Resolves when the engine answers. */
  readonly ping: () => Promise<void>
  /** ms, for tests */
  readonly slotTimeout?: number
}

/**
 * Launch queue: a priority queue with a concurrency limit, because more parallel starts make each slower and none
 * finish earlier. Within a priority the flows of groups take turns; in each it is first in, first out, except that a launch whose image is being pulled lets others
 * pass: a pull takes minutes and uses nothing that starts need.
 */
export class LaunchQueue {
  readonly #parallel: number
  readonly #circuitBreaker: EngineCircuitBreaker
  readonly #queue = new PriorityQueue<QueueEntry>()
  /** All launches, queued or in progress, by user and type. */
  readonly #entries = new Map<number, Map<string, QueueEntry>>()
  readonly #pulls = new Map<string, number>()
  readonly #slotTimeout: number
  #underWay = 0
  #overdue = 0
  #ticking: NodeJS.Timeout | undefined
  #closed: PromiseWithResolvers<void> | undefined

  constructor({ parallel, ping, slotTimeout = defaultSlotTimeout }: LaunchQueueParts) {
    this.#parallel = parallel
    this.#slotTimeout = slotTimeout
    this.#circuitBreaker = new EngineCircuitBreaker(ping)
  }

  /**
   * Runs the work when it has a slot; at once, when the queue is empty.
   * @throws {Refusal} when the queue is full, the launch is no longer allowed, or `close` was called
   * @throws {RuntimeError} `unreachable`, soon, when the engine does not answer · whatever the work throws
   */
  async run<T>(request: LaunchRequest, work: (slot: LaunchSlot) => Promise<T>): Promise<T> {
    if (this.#circuitBreaker.recovery && !(await withTimeout(outageTimeout, this.#circuitBreaker.recovery)))
      throw new RuntimeError('unreachable', `launch ${request.owned.type} of user ${request.owned.userId}`)
    if (this.#closed) throw refusals.stopping()
    if (this.#queue.size >= maxWaiting) throw refusals.tooManyLaunches()
    const entry = this.#enter(request)
    try {
      if (entry.hasWaited) await this.#wait(entry)
      this.#startSlotTimeout(entry)
      return await work({
        create: (creation) => this.#create(entry, creation),
        fetch: (fetching) => this.#fetch(entry, fetching),
        start: (starting) => this.#start(entry, starting),
      })
    } catch (error) {
      if (isUnreachable(error)) void this.#waitForEngine(error)
      throw error
    } finally {
      this.#leave(entry)
    }
  }

  /** A user now asks for it: moves it to the high priority. */
  promote({ userId, type }: ContainerRef): void {
    const entry = this.#entries.get(userId)?.get(type)
    if (entry) this.#queue.promote(entry)
  }

  /**
   * Refuses launches of this user (and type) that are queued or have given their slot back, and are no longer allowed. A launch that
   * the engine works on ends by itself soon.
   */
  recheck(userId: number, type?: string): void {
    for (const [each, entry] of this.#entries.get(userId) ?? [])
      if ((type === undefined || type === each) && entry.state !== 'working') void this.#recheckOne(entry)
  }

  /** Cancels a launch that is queued or has given its slot back; one that the engine works on ends by itself soon. */
  cancel({ userId, type }: ContainerRef, why: Error): void {
    const entry = this.#entries.get(userId)?.get(type)
    if (entry) this.#reject(entry, why)
  }

  counts(): { waiting: number; underWay: number; parallel: number } {
    return { waiting: this.#queue.size, underWay: this.#underWay, parallel: this.#parallel }
  }

  /** How many wait for their claim. */
  countClaims(): number {
    return this.#places().filter(([, { waitsFor }]) => waitsFor !== undefined).length
  }

  /** What launches claim may have become free. */
  retryClaims(): void {
    this.#admit()
  }

  /** Refuses launches that are queued, have given their slot back, or are new. Resolves when the engine works on none any more. */
  async close(): Promise<void> {
    this.#closed ??= Promise.withResolvers()
    this.#circuitBreaker.stop()
    for (const entry of this.#all()) this.#reject(entry, refusals.stopping())
    if (this.#entries.size === 0) this.#closed.resolve()
    return this.#closed.promise
  }

  // --- Slots

  /** A free slot is given away when it becomes free, so a new launch overtakes no queued one that could run. */
  #enter(request: LaunchRequest): QueueEntry {
    const hasWaited = !this.#hasFreeSlot() || this.#isHeld(request) || this.#isBehindClaims(request)
    if (!hasWaited) request.claim?.take()
    const state = hasWaited ? 'waiting' : 'working'
    const [admitted, cancellation] = [Promise.withResolvers<void>(), new AbortController()]
    const entry: QueueEntry = {
      request,
      hasWaited,
      admitted,
      cancellation,
      state,
      slotTimer: undefined,
      lastNotified: undefined,
    }
    if (!hasWaited) this.#underWay++
    const { userId, type } = request.owned
    this.#entries.set(userId, (this.#entries.get(userId) ?? new Map<string, QueueEntry>()).set(type, entry))
    return entry
  }

  async #wait(entry: QueueEntry): Promise<void> {
    const position = this.#queue.add(entry, entry.request.isLowPriority)
    if (!entry.request.claim) notifyPosition(entry, { position, waiting: this.#queue.size })
    else this.#enterClaim(entry)
    void this.#assignFlow(entry)
    this.#ticking ??= setInterval(() => this.#tick(), notifyInterval).unref()
    await entry.admitted.promise
    const refusal = await entry.request.mayGoOn()
    if (refusal) throw refusal
  }

  /** Where no group concerns the launch, nothing is asked. It waits meanwhile, and may begin before the answer. */
  async #assignFlow(entry: QueueEntry): Promise<void> {
    const asked = entry.request.flowsOf?.()
    if (!asked) return
    this.#queue.assign(entry, await asked.catch(() => []))
  }

  #leave(entry: QueueEntry): void {
    const { userId, type } = entry.request.owned
    const theirs = this.#entries.get(userId)
    theirs?.delete(type)
    if (theirs?.size === 0) this.#entries.delete(userId)
    clearTimeout(entry.slotTimer)
    if (entry.state === 'working') this.#underWay--
    if (entry.state === 'overdue') this.#overdue--
    this.#admit()
    if (this.#entries.size === 0) this.#closed?.resolve()
  }

  #admit(): void {
    let isClaimed = false
    for (const entry of this.#queue) {
      if (!this.#hasFreeSlot()) break
      if (this.#isHeld(entry.request)) continue
      const { claim } = entry.request
      if (claim && (isClaimed || !claim.isFree())) {
        const refusal = claim.refusal()
        if (refusal) this.#reject(entry, refusal)
        else isClaimed = true
        continue
      }
      claim?.take()
      this.#queue.serve(entry)
      entry.state = 'working'
      this.#underWay++
      entry.admitted.resolve()
    }
    if (this.#queue.size > 0) return
    clearInterval(this.#ticking)
    this.#ticking = undefined
  }

  #startSlotTimeout(entry: QueueEntry): void {
    entry.slotTimer = setTimeout(() => this.#releaseSlot(entry), this.#slotTimeout).unref()
  }

  #releaseSlot(entry: QueueEntry): void {
    if (entry.state !== 'working' || this.#overdue >= maxOverdue) return
    entry.state = 'overdue'
    this.#overdue++
    this.#underWay--
    this.#admit()
  }

  #reject(entry: QueueEntry, why: Error): void {
    if (entry.state === 'yielded') entry.cancellation.abort(why)
    if (entry.state !== 'waiting') return
    this.#queue.remove(entry)
    entry.admitted.reject(why)
  }

  /** If the store cannot be read now, the check is repeated when the launch has its slot. */
  async #recheckOne(entry: QueueEntry): Promise<void> {
    const refusal = await entry.request.mayGoOn().catch(() => undefined)
    if (refusal) this.#reject(entry, refusal)
  }

  #hasFreeSlot(): boolean {
    return this.#underWay < this.#parallel && !this.#circuitBreaker.recovery
  }

  *#all(): Generator<QueueEntry> {
    for (const theirs of this.#entries.values()) yield* theirs.values()
  }

  #tick(): void {
    for (const [entry, place] of this.#places()) if (!this.#isHeld(entry.request)) notifyPosition(entry, place)
  }

  // --- Claims

  /** No launch passes an earlier one that waits for the same: one that needs much would wait for ever. */
  #isBehindClaims({ claim }: LaunchRequest): boolean {
    if (!claim) return false
    return (
      !claim.isFree() ||
      (this.#queue.size > 0 && [...this.#queue].some(({ request }) => request.claim?.isFree() === false))
    )
  }

  /** It may have to be refused, and otherwise its owner is told at once what it waits for. */
  #enterClaim(entry: QueueEntry): void {
    this.#admit()
    const place = entry.state === 'waiting' ? this.#places().find(([each]) => each === entry)?.[1] : undefined
    if (place) notifyPosition(entry, place)
  }

  /** Positions of all that are queued: those that wait for their claim, and the others, which pass them. */
  #places(): (readonly [QueueEntry, QueuePosition])[] {
    const [claiming, others]: [QueueEntry[], QueueEntry[]] = [[], []]
    for (const entry of this.#queue) {
      const { claim } = entry.request
      if (claim && (claiming.length > 0 || !claim.isFree())) claiming.push(entry)
      else others.push(entry)
    }
    const placed = (all: readonly QueueEntry[], more: Pick<QueuePosition, 'waitsFor'>) =>
      all.map((entry, index) => [entry, { position: index + 1, waiting: all.length, ...more }] as const)
    return [...placed(claiming, { waitsFor: 'gpu' }), ...placed(others, {})]
  }

  // --- Pulls

  #isHeld({ image, needsImage }: LaunchRequest): boolean {
    return needsImage && this.#pulls.has(image)
  }

  /** Launches that wait for the same image share its failure: an unreachable registry is asked once. */
  async #create<T>(entry: QueueEntry, work: (options: CreateOptions) => Promise<T>): Promise<T> {
    try {
      return await work({
        signal: entry.cancellation.signal,
        onPull: (progress) => this.#notePull(entry, progress),
      })
    } catch (error) {
      if (entry.state === 'yielded' && error instanceof RuntimeError && error.kind === 'image')
        for (const other of this.#waitingFor(entry.request.image)) this.#reject(other, error)
      throw error
    } finally {
      if (entry.state === 'yielded') this.#endPull(entry)
    }
  }

  #notePull(entry: QueueEntry, progress: PullProgress): void {
    const { image } = entry.request
    entry.request.onPull(progress)
    for (const { request } of this.#waitingFor(image)) request.onPull(progress)
    if (entry.state === 'yielded') return
    this.#pulls.set(image, (this.#pulls.get(image) ?? 0) + 1)
    this.#freeSlot(entry)
  }

  async #fetch<T>(entry: QueueEntry, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    this.#freeSlot(entry)
    try {
      return await work(entry.cancellation.signal)
    } finally {
      this.#takeSlotBack(entry)
    }
  }

  async #start(entry: QueueEntry, work: (options: SlotStart) => Promise<void>): Promise<void> {
    const onWait = (wait: StartWait) => {
      if (wait !== 'none' && entry.state !== 'yielded') this.#freeSlot(entry)
    }
    try {
      await work({ signal: entry.cancellation.signal, onWait })
    } finally {
      if (entry.state === 'yielded') this.#takeSlotBack(entry)
    }
  }

  /** Others go on meanwhile, and it can be cancelled. */
  #freeSlot(entry: QueueEntry): void {
    clearTimeout(entry.slotTimer)
    if (entry.state === 'overdue') this.#overdue--
    else this.#underWay--
    entry.state = 'yielded'
    this.#admit()
  }

  #endPull(entry: QueueEntry): void {
    const { image } = entry.request
    const pulling = (this.#pulls.get(image) ?? 1) - 1
    if (pulling > 0) this.#pulls.set(image, pulling)
    else this.#pulls.delete(image)
    this.#takeSlotBack(entry)
  }

  /** The launch continues at once, although for a moment the limit may be exceeded by one: what remains is short. */
  #takeSlotBack(entry: QueueEntry): void {
    entry.state = 'working'
    this.#underWay++
    this.#startSlotTimeout(entry)
    this.#admit()
  }

  *#waitingFor(image: string): Generator<QueueEntry> {
    for (const entry of this.#queue) if (entry.request.needsImage && entry.request.image === image) yield entry
  }

  /**
   * Holds the queue until the engine answers, with a timeout, so that a restart of the engine fails no queued launch.
   */
  async #waitForEngine(error: Error): Promise<void> {
    if (this.#circuitBreaker.recovery) return
    if (!(await this.#circuitBreaker.trip())) for (const entry of this.#queue) this.#reject(entry, error)
    this.#admit()
  }
}

const isUnreachable = (error: unknown): error is RuntimeError =>
  error instanceof RuntimeError && error.kind === 'unreachable'

/** Min interval between two notifications of the position, in ms. */
const notifyInterval = 1_000

/** A launch for the queue. At most one at a time for each user and type. */
export interface LaunchRequest {
  readonly owned: ContainerRef
  readonly image: string
  /** While other launches pull its image, it keeps its position and later ones pass. */
  readonly needsImage: boolean
  /** Waits behind all launches of the high priority. */
  readonly isLowPriority: boolean
  /**
   * Called when it has to wait: flows of the queue, of groups for example, that it may belong to; none: the flow of all others.
   * Left out, it belongs to that one. Flows take turns. A failure counts as none.
   */
  readonly flowsOf?: () => Promise<readonly string[]> | undefined
  /** Called at once when it has to wait, then at most once a second when it has changed. Positions count from 1. */
  onPosition(place: QueuePosition): void
  /** What it needs beside a slot; undefined: nothing. */
  readonly claim?: Claim | undefined
  /** Called with the progress of the pull that it waits for, whenever the runtime reports it. */
  onPull(progress: PullProgress): void
  /** Called by `recheck`, and when a queued launch receives its slot. */
  mayGoOn(): Promise<Refusal | undefined>
}

/**
 * What a launch needs beside a slot. While it is taken the launch keeps its position: later ones pass, but for those that claim
 * something, too. Called within the queue's own work, so it must not call the queue.
 */
export interface Claim {
  /** Whether `take` would take it now. */
  isFree(): boolean
  /** Called when the launch receives its slot; its owner gives it back. */
  take(): void
  /** Why it does not wait for it; undefined: it waits. */
  refusal(): Refusal | undefined
}

/** Position in the queue, from 1 on. */
export interface QueuePosition {
  readonly position: number
  /** Of so many. */
  readonly waiting: number
  /** What those wait for among whom it is counted; undefined: for a slot. */
  readonly waitsFor?: 'gpu'
}

/** A slot of the queue, while the engine works on a launch. */
export interface LaunchSlot {
  /**
   * Runs a creation, or the pull of its image before it; while it pulls the slot is free for others. @throws as the work does, or why it was
   * cancelled
   */
  create<T>(work: (options: CreateOptions) => Promise<T>): Promise<T>

  /**
   * Runs work that does not need the engine, with the slot free for others. @param work ends when its signal aborts
   * @throws as the work does, or why it was cancelled
   */
  fetch<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T>

  /**
   * Runs a start; once it waits for what takes long, such as a node or the pull of an image, the slot is free for others and the
   * launch can be cancelled. @throws as the work does, or why it was cancelled
   */
  start(work: (options: SlotStart) => Promise<void>): Promise<void>
}

/** What a start of `LaunchSlot.start` passes on to the engine. */
interface SlotStart {
  readonly signal: AbortSignal
  readonly onWait: (wait: StartWait) => void
}

/** A queued launch and its state. */
interface QueueEntry {
  readonly request: LaunchRequest
  readonly hasWaited: boolean
  readonly admitted: PromiseWithResolvers<void>
  /** Aborted when it is cancelled while it is `yielded`. */
  readonly cancellation: AbortController
  /**
   * `yielded`: it has given its slot back while an image is pulled, starter files are fetched, or a start waits. `overdue`: its slot
   * has timed out, and it continues without it.
   */
  state: 'waiting' | 'working' | 'yielded' | 'overdue'
  slotTimer: NodeJS.Timeout | undefined
  lastNotified: (QueuePosition & { readonly at: number }) | undefined
}

/** Notifies of the position when it has changed, at most once per interval. */
function notifyPosition(entry: QueueEntry, place: QueuePosition): void {
  const at = performance.now()
  const { lastNotified, request } = entry
  // A timer of one second may fire a little early.
  if (
    lastNotified &&
    (at - lastNotified.at < notifyInterval / 2 ||
      (lastNotified.position === place.position &&
        lastNotified.waiting === place.waiting &&
        lastNotified.waitsFor === place.waitsFor))
  )
    return
  entry.lastNotified = { ...place, at }
  request.onPosition(place)
}

/** How long the queue waits for an engine that does not answer, and the interval of pings, in ms. */
const [recoveryTimeout, pingInterval] = [30_000, 1_000]

/** Circuit breaker: pauses the launch queue while the engine is down, long enough for a restart of the engine. */
class EngineCircuitBreaker {
  readonly #ping: () => Promise<void>
  #recovery: Promise<boolean> | undefined
  #isClosed = false

  /** @param ping resolves when the engine answers; must have a timeout of its own */
  constructor(ping: () => Promise<void>) {
    this.#ping = ping
  }

  /** Resolves when the outage ends, with whether the engine answers again; undefined when there is none. */
  get recovery(): Promise<boolean> | undefined {
    return this.#recovery
  }

  /** Opens the circuit, because the engine did not answer. Resolves as `recovery`. */
  async trip(): Promise<boolean> {
    this.#recovery ??= this.#waitForRecovery()
    return this.#recovery
  }

  /** Ends all waits. */
  stop(): void {
    this.#isClosed = true
  }

  async #waitForRecovery(): Promise<boolean> {
    const end = performance.now() + recoveryTimeout
    let isAnswering = await this.#isAnswering()
    while (!isAnswering && performance.now() < end && !this.#isClosed) {
      await sleep(pingInterval, undefined, { ref: false })
      isAnswering = await this.#isAnswering()
    }
    this.#recovery = undefined
    return isAnswering
  }

  async #isAnswering(): Promise<boolean> {
    return this.#ping().then(
      () => true,
      () => false,
    )
  }
}
