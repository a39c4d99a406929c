import { unavailable, type Unavailable, type UpstreamAddress } from '@berth/gateway/port/gateway.ts'
import type { RuntimeContainer } from '#/engines/runtime.ts'
import { containerPrefix } from '#/containers/container-name.ts'
import type { StopReason } from '@berth/api/schemas/container.ts'
import type { ContainerRef } from '#/store/user-containers.ts'

/** Merged view of one container: its record in the store, and the last inspect. */
export interface ContainerState extends ContainerRef {
  readonly recordId: number
  /** First segment of its path. */
  readonly prefix: string
  /** The engine's id; null until the first creation succeeded. */
  readonly containerId: string | null
  /** Whether it, or its owner, is blocked. */
  readonly isBlocked: boolean
  /** Whether Berth itself stopped it last, and has not started it since. */
  readonly wasStopped: boolean
  /** Why, if that was stored. */
  readonly stopReason: StopReason | null
  /** By the store: since when it is to run, or when Berth stopped it; ms since 1970, null where it ended by itself. */
  readonly since: number | null
  /** Whether it was stopped by request: of its owner's requests a page alone starts it then, and no other of an open tab. */
  readonly isStopRequested: boolean
  /** Whether it was retired: it counts as stopped, and a wake launches it. */
  readonly isRetired: boolean
  /** Whether Berth stopped it for what it had written outside of its home: a start makes it anew. */
  readonly hasFullLayer?: true
  /** Whether its engine keeps stopped containers; otherwise one that is gone counts as stopped, and a wake launches it. */
  readonly isKeptStopped: boolean
  /** Last inspect of this id; undefined before the first. */
  readonly seen: RuntimeContainer | 'gone' | undefined
  /** Why the last launch failed, until the next one. */
  readonly failure: Unavailable | undefined
}

/**
 * Since when it runs (by the engine, where it was asked), or when and why Berth stopped it, for its owner; empty for
 * anything else, and what is not known.
 */
export function sinceOf(known: ContainerState, status: string): { since?: string; why?: StopReason } {
  const { seen, since, wasStopped, stopReason } = known
  const startedAt = status === 'running' && seen && seen !== 'gone' ? seen.startedAt : null
  const at = status === 'running' || (status === 'asleep' && wasStopped) ? (startedAt ?? since) : null
  if (at === null) return {}
  return { since: new Date(at).toISOString(), ...(status === 'asleep' && stopReason && { why: stopReason }) }
}

/** Exit codes that are no failure: 0, and those of the two signals that a stop sends (128 + 9, 128 + 15). */
const quietEnds = new Set([0, 137, 143])

/**
 * Upstream address of a container, or why it cannot be reached, by its last inspect.
 * A container without this user and type on its labels counts as missing, whatever the store says.
 */
export function upstreamOf(known: ContainerState): UpstreamAddress | Unavailable {
  const { seen, failure } = known
  if (known.isRetired) return failure ?? unavailable('asleep')
  if (known.containerId !== null && seen === 'gone' && !known.isKeptStopped) return failure ?? unavailable('asleep')
  if (known.containerId === null || seen === 'gone' || (seen && !isOwnedBy(known, seen)))
    return failure ?? unavailable('missing')
  if (seen?.state === 'running' || seen?.state === 'paused') return addressOf(seen)
  if (seen?.disruption === 'node-lost') return unavailable('node-lost')
  const isEnded = seen?.state === 'exited' || seen?.state === 'dead'
  return (isEnded && faultOf(known, seen)) || (failure ?? unavailable('asleep', seen?.exitCode ?? null))
}

/** Running or paused, with an address. */
export const isAddress = (where: UpstreamAddress | Unavailable): where is UpstreamAddress => 'host' in where

/** By slug, which the prefix begins with, as well: after an older store is restored, ids are assigned again. */
const isOwnedBy = ({ userId, prefix }: ContainerState, { owner }: RuntimeContainer) =>
  owner?.userId === userId && containerPrefix(owner.slug, owner.type) === prefix

/** Without an address it was removed from its network; a start does not repair that. */
function addressOf({ id, address, port, state }: RuntimeContainer): UpstreamAddress | Unavailable {
  if (address === null || port === null) return unavailable('failed')
  return { containerId: id, host: address, port, isPaused: state === 'paused' }
}

/** The failure that its end was, if any. An end that Berth requested is none, whatever the exit code. */
function faultOf(
  { wasStopped }: ContainerState,
  { isOutOfMemory, exitCode, disruption }: RuntimeContainer,
): Unavailable | undefined {
  if (wasStopped) return undefined
  if (disruption) return unavailable(disruption)
  if (isOutOfMemory) return unavailable('out-of-memory', exitCode)
  return exitCode === null || quietEnds.has(exitCode) ? undefined : unavailable('crashed', exitCode)
}
