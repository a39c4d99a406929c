import type { RuntimeCapabilities } from '#/engines/runtime.ts'
import type { ContainerRef, RoutableContainer } from '#/store/user-containers.ts'
import type { User } from '#/store/users.ts'
import { containerPrefix } from '#/containers/container-name.ts'
import type { ContainerState } from './container-state.ts'

/** A container, and how old the knowledge about it is. All times are of the logical clock of the index. */
export interface IndexEntry {
  known: ContainerState
  /** Answers of the engine to requests before this time are void. */
  asOf: number
  /** When its program ended last, according to events. */
  endedAt: number
  /** The last inspect before the engine went down; undefined after the first one since. */
  before: ContainerState['seen']
}

interface Owner {
  /** One of each type. A list: a map for the one or two of each of 100,000 owners took 36 MB. */
  containers: readonly IndexEntry[]
  /** Answers of the store to queries before this time are void. */
  asOf: number
}

/**
 * In-memory index of container states, by owner, by prefix and by the engine's id; with a logical clock that orders requests,
 * their answers and events.
 */
export class ContainerIndex {
  readonly #owners = new Map<number, Owner>()
  readonly #byPrefix = new Map<string, IndexEntry>()
  readonly #byId = new Map<string, IndexEntry>()
  /** Whether the engine that has the containers keeps those that are stopped. */
  readonly keepsStopped: boolean
  #clock = 0

  /** @param capabilities of the engine that has the containers */
  constructor({ keepsStopped }: Pick<RuntimeCapabilities, 'keepsStopped'>) {
    this.keepsStopped = keepsStopped
  }

  /** Present time of the logical clock. */
  get now(): number {
    return this.#clock
  }

  /** Advances the logical clock. @returns the new time */
  tick(): number {
    return ++this.#clock
  }

  get({ userId, type }: ContainerRef): IndexEntry | undefined {
    return this.#owners.get(userId)?.containers.find(({ known }) => known.type === type)
  }

  byPrefix(prefix: string): IndexEntry | undefined {
    return this.#byPrefix.get(prefix)
  }

  byId(containerId: string): IndexEntry | undefined {
    return this.#byId.get(containerId)
  }

  entries(): MapIterator<IndexEntry> {
    return this.#byPrefix.values()
  }

  /** Engine's ids of all containers that have one. */
  ids(): string[] {
    return [...this.#byId.keys()]
  }

  hasOwner(userId: number): boolean {
    return this.#owners.has(userId)
  }

  ownerIds(): number[] {
    return [...this.#owners.keys()]
  }

  typesOf(userId: number): string[] {
    return this.#owners.get(userId)?.containers.map(({ known }) => known.type) ?? []
  }

  /** Notes that an owner was read at this time. @returns false when a later read is known already */
  updateOwner(userId: number, asOf: number): boolean {
    const owner = this.#owners.get(userId)
    if (owner && owner.asOf > asOf) return false
    if (owner) owner.asOf = asOf
    else this.#owners.set(userId, { containers: [], asOf })
    return true
  }

  /** Their containers have to be removed before. @returns whether there was such an owner */
  removeOwner(userId: number): boolean {
    return this.#owners.delete(userId)
  }

  /** Stores what the store has. The last inspect stays, as long as it is the same container. */
  put(user: User, record: RoutableContainer): IndexEntry {
    const old = this.get(record)
    const isSame = old?.known.containerId === record.containerId
    const entry: IndexEntry = old ?? {
      known: knownOf(user, record, undefined, false, this.keepsStopped),
      asOf: 0,
      endedAt: 0,
      before: undefined,
    }
    if (!isSame && old?.known.containerId) this.#byId.delete(old.known.containerId)
    if (!isSame) entry.before = undefined
    entry.known = knownOf(user, record, old?.known, isSame, this.keepsStopped)
    const owner = this.#owners.get(record.userId)
    // Not a spread, whose list has room for sixteen more.
    if (owner && !old) owner.containers = owner.containers.concat(entry)
    this.#byPrefix.set(entry.known.prefix, entry)
    if (record.containerId !== null) this.#byId.set(record.containerId, entry)
    return entry
  }

  /** @returns its prefix */
  remove(owned: ContainerRef): string | undefined {
    const entry = this.get(owned)
    if (!entry) return undefined
    const { prefix, containerId } = entry.known
    const owner = this.#owners.get(owned.userId)
    if (owner) owner.containers = owner.containers.filter((each) => each !== entry)
    this.#byPrefix.delete(prefix)
    if (containerId !== null) this.#byId.delete(containerId)
    return prefix
  }
}

function knownOf(
  user: User,
  record: RoutableContainer,
  old: ContainerState | undefined,
  isSame: boolean,
  isKeptStopped: boolean,
): ContainerState {
  const { userId, type, containerId } = record
  return {
    userId,
    type,
    recordId: record.id,
    prefix: containerPrefix(user.slug, type),
    containerId,
    isBlocked: record.isBlocked || user.isBlocked,
    wasStopped: record.stoppedAt !== null,
    stopReason: record.stopReason,
    since: (record.runningSince ?? record.stoppedAt)?.getTime() ?? null,
    isStopRequested: record.isStopRequested,
    isRetired: record.retiredAt !== null,
    isKeptStopped,
    ...(record.fullLayer === null ? {} : { hasFullLayer: true as const }),
    seen: isSame ? old?.seen : undefined,
    failure: old?.failure,
  }
}
