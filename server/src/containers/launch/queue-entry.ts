import type { Refusal } from '#/refusals/errors.ts'
import type { CreateOptions } from '#/engines/runtime.ts'
import type { PullProgress, StartWait } from '#/engines/runtime-container.ts'
import type { ContainerRef } from '#/store/container-key.ts'

/** Min interval between two notifications of the position, in ms. */
export const notifyInterval = 1_000

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
  onPosition(position: number, waiting: number): void
  /** Called with the progress of the pull that it waits for, whenever the runtime reports it. */
  onPull(progress: PullProgress): void
  /** Called by `recheck`, and when a queued launch receives its slot. */
  mayGoOn(): Promise<Refusal | undefined>
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
export interface SlotStart {
  readonly signal: AbortSignal
  readonly onWait: (wait: StartWait) => void
}

/** A queued launch and its state. */
export interface QueueEntry {
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
  /** Timeout of its slot. */
  slotTimer: NodeJS.Timeout | undefined
  lastNotified: { readonly position: number; readonly waiting: number; readonly at: number } | undefined
}

/** Notifies of the position when it has changed, at most once per interval. */
export function notifyPosition(entry: QueueEntry, position: number, waiting: number): void {
  const at = performance.now()
  const { lastNotified, request } = entry
  // A timer of one second may fire a little early.
  if (
    lastNotified &&
    (at - lastNotified.at < notifyInterval / 2 ||
      (lastNotified.position === position && lastNotified.waiting === waiting))
  )
    return
  entry.lastNotified = { position, waiting, at }
  request.onPosition(position, waiting)
}
