import { posix } from 'node:path'
import { list, message } from '@berth/texts/localized-message.ts'
import { containerName, sharedHome } from '#/containers/container-name.ts'
import type { ContainerRemoval, HomeLocks, NamedHome } from '#/containers/open-containers.ts'
import type { HomeContents, Runtime } from '#/engines/runtime.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { SizeLimitExceeded } from '#/engines/tar/checked-archive.ts'
import { DiskNearlyFull } from '#/machine/disk-room.ts'
import { FairSemaphore } from '#/machine/fair-semaphore.ts'
import type { SingleFlight } from '#/machine/single-flight.ts'
import { Refusal, refusals } from '#/refusals/errors.ts'
import type { AuditAction } from '@berth/api/audit-actions.ts'
import { insertAuditEntries, type AuditEntry } from '#/store/audit-log.ts'
import { containerKey, findContainer } from '#/store/user-containers.ts'
import type { Database } from '#/store/database.ts'
import type { Template, Templates } from '#/templates/template.ts'

/** Homes that are read or written at the same time, in all and of one person. */
const parallel = { max: 2, maxOfFlow: 1 }
/** Requests that may wait for one of these, in all and of one person. */
const maxWaiting = { ofAll: 20, ofOwner: 5 }
/** How often a reader that gives way asks whether other work waits for its end, in ms. */
const yieldCheckInterval = 100
/** How long one home may be read or written, in ms. */
const defaultTimeLimit = 900_000

/** Whose home it is. */
export interface HomeOwner {
  readonly id: number
  readonly slug: string
}

export interface HomeAccessParts {
  /** Whether snapshots are switched on. */
  readonly isOn: boolean
  /** False in the process of a command: a service that starts meanwhile would not know of the work. */
  readonly isService: boolean
  /** Undefined where the engine cannot read homes; then snapshots are off. */
  readonly contents: HomeContents | undefined
  readonly runtime: Pick<Runtime, 'inspect'>
  readonly singleFlight: SingleFlight
  readonly installation: string
  readonly templates: Pick<Templates, 'get' | 'openTypes'>
  /** See `ContainerRemoval`. */
  readonly removal: Pick<ContainerRemoval, 'finishLocked'>
  readonly homes: HomeLocks
  /** For tests, in ms. */
  readonly timeLimit?: number
}

/** States of a container in which its home may not be read, and not be written. */
export const [notRead, notWritten] = [
  ['running', 'restarting'],
  ['running', 'restarting', 'paused'],
] as const

/**
 * Exclusive access to homes: work on one runs in the flight of its container, so that no launch, stop or other work on this
 * home runs at the same time, and only while the container's program does not run. A home that several containers have is
 * locked against the launches of all of them, and none of their programs may run. So there are never two writers, and nothing
 * changes while it is read. Of those who wait each has a turn in the order of people, not of requests.
 */
export class HomeAccess {
  readonly #parts: HomeAccessParts
  readonly #turns = new FairSemaphore(parallel)

  constructor(parts: HomeAccessParts) {
    this.#parts = parts
  }

  get isOn(): boolean {
    return this.#parts.isOn
  }

  /** @throws {Refusal} 409 */
  get contents(): HomeContents {
    if (!this.#parts.contents) throw refusals.snapshotsOff()
    return this.#parts.contents
  }

  /**
   * Whether something is mounted at a path of a home, or below it, in a container of this or another type that has the home:
   * a folder of a group, or what the template mounts.
   * @param path relative to the home
   */
  isMountPoint(type: string, path: string): boolean {
    const { templates, homes } = this.#parts
    return homes.names.typesWith(type).some((each) => {
      const { home, mounts, groupFolders } = templates.get(each) ?? { home: null, mounts: [], groupFolders: null }
      if (home === null) return false
      const at = posix.join(home, path)
      const isBelow = (target: string) => target === at || target.startsWith(`${at}/`)
      return (
        mounts.some(({ target }) => isBelow(target)) ||
        (groupFolders !== null && (isBelow(groupFolders) || posix.dirname(at) === groupFolders))
      )
    })
  }

  /** Ends what takes too long. */
  timeLimit(): AbortSignal {
    return AbortSignal.timeout(this.#parts.timeLimit ?? defaultTimeLimit)
  }

  /**
   * @param verb requests with the same one share one run @param states in which nothing is done
   * @throws {Refusal} 409 a container with the home is in one of the states · 429 too many wait · as the work, by
   *   `rethrowInWords`
   */
  async run<T>(
    owner: HomeOwner,
    type: string,
    verb: string,
    states: readonly string[],
    work: (home: NamedHome) => Promise<T>,
  ): Promise<T> {
    const { removal } = this.#parts
    if (!this.#parts.isService && states.length > 0) throw refusals.conflict(message('snapshots.needsService'))
    const key = containerKey({ userId: owner.id, type })
    return this.#parts.singleFlight
      .run(key, verb, async () => {
        return this.alone(owner, type, async (home) => {
          this.#requirePlace(owner)
          return this.#turns.run(flowOf(owner), async () => {
            await this.requireNot(owner, type, states)
            // A part of a home is no home. Work that needs no container, as on a snapshot alone, does not look at it.
            const types = states.length === 0 ? [] : home.isShared ? [type, sharedHome] : [type]
            for (const each of types) await removal.finishLocked({ userId: owner.id, slug: owner.slug, type: each })
            return work(home)
          })
        })
      })
      .catch(rethrowInWords)
  }

  /**
   * Reads a home whatever the state of its container, in the flight of the container, and gives way to all other work on it, such
   * as the stop that follows a block: otherwise a user with many requests about a large home could put that off for as long as they wish.
   * @param work is to end soon when the signal is aborted, with what it has
   * @throws {Refusal} 429 too many wait, or other work came first · as the work, by `rethrowInWords`
   */
  async readYielding<T>(
    owner: HomeOwner,
    type: string,
    verb: string,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const key = containerKey({ userId: owner.id, type })
    return this.#parts.singleFlight
      .run<T>(key, verb, (_, isAwaited) => this.#readUntil(owner, isAwaited, work))
      .catch(rethrowInWords)
  }

  /**
   * Does what `readYielding` does, for work that lasts as long as its reader wishes and therefore takes no turn of others; who calls bounds how
   * many there are. @param states in which nothing is done @throws {Refusal} 409 the container is in one of the states · as the work
   */
  async holdYielding(
    owner: HomeOwner,
    type: string,
    verb: string,
    states: readonly string[],
    work: (signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    if (!this.#parts.isService) throw refusals.conflict(message('snapshots.needsService'))
    const key = containerKey({ userId: owner.id, type })
    return this.#parts.singleFlight
      .run<void>(key, verb, async (_, isAwaited) => {
        await this.requireNot(owner, type, states)
        const left = new AbortController()
        const timer = setInterval(() => isAwaited() && left.abort(), yieldCheckInterval)
        await work(left.signal).finally(() => clearInterval(timer))
      })
      .catch(rethrowInWords)
  }

  async #readUntil<T>(
    owner: HomeOwner,
    isAwaited: () => boolean,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    this.#requirePlace(owner)
    const left = new AbortController()
    const early = Promise.withResolvers<never>()
    let hasBegun = false
    const giveWay = () => {
      if (!isAwaited()) return
      left.abort()
      if (!hasBegun) early.reject(refusals.snapshotsBusy())
    }
    giveWay()
    const timer = setInterval(giveWay, yieldCheckInterval)
    const read = this.#turns.run(flowOf(owner), async () => {
      left.signal.throwIfAborted()
      hasBegun = true
      return work(left.signal)
    })
    return Promise.race([read, early.promise]).finally(() => clearInterval(timer))
  }

  /** Runs work while no container with this home is launched; in the flight of a container. */
  async alone<T>({ id, slug }: HomeOwner, type: string, work: (home: NamedHome) => Promise<T>): Promise<T> {
    return this.#parts.homes.alone({ userId: id, slug }, type, work)
  }

  /**
   * Does what `alone` does within a launch.
   * @returns undefined when it was not run, because another container with this home runs or is launched
   */
  async aloneInLaunch<T>(
    owner: HomeOwner,
    type: string,
    work: (home: NamedHome) => Promise<T>,
  ): Promise<{ readonly result: T } | undefined> {
    const { id: userId, slug } = owner
    const done = await this.#parts.homes.aloneInLaunch({ userId, slug }, type, async (home) => {
      const others = this.#parts.homes.names.typesWith(type).filter((each) => each !== type)
      return (await this.#busyAmong(owner, others, notRead)).length > 0 ? undefined : { result: await work(home) }
    })
    return done?.result
  }

  /** For work in a flight of the container that is there already, or behind every request. */
  async runNext<T>(owner: Pick<HomeOwner, 'id'>, work: () => Promise<T>): Promise<T> {
    return this.#turns.run(flowOf(owner), work)
  }

  /**
   * Does what `runNext` does, for work of a request that may be given up: it does not begin once the signal is aborted, nor after as long as one home
   * may take. @param work is to end soon when the signal is aborted @throws {Refusal} 429 it did not begin in time · why it was
   * aborted · as the work
   */
  async runNextUnless<T>(owner: Pick<HomeOwner, 'id'>, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const late = this.timeLimit()
    const early = Promise.withResolvers<never>()
    let hasBegun = false
    const leave = () => {
      if (!hasBegun) early.reject(signal.aborted ? signal.reason : refusals.snapshotsBusy())
    }
    const end = new AbortController()
    for (const each of [signal, late]) each.addEventListener('abort', leave, { signal: end.signal })
    if (signal.aborted) leave()
    const run = this.#turns.run(flowOf(owner), async () => {
      if (signal.aborted || late.aborted) return early.promise
      hasBegun = true
      return work()
    })
    return Promise.race([run, early.promise]).finally(() => end.abort())
  }

  /** @throws {Refusal} 429 */
  #requirePlace(owner: HomeOwner): void {
    const turns = this.#turns
    if (turns.waiting >= maxWaiting.ofAll || turns.waitingOf(flowOf(owner)) >= maxWaiting.ofOwner)
      throw refusals.snapshotsBusy()
  }

  /** @throws {Refusal} 409 @throws {RuntimeError} */
  async requireNot(owner: HomeOwner, type: string, states: readonly string[]): Promise<void> {
    const { homes, templates } = this.#parts
    const busy = await this.#busyAmong(owner, homes.names.typesWith(type), states)
    if (busy.length === 0) return
    if (!homes.names.isShared(type)) throw refusals.conflict(message('snapshots.stopFirst'))
    const names = busy.map((each) => templates.get(each)?.displayName ?? each)
    throw refusals.conflict(message('snapshots.stopAllFirst', { names: list('comma', names) }))
  }

  /** Whether every container with the home of this type is in none of these states. @throws {RuntimeError} */
  async isIdle(owner: HomeOwner, type: string, states: readonly string[]): Promise<boolean> {
    const types = this.#parts.homes.names.typesWith(type)
    return (await this.#busyAmong(owner, types, states)).length === 0
  }

  /** Types whose containers are in one of these states. */
  async #busyAmong({ slug }: HomeOwner, types: readonly string[], states: readonly string[]): Promise<string[]> {
    const { runtime, installation } = this.#parts
    if (states.length === 0) return []
    const busy: string[] = []
    for (const type of types) {
      const found = await runtime.inspect(containerName(installation, slug, type))
      if (found && states.includes(found.state)) busy.push(type)
    }
    return busy
  }

  /** A type with a home, where snapshots are on. @throws {Refusal} 400 · 409 */
  requireHome(type: string): Template {
    const template = this.requireType(type)
    if (!this.#parts.isOn) throw refusals.snapshotsOff()
    if (template.home === null) throw refusals.conflict(message('snapshots.noHome'))
    if (template.homeSource) throw refusals.conflict(message('snapshots.elsewhere'))
    return template
  }

  /** A type whose homes have files, also where snapshots are off. @throws {Refusal} 400 · 409 */
  requireFiles(type: string): void {
    if (this.requireType(type).home === null) throw refusals.conflict(message('snapshots.noHome'))
    if (!this.#parts.contents) throw refusals.conflict(message('snapshots.noFilesHere'))
  }

  /** @throws {Refusal} 400 */
  requireType(type: string): Template {
    const { templates } = this.#parts
    const template = templates.get(type)
    if (!template) throw refusals.unknownType(templates.openTypes)
    return template
  }

  /** @throws {RuntimeError} @throws {StoreFailure} as `HomeNames.of` */
  async volumeOf({ id, slug }: HomeOwner, type: string): Promise<string> {
    return (await this.#parts.homes.names.of({ userId: id, slug }, type)).volume
  }

  /** Types whose containers have the same home as this one, itself among them. */
  typesWith(type: string): string[] {
    return this.#parts.homes.names.typesWith(type)
  }
}

/** The work of one person takes turns with that of others. */
const flowOf = ({ id }: Pick<HomeOwner, 'id'>) => String(id)

/** What a failure of engine or disk is for those who asked. @throws always */
export function rethrowInWords(error: unknown): never {
  if (error instanceof Refusal) throw error
  if (error instanceof SizeLimitExceeded) throw refusals.conflict(message('snapshots.tooLarge'))
  if (error instanceof DiskNearlyFull) throw refusals.snapshotDiskFull(error)
  if (error instanceof RuntimeError && error.kind === 'missing') throw refusals.conflict(message('snapshots.noHomeYet'))
  throw refusals.snapshotFailed(error)
}

/** What is recorded of work on homes: what leaves or replaces their contents, and what the operator does. */
export type HomeAction = Extract<AuditAction, `home.${string}`>

/** Who did what to which home. */
export interface HomeNote {
  readonly action: HomeAction
  readonly actor: AuditEntry['actor']
  readonly owner: HomeOwner
  readonly type: string
  readonly detail?: Readonly<Record<string, string | number>>
}

/** Writes the entry, once the work is done. @throws {StoreFailure} */
export async function noteHomeAction(database: Database, note: HomeNote, at: Date): Promise<void> {
  const { action, actor, owner, type, detail } = note
  await database.transaction(async (tx) => {
    const record = await findContainer(tx, owner.id, type)
    const target = record ? `container:${record.id}` : `user:${owner.id}`
    await insertAuditEntries(tx, [{ at, actor, action, target, detail: { user: owner.id, type, ...detail } }])
  })
}
