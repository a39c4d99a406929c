import type { LaunchEvent } from '@berth/api/schemas/container.ts'
import type { LocalizedMessage } from '#/messages/localized-message.ts'
import type { PullProgress } from '#/runtime/runtime-container.ts'
import { waitForReadiness } from './readiness-probe.ts'
import type { UserEvent } from '../../events/user-events.ts'
import { containerKey, type ContainerRef } from '../../container-key.ts'

/** How long a stage that nothing follows is remembered, in ms; and why a program does not run, for a page that is reloaded later. */
const [finishedTtl, faultTtl] = [60_000, 600_000]
/** Failures that are remembered at the same time, of all containers: each may keep 25 KB of last lines. */
const maxFailures = 500
/** How long an app is given until it accepts connections, in ms; after that nobody is kept in suspense. */
const readinessTimeout = 60_000
/** Between two tellings of how far a pull is, in ms. */
const pullInterval = 1_000

/** Each page is told in its own language. */
type Unlocalized<E> = E extends { message: string } ? Omit<E, 'message'> & { message: LocalizedMessage } : E

/** A stage, without the container's type. */
export type LaunchStage = LaunchEvent extends infer E
  ? E extends LaunchEvent
    ? Unlocalized<Omit<E, 'type'>>
    : never
  : never

/** Where the app of a container listens, once it does. */
export interface AppAddress {
  readonly host: string
  readonly port: number
}

export interface LaunchProgressParts {
  /** Brings an event to somebody's open pages. */
  readonly publish: (userId: number, event: UserEvent) => void
  /** Whether somebody has a page open that would be told. */
  readonly hasListener: (userId: number) => boolean
  /** Whether the program of a container is known to be over. */
  readonly hasExited: (owned: ContainerRef) => boolean
  /** Called with this `LaunchProgress` instead of waiting for an app whose program has already ended. */
  readonly onExited: (owned: ContainerRef, launchProgress: LaunchProgress) => void
}

interface Present {
  readonly stage: LaunchStage
  readonly at: number
  /** Ends what belongs to this stage. */
  readonly ended: AbortController
  /** Where the app is awaited, while nobody has looked yet. */
  readonly unprobed: AppAddress | undefined
  /** How far a pull is, which was not told yet because another telling is too recent. */
  pendingPull?: PullProgress
}

/** Launch progress for the open pages of the owner: the last stage of each container. */
export class LaunchProgress {
  readonly #parts: LaunchProgressParts
  readonly #present = new Map<number, Map<string, Present>>()
  /** Those that failed, the oldest first. */
  readonly #failed = new Map<string, ContainerRef>()

  constructor(parts: LaunchProgressParts) {
    this.#parts = parts
  }

  /** The last stage of a launch that is under way, or ended a moment ago. */
  of({ userId, type }: ContainerRef): LaunchStage | undefined {
    return this.#present.get(userId)?.get(type)?.stage
  }

  /** As events, for a page that comes in the middle. */
  current(userId: number): UserEvent[] {
    return [...(this.#present.get(userId) ?? [])].map(([type, { stage }]) => eventOf(type, stage))
  }

  /** Somebody has a page open from now on: looks for the apps that nobody was there to wait for. */
  onListener(userId: number): void {
    for (const [type, { unprobed }] of this.#present.get(userId) ?? [])
      if (unprobed) void this.#awaitReadiness({ userId, type }, unprobed)
  }

  /** A launch is at this stage from now on. */
  enter(owned: ContainerRef, stage: LaunchStage): void {
    this.#set(owned, stage)
    this.#parts.publish(owned.userId, eventOf(owned.type, stage))
  }

  /** It is being pulled for; told at most once a second, the last word always: nothing may follow it for minutes. */
  pulling(owned: ContainerRef, progress: PullProgress): void {
    const present = this.#present.get(owned.userId)?.get(owned.type)
    if (present?.stage.stage !== 'pulling') return this.enter(owned, pullStage(progress))
    const isPending = present.pendingPull !== undefined
    present.pendingPull = progress
    if (!isPending) this.#publishPending(owned, present)
  }

  /**
   * The program runs: `waiting`, and `ready` once the app accepts connections. Nobody waits for this; it is looked at only
   * while its owner has a page open.
   */
  started(owned: ContainerRef, app: AppAddress | undefined): void {
    const hasExited = this.#parts.hasExited(owned)
    if (!app && !hasExited) return this.enter(owned, { stage: 'ready' })
    this.enter(owned, { stage: 'waiting' })
    // The end was heard before this stage began, and is not told once more.
    if (!app || hasExited) return this.#parts.onExited(owned, this)
    if (this.#parts.hasListener(owned.userId)) void this.#awaitReadiness(owned, app)
    else this.#set(owned, { stage: 'waiting' }, app)
  }

  /** Whether an app is waited for that nobody has looked for yet, because its owner has no page open. */
  isUnprobed({ userId, type }: ContainerRef): boolean {
    return this.#present.get(userId)?.get(type)?.unprobed !== undefined
  }

  /** It runs again, so that why it did not is no matter any more. */
  forgetFailure(owned: ContainerRef): void {
    if (this.of(owned)?.stage === 'failed') this.forget(owned)
  }

  /** There is no launch any more. */
  forget(owned: ContainerRef): void {
    const { userId, type } = owned
    this.#failed.delete(containerKey(owned))
    const theirs = this.#present.get(userId)
    theirs?.get(type)?.ended.abort()
    theirs?.delete(type)
    if (theirs?.size === 0) this.#present.delete(userId)
  }

  async #awaitReadiness(owned: ContainerRef, app: AppAddress): Promise<void> {
    const ended = this.#set(owned, { stage: 'waiting' })
    if (await waitForReadiness(app, readinessTimeout, ended.signal)) this.enter(owned, { stage: 'ready' })
  }

  #publishPending(owned: ContainerRef, present: Present): void {
    const { at, ended } = present
    const timer = setTimeout(
      () => present.pendingPull && this.enter(owned, pullStage(present.pendingPull)),
      at + pullInterval - performance.now(),
    ).unref()
    ended.signal.addEventListener('abort', () => clearTimeout(timer), { once: true })
  }

  /** @returns what ends with this stage */
  #set(owned: ContainerRef, stage: LaunchStage, unprobed?: AppAddress): AbortController {
    const { userId, type } = owned
    const theirs = this.#present.get(userId) ?? new Map<string, Present>()
    theirs.get(type)?.ended.abort()
    const ended = new AbortController()
    this.#present.set(userId, theirs.set(type, { stage, at: performance.now(), ended, unprobed }))
    this.#noteFailure(owned, stage)
    if (isLast(stage)) this.#forgetLater(owned, stage, ended.signal)
    return ended
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

/** Nothing has to follow: an app need not ever listen. */
const isLast = ({ stage }: LaunchStage) => stage === 'waiting' || stage === 'ready' || stage === 'failed'

/** A failure of the program or its image. What the server, or a person, was the reason for is over sooner. */
const isFault = (stage: LaunchStage) =>
  stage.stage === 'failed' && !['full', 'engine', 'stopped'].includes(stage.reason)

const eventOf = (type: string, stage: LaunchStage): UserEvent => ({ name: 'launch', data: { type, ...stage } })
