import type { Refusal } from '#/errors.ts'
import type { CreatedContainer } from '#/runtime/container-spec.ts'
import type { CreateOptions } from '#/runtime/runtime.ts'
import type { PullProgress } from '#/runtime/runtime-container.ts'
import type { ContainerRef } from '../container-key.ts'

/** Between two tellings of places, in ms. */
export const notifyInterval = 1_000

/** Something that the engine is to make run. At most one at a time for each user and type. */
export interface LaunchRequest {
  readonly owned: ContainerRef
  readonly image: string
  /** While the image is being pulled for others, who needs it keeps their place and lets those behind go first. */
  readonly needsImage: boolean
  /** Goes behind everybody who is not. */
  readonly isLowPriority: boolean
  /** Told at once when it has to wait, then at most once a second, when it has changed. Places count from 1. */
  onPosition(position: number, waiting: number): void
  /** How far the pull is that it waits for, whenever the runtime says so. */
  onPull(progress: PullProgress): void
  /** Asked by `recheck`, and when its turn comes after a wait. */
  mayGoOn(): Promise<Refusal | undefined>
}

/** What an entrant has while the engine works for it. */
export interface LaunchSlot {
  /** Runs a creation; while it pulls its image others have the turn. @throws as the work does, or why it was given up */
  create(work: (options: CreateOptions) => Promise<CreatedContainer>): Promise<CreatedContainer>
}

/** An entrant, and where it stands. */
export interface QueueEntry {
  readonly request: LaunchRequest
  readonly hasWaited: boolean
  readonly admitted: PromiseWithResolvers<void>
  readonly pull: AbortController
  /** `overdue` works on, and has given its slot back. */
  state: 'waiting' | 'working' | 'pulling' | 'overdue'
  /** Takes its slot away. */
  slotTimer: NodeJS.Timeout | undefined
  lastNotified: { readonly position: number; readonly waiting: number; readonly at: number } | undefined
}

/** Tells its place, when that is news and not too soon after the last. */
export function notifyPosition(entry: QueueEntry, position: number, waiting: number): void {
  const at = performance.now()
  const { lastNotified, request } = entry
  // The timer's own second is never exact.
  if (
    lastNotified &&
    (at - lastNotified.at < notifyInterval / 2 ||
      (lastNotified.position === position && lastNotified.waiting === waiting))
  )
    return
  entry.lastNotified = { position, waiting, at }
  request.onPosition(position, waiting)
}
