import type { LaunchEvent } from '@berth/api/schemas/container.ts'
import type { LocalizedMessage } from '@berth/texts/localized-message.ts'
import { UsualDurations } from '@berth/gateway/basics/usual-durations.ts'
import type { PullProgress, StartWait } from '#/engines/runtime.ts'
import { isReadyNow, waitForReadiness, type ReadinessTarget } from './readiness-probe.ts'
import type { UserEvent } from '#/containers/user-events.ts'
import { containerKey, type ContainerRef } from '#/store/user-containers.ts'

/**
 * TTL of a last stage, in ms, after a success and after a failure of the program: a page that is reloaded later still
 * shows the failure.
 */
const [finishedTtl, faultTtl] = [60_000, 600_000]
/** Max failures that are remembered, of all containers: each may keep 25 KB of output. */
const maxFailures = 500
/** Timeout of the readiness probe, in ms; the stage `waiting` ends with it. */
const readinessTimeout = 60_000
/** Min interval between two events of pull progress, in ms. */
const pullInterval = 1_000

/** The event before its message is localized: each page receives it in its own language. */
type Unlocalized<E> = E extends { message: string } ? Omit<E, 'message'> & { message: LocalizedMessage } : E

/** A stage, without the container's type. */
export type LaunchStage = LaunchEvent extends infer E
  ? E extends LaunchEvent
    ? Unlocalized<Omit<E, 'type'>>
    : never
  : never

/** Address at which the app of a container listens, when it is ready. */
export interface AppAddress {
  readonly host: string
  readonly port: number
}

export interface LaunchProgressParts {
  /** Publishes an event to the user's open pages. */
  readonly publish: (userId: number, event: UserEvent) => void
  /** Whether the user has a page open that receives events. */
  readonly hasListener: (userId: number) => boolean
  /** Whether the program of a container is known to have ended. */
  readonly hasExited: (owned: ContainerRef) => boolean
  /** What the app has to answer before it is ready, as a request target; undefined: its port is enough. */
  readonly readinessTarget: (owned: ContainerRef) => ReadinessTarget | undefined
  /** Called instead of the readiness probe when the program has ended already. */
  readonly onExited: (owned: ContainerRef, launchProgress: LaunchProgress) => void
}

interface Present {
  readonly stage: LaunchStage
  readonly at: number
  /** When the start had its turn; undefined where its duration says nothing, as when its app was not looked at in between. */
  readonly begunAt: number | undefined
  /** Aborts what belongs to this stage. */
  readonly ended: AbortController
  /** Address of an app whose readiness was not probed yet. */
  readonly unprobed: AppAddress | undefined
  /** Pull progress that is not published yet, because the last event is too recent. */
  pendingPull?: PullProgress
}

/** Launch progress for the owner's open pages: state machine with the last stage of each container. */
export class LaunchProgress {
  readonly #parts: LaunchProgressParts
  readonly #present = new Map<number, Map<string, Present>>()
  /** Containers whose launch failed, the oldest first. */
  readonly #failed = new Map<string, ContainerRef>()
  /** Of starts, by type, until the app is ready. */
  readonly #usual = new UsualDurations()

  constructor(parts: LaunchProgressParts) {
    this.#parts = parts
  }

  /** The last stage of a launch that is in progress or ended a moment ago. */
  of({ userId, type }: ContainerRef): LaunchStage | undefined {
    return this.#present.get(userId)?.get(type)?.stage
  }

  /** The present stage of each of the user's launches, by type. */
  stagesOf(userId: number): ReadonlyMap<string, LaunchStage> {
    return new Map([...(this.#present.get(userId) ?? [])].map(([type, { stage }]) => [type, stage]))
  }

  /** The present stages as events, for a page that opens during a launch. */
  current(userId: number): UserEvent[] {
    return [...this.stagesOf(userId)].map(([type, stage]) => this.#eventOf(type, stage))
  }

  /** The user has a page open from now on: starts the readiness probes that were not started without a page. */
  onListener(userId: number): void {
    for (const [type, { unprobed }] of this.#present.get(userId) ?? [])
      if (unprobed) void this.#awaitReadiness({ userId, type }, unprobed)
  }

  /** Enters a stage of a launch. A failure by a block is published and not kept. */
  enter(owned: ContainerRef, stage: LaunchStage): void {
    this.#set(owned, stage)
    this.#parts.publish(owned.userId, this.#eventOf(owned.type, stage))
    // The container itself is said to be blocked for as long as it is; a failure that is kept outlasts an unblock.
    if (isByBlock(stage)) this.forget(owned)
  }

  /**
   * Pull progress; published at most once a second, and always with its latest value: no other event may follow for
   * minutes.
   */
  pulling(owned: ContainerRef, progress: PullProgress): void {
    const present = this.#present.get(owned.userId)?.get(owned.type)
    if (present?.stage.stage !== 'pulling') return this.enter(owned, pullStage(progress))
    const isPending = present.pendingPull !== undefined
    present.pendingPull = progress
    if (!isPending) this.#publishPending(owned, present)
  }

  /**
   * The program runs: enters `waiting`, and `ready` once the app accepts connections, or answers as its template says. No launch waits for this; the
   * probe runs only while the owner has a page open. @param first its first attempt, by `probe`
   */
  started(owned: ContainerRef, app: AppAddress | undefined, first?: Promise<boolean>): void {
    const hasExited = this.#parts.hasExited(owned)
    if (!app && !hasExited) return this.enter(owned, { stage: 'ready' })
    this.enter(owned, { stage: 'waiting' })
    // The end was reported before this stage began, and is not reported again.
    if (!app || hasExited) return this.#parts.onExited(owned, this)
    if (this.#parts.hasListener(owned.userId)) void this.#awaitReadiness(owned, app, first)
    else this.#set(owned, { stage: 'waiting' }, app)
  }

  /**
   * First attempt of the readiness probe, before `started`: it takes as long as the publication of the route. Never rejects;
   * undefined when no page of the owner waits for it.
   */
  probe(owned: ContainerRef, app: AppAddress | undefined): Promise<boolean> | undefined {
    if (!app || !this.#parts.hasListener(owned.userId)) return undefined
    return isReadyNow(app, this.#parts.readinessTarget(owned))
  }

  /** Whether its app is not ready and was not probed yet, because its owner has no page open. */
  isUnprobed({ userId, type }: ContainerRef): boolean {
    return this.#present.get(userId)?.get(type)?.unprobed !== undefined
  }

  /** Drops the failure of the last launch of a container that runs again. */
  forgetFailure(owned: ContainerRef): void {
    if (this.of(owned)?.stage === 'failed') this.forget(owned)
  }

  /** The launch no longer exists. */
  forget(owned: ContainerRef): void {
    const { userId, type } = owned
    this.#failed.delete(containerKey(owned))
    const theirs = this.#present.get(userId)
    theirs?.get(type)?.ended.abort()
    theirs?.delete(type)
    if (theirs?.size === 0) this.#present.delete(userId)
  }

  async #awaitReadiness(owned: ContainerRef, app: AppAddress, first?: Promise<boolean>): Promise<void> {
    const ended = this.#set(owned, { stage: 'waiting' })
    const target = this.#parts.readinessTarget(owned)
    if (await waitForReadiness(app, readinessTimeout, ended.signal, target, first))
      this.enter(owned, { stage: 'ready' })
  }

  #publishPending(owned: ContainerRef, present: Present): void {
    const { at, ended } = present
    const timer = setTimeout(
      () => present.pendingPull && this.enter(owned, pullStage(present.pendingPull)),
      Math.max(0, at + pullInterval - performance.now()),
    ).unref()
    ended.signal.addEventListener('abort', () => clearTimeout(timer), { once: true })
  }

  /** @returns aborts with the end of this stage */
  #set(owned: ContainerRef, stage: LaunchStage, unprobed?: AppAddress): AbortController {
    const { userId, type } = owned
    const theirs = this.#present.get(userId) ?? new Map<string, Present>()
    const before = theirs.get(type)
    before?.ended.abort()
    const ended = new AbortController()
    const at = performance.now()
    const isFurther = before !== undefined && before.stage.stage !== 'queued' && !isOver(before.stage)
    const begunAt = unprobed ? undefined : isFurther ? before.begunAt : at
    if (stage.stage === 'ready' && isFurther && begunAt !== undefined) this.#usual.add(type, at - begunAt)
    this.#present.set(userId, theirs.set(type, { stage, at, begunAt, ended, unprobed }))
    this.#noteFailure(owned, stage)
    if (isLast(stage)) this.#forgetLater(owned, stage, ended.signal)
    return ended
  }

  #eventOf(type: string, stage: LaunchStage): UserEvent {
    const usual = isOver(stage) ? undefined : this.#usual.secondsOf(type)
    return { name: 'launch', data: { type, ...stage, ...(usual === undefined ? {} : { usual_seconds: usual }) } }
  }

  #noteFailure(owned: ContainerRef, { stage }: LaunchStage): void {
    const key = containerKey(owned)
    this.#failed.delete(key)
    if (stage !== 'failed') return
    this.#failed.set(key, owned)
    const [oldest] = this.#failed.values()
    if (oldest && this.#failed.size > maxFailures) this.forget(oldest)
  }

  #forgetLater(owned: ContainerRef, stage: LaunchStage, isOver: AbortSignal): void {
    const timer = setTimeout(() => this.forget(owned), isFault(stage) ? faultTtl : finishedTtl).unref()
    isOver.addEventListener('abort', () => clearTimeout(timer), { once: true })
  }
}

const pullStage = ({ layersDone, layersTotal, bytesDone, bytesTotal }: PullProgress): LaunchStage => ({
  stage: 'pulling',
  layers_done: layersDone,
  layers_total: layersTotal,
  bytes_done: bytesDone,
  bytes_total: bytesTotal,
})

/** Stage of a start that waits. A cluster does not report how far a pull is. */
export const waitStage = (wait: StartWait): LaunchStage => {
  if (wait === 'image') return pullStage({ layersDone: 0, layersTotal: 0, bytesDone: 0, bytesTotal: 0 })
  return wait === 'none' ? { stage: 'starting' } : { stage: 'starting', waits_for: wait }
}

const isOver = ({ stage }: LaunchStage) => stage === 'ready' || stage === 'failed'

/** No stage need follow: an app may never listen. */
const isLast = (stage: LaunchStage) => stage.stage === 'waiting' || isOver(stage)

/** A failure of the program or its image; failures with another cause are dropped sooner. */
const isFault = (stage: LaunchStage) =>
  stage.stage === 'failed' && !['full', 'engine', 'stopped'].includes(stage.reason)

const blocks: ReadonlySet<string> = new Set(['refusals.containerBlocked', 'refusals.userBlockedFromContainers'])
const isByBlock = (stage: LaunchStage) => stage.stage === 'failed' && blocks.has(stage.message.key)
