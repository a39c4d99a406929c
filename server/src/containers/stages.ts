import type { LaunchEvent } from '@berth/api/container.ts'
import type { Message } from '#/messages/message.ts'
import type { PullProgress } from '#/runtime/runtime.ts'
import { isListening } from './app-probe.ts'
import type { PersonalEvent } from './events.ts'
import { ownedKey, type OwnedType } from './owned-type.ts'

/** How long a stage that nothing follows is remembered, in ms; and why a program does not run, for a page that is reloaded later. */
const [keepFinished, keepFault] = [60_000, 600_000]
/** Failures that are remembered at the same time, of all containers: each may keep 25 KB of last lines. */
const maxFailures = 500
/** How long an app is given until it accepts connections, in ms; after that nobody is kept in suspense. */
const appLimit = 60_000
/** Between two tellings of how far a pull is, in ms. */
const pullEvery = 1_000

/** Each page is told in its own language. */
type Unsaid<E> = E extends { message: string } ? Omit<E, 'message'> & { message: Message } : E

/** A stage, without the container's type. */
export type Stage = LaunchEvent extends infer E ? (E extends LaunchEvent ? Unsaid<Omit<E, 'type'>> : never) : never

/** Where the app of a container listens, once it does. */
export interface Listening {
  readonly host: string
  readonly port: number
}

export interface StagesParts {
  /** Brings an event to somebody's open pages. */
  readonly tell: (userId: number, event: PersonalEvent) => void
  /** Whether somebody has a page open that would be told. */
  readonly isHeard: (userId: number) => boolean
  /** Whether the program of a container is known to be over. */
  readonly hasEnded: (owned: OwnedType) => boolean
  /** Called when an app would be waited for whose program is over already. */
  readonly onEnded: (owned: OwnedType) => void
}

interface Present {
  readonly stage: Stage
  readonly at: number
  /** Ends what belongs to this stage. */
  readonly over: AbortController
  /** Where the app is awaited, while nobody has looked yet. */
  readonly unwatched: Listening | undefined
  /** How far a pull is, which was not told yet because another telling is too recent. */
  owed?: PullProgress
}

/** How far each launch is, for the open pages of its owner; never more than the last stage of each container. */
export class Stages {
  readonly #parts: StagesParts
  readonly #present = new Map<number, Map<string, Present>>()
  /** Those that failed, the oldest first. */
  readonly #failed = new Map<string, OwnedType>()

  constructor(parts: StagesParts) {
    this.#parts = parts
  }

  /** The last stage of a launch that is under way, or ended a moment ago. */
  of({ userId, type }: OwnedType): Stage | undefined {
    return this.#present.get(userId)?.get(type)?.stage
  }

  /** As events, for a page that comes in the middle. */
  current(userId: number): PersonalEvent[] {
    return [...(this.#present.get(userId) ?? [])].map(([type, { stage }]) => eventOf(type, stage))
  }

  /** Somebody has a page open from now on: looks for the apps that nobody was there to wait for. */
  watch(userId: number): void {
    for (const [type, { unwatched }] of this.#present.get(userId) ?? [])
      if (unwatched) void this.#awaitApp({ userId, type }, unwatched)
  }

  /** A launch is at this stage from now on. */
  enter(owned: OwnedType, stage: Stage): void {
    this.#set(owned, stage)
    this.#parts.tell(owned.userId, eventOf(owned.type, stage))
  }

  /** It is being pulled for; told at most once a second, the last word always: nothing may follow it for minutes. */
  pulling(owned: OwnedType, progress: PullProgress): void {
    const present = this.#present.get(owned.userId)?.get(owned.type)
    if (present?.stage.stage !== 'pulling') return this.enter(owned, pullStage(progress))
    const isOwed = present.owed !== undefined
    present.owed = progress
    if (!isOwed) this.#tellOwed(owned, present)
  }

  /**
   * The program runs: `waiting`, and `ready` once the app accepts connections. Nobody waits for this; it is looked at only
   * while its owner has a page open.
   */
  started(owned: OwnedType, app: Listening | undefined): void {
    const hasEnded = this.#parts.hasEnded(owned)
    if (!app && !hasEnded) return this.enter(owned, { stage: 'ready' })
    this.enter(owned, { stage: 'waiting' })
    // The end was heard before this stage began, and is not told once more.
    if (!app || hasEnded) return this.#parts.onEnded(owned)
    if (this.#parts.isHeard(owned.userId)) void this.#awaitApp(owned, app)
    else this.#set(owned, { stage: 'waiting' }, app)
  }

  /** Whether an app is waited for that nobody has looked for yet, because its owner has no page open. */
  isUnprobed({ userId, type }: OwnedType): boolean {
    return this.#present.get(userId)?.get(type)?.unwatched !== undefined
  }

  /** It runs again, so that why it did not is no matter any more. */
  forgetFailure(owned: OwnedType): void {
    if (this.of(owned)?.stage === 'failed') this.forget(owned)
  }

  /** There is no launch any more. */
  forget(owned: OwnedType): void {
    const { userId, type } = owned
    this.#failed.delete(ownedKey(owned))
    const theirs = this.#present.get(userId)
    theirs?.get(type)?.over.abort()
    theirs?.delete(type)
    if (theirs?.size === 0) this.#present.delete(userId)
  }

  async #awaitApp(owned: OwnedType, app: Listening): Promise<void> {
    const over = this.#set(owned, { stage: 'waiting' })
    if (await isListening(app, appLimit, over.signal)) this.enter(owned, { stage: 'ready' })
  }

  #tellOwed(owned: OwnedType, present: Present): void {
    const { at, over } = present
    const timer = setTimeout(
      () => present.owed && this.enter(owned, pullStage(present.owed)),
      at + pullEvery - performance.now(),
    ).unref()
    over.signal.addEventListener('abort', () => clearTimeout(timer), { once: true })
  }

  /** @returns what ends with this stage */
  #set(owned: OwnedType, stage: Stage, unwatched?: Listening): AbortController {
    const { userId, type } = owned
    const theirs = this.#present.get(userId) ?? new Map<string, Present>()
    theirs.get(type)?.over.abort()
    const over = new AbortController()
    this.#present.set(userId, theirs.set(type, { stage, at: performance.now(), over, unwatched }))
    this.#noteFailure(owned, stage)
    if (isLast(stage)) this.#forgetLater(owned, stage, over.signal)
    return over
  }

  #noteFailure(owned: OwnedType, { stage }: Stage): void {
    const key = ownedKey(owned)
    this.#failed.delete(key)
    if (stage !== 'failed') return
    this.#failed.set(key, owned)
    const [oldest] = this.#failed.values()
    if (oldest && this.#failed.size > maxFailures) this.forget(oldest)
  }

  #forgetLater(owned: OwnedType, stage: Stage, isOver: AbortSignal): void {
    const timer = setTimeout(() => this.forget(owned), isFault(stage) ? keepFault : keepFinished).unref()
    isOver.addEventListener('abort', () => clearTimeout(timer), { once: true })
  }
}

const pullStage = ({ layersDone, layersTotal, bytesDone, bytesTotal }: PullProgress): Stage => ({
  stage: 'pulling',
  layers_done: layersDone,
  layers_total: layersTotal,
  bytes_done: bytesDone,
  bytes_total: bytesTotal,
})

/** Nothing has to follow: an app need not ever listen. */
const isLast = ({ stage }: Stage) => stage === 'waiting' || stage === 'ready' || stage === 'failed'

/** A failure of the program or its image. What the server, or a person, was the reason for is over sooner. */
const isFault = (stage: Stage) => stage.stage === 'failed' && !['full', 'engine', 'stopped'].includes(stage.reason)

const eventOf = (type: string, stage: Stage): PersonalEvent => ({ name: 'launch', data: { type, ...stage } })
