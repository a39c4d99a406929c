import type { Unavailable, UpstreamAddress } from '#/gateway/gateway-state.ts'
import type { RuntimeContainer } from '#/runtime/runtime-container.ts'
import { containerPrefix } from '../container-name.ts'
import type { ContainerRef } from '../container-key.ts'

/** Merged view of one container: its record in the store, and what the engine said last. */
export interface ContainerState extends ContainerRef {
  /** Of its record in the store. */
  readonly recordId: number
  /** First segment of its path. */
  readonly prefix: string
  /** The engine's id; null until the first creation succeeded. */
  readonly containerId: string | null
  /** Whether it, or its owner, is blocked. */
  readonly isBlocked: boolean
  /** Whether Berth itself stopped it last, and has not started it since. */
  readonly wasStopped: boolean
  /** Whether Berth removed it from the engine because nobody used it: it counts as stopped, and wakes by a launch. */
  readonly isRetired: boolean
  /** What the engine said of this id: undefined, when it was not asked yet. */
  readonly seen: RuntimeContainer | 'gone' | undefined
  /** Why the last launch failed, until the next one. */
  readonly failure: Unavailable | undefined
}

/** Ends of programs that are no fault: by itself, and by the two signals that a stop sends (128 + 9, 128 + 15). */
const quietEnds = new Set([0, 137, 143])

/**
 * Where a container is, or why it cannot be reached, as far as the engine was asked.
 * A container that does not carry this user and type on its labels is none of theirs, whatever the store says.
 */
export function upstreamOf(known: ContainerState): UpstreamAddress | Unavailable {
  const { seen, failure } = known
  if (known.isRetired) return failure ?? unavailable('asleep')
  if (known.containerId === null || seen === 'gone' || (seen && !isOwnedBy(known, seen)))
    return failure ?? unavailable('missing')
  if (seen?.state === 'running' || seen?.state === 'paused') return addressOf(seen)
  const isEnded = seen?.state === 'exited' || seen?.state === 'dead'
  return (isEnded && faultOf(known, seen)) || (failure ?? unavailable('asleep', seen?.exitCode ?? null))
}

/** Running or paused, with an address. */
export const isAddress = (where: UpstreamAddress | Unavailable): where is UpstreamAddress => 'host' in where

export const unavailable = (reason: Unavailable['reason'], exitCode: number | null = null): Unavailable => ({
  reason,
  exitCode,
})

/** By slug, which the prefix begins with, as well: after an older store was restored, ids are given again. */
const isOwnedBy = ({ userId, prefix }: ContainerState, { owner }: RuntimeContainer) =>
  owner?.userId === userId && containerPrefix(owner.slug, owner.type) === prefix

/** Something took it off its network when it has none; a start does not mend that. */
function addressOf({ id, address, port, state }: RuntimeContainer): UpstreamAddress | Unavailable {
  if (address === null || port === null) return unavailable('failed')
  return { containerId: id, host: address, port, isPaused: state === 'paused' }
}

/** What its end was, when it was one to be told. What Berth stopped has done nothing wrong, whatever it said at the end. */
function faultOf(
  { wasStopped }: ContainerState,
  { isOutOfMemory, exitCode }: RuntimeContainer,
): Unavailable | undefined {
  if (wasStopped) return undefined
  if (isOutOfMemory) return unavailable('out-of-memory', exitCode)
  return exitCode === null || quietEnds.has(exitCode) ? undefined : unavailable('crashed', exitCode)
}
