import { setImmediate as yieldToEvents } from 'node:timers/promises'
import type { Logger } from 'pino'
import { containerName, homeVolume, sharedHome } from '#/containers/container-name.ts'
import type { ContainerRemoval, HomeNames } from '#/containers/open-containers.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { Runtime } from '#/engines/runtime.ts'
import { pathIn } from '#/engines/tar/archive-rewrite.ts'
import { crashPoint } from '#/machine/crash-points.ts'
import { KeyedLimit } from '#/machine/semaphore.ts'
import { Refusal, refusals } from '#/refusals/errors.ts'
import type { AuditEntry } from '#/store/audit-log.ts'
import type { Database, Db } from '#/store/database.ts'
import { keptAmong } from '#/store/removals.ts'
import { findContainers, listContainersOfAll } from '#/store/user-containers.ts'
import { findUser, findUsers } from '#/store/users.ts'
import type { Template } from '#/templates/template.ts'
import { notRead, notWritten, noteHomeAction, type HomeAccess, type HomeAction, type HomeOwner } from './home-access.ts'
import { restoreVerb, type HomeRestores } from './home-restores.ts'
import { isSnapshotId, type Snapshot, type SnapshotFiles, type SnapshotReason } from './snapshot-files.ts'

export interface HomeSnapshotsParts {
  readonly access: HomeAccess
  /** Homes with more are not snapshotted; bytes. */
  readonly maxBytes: number
  readonly runtime: Pick<Runtime, 'inspect' | 'removeStopped'>
  readonly removal: Pick<ContainerRemoval, 'resetLocked'>
  readonly installation: string
  readonly files: SnapshotFiles
  readonly restores: HomeRestores
  /** Why a user's home may not grow; undefined when it may. */
  readonly diskRefusal: (owner: HomeOwner, template: Template) => Promise<Refusal | undefined>
  readonly log: Pick<Logger, 'warn' | 'info'>
}

/**
 * Restores of one home that may be under way or wait: each may take a quarter of an hour, and meanwhile neither an
 * administrator's removal of the container nor the end of a term has its turn.
 */
const maxRestores = 3

/** Snapshots of homes (decision 072): made, listed, restored and removed. */
export class HomeSnapshots {
  readonly #parts: HomeSnapshotsParts
  readonly #restoring = new KeyedLimit<string>({ ofKey: maxRestores })

  constructor(parts: HomeSnapshotsParts) {
    this.#parts = parts
  }

  /** Newest first; none where snapshots are switched off. @throws {Refusal} 400 unknown type */
  async list(owner: HomeOwner, type: string): Promise<Snapshot[]> {
    const { access, files } = this.#parts
    access.requireType(type)
    return access.isOn ? files.list(await access.volumeOf(owner, type)) : []
  }

  /** Whether a new home of this type gets files of the template. @throws {Refusal} 400 unknown type */
  hasStarterFiles(type: string): boolean {
    return this.#parts.access.requireType(type).files.length > 0
  }

  /** @throws {Refusal} 400 · 409 switched off, its program runs, or the home is too large · 429 · 500 it cannot be read or stored */
  async take(owner: HomeOwner, type: string, now: Date): Promise<Snapshot> {
    const { access } = this.#parts
    access.requireHome(type)
    return access.run(owner, type, 'snapshot', notRead, ({ volume }) => this.#write(volume, 'manual', now))
  }

  /**
   * Before a container with another image gets the home, if there is one: at most one try, which keeps no container from starting
   * when it fails. None is made of a home that another container has while that runs: it changes while it would be read.
   * Called in the flight of the container, when the one before is stopped or gone.
   * @param signal undefined: it waits for its turn however long that takes, and does not reject
   * @throws why it was aborted @throws {Refusal} 429 so many homes are read that it did not begin in time: a later launch makes it
   */
  async beforeImage(owner: HomeOwner, type: string, now: Date, signal: AbortSignal | undefined): Promise<void> {
    const { access, log } = this.#parts
    if (!access.isOn) return
    const snapshot = access.aloneInLaunch(owner, type, async ({ volume }) => {
      const work = async () => this.#write(volume, 'image', now, signal)
      return signal ? access.runNextUnless(owner, signal, work) : access.runNext(owner, work)
    })
    await snapshot.catch((error: unknown) => {
      signal?.throwIfAborted()
      if (signal && error instanceof Refusal) throw error
      // No container was made with the image before, such as because it could not be pulled.
      if (error instanceof RuntimeError && error.kind === 'missing') return
      log.warn({ err: error, user: owner.id, type }, 'a home gets another image without a snapshot')
    })
    signal?.throwIfAborted()
  }

  /**
   * Puts a snapshot, or one folder or file of it, into a new folder of the home, beside what is there.
   * @param given path in the home, such as `notes`, `./notes` or `notes/`; empty, or `.`, for all @returns name of the folder
   * @throws {Refusal} 400 · 404 no such snapshot or path · 409 switched off, or the container is not stopped · 429 · 500 as
   *   `HomeRestores.unpack`
   */
  async restore(owner: HomeOwner, type: string, id: string, given: string, now: Date): Promise<string> {
    const { access, diskRefusal, restores } = this.#parts
    const template = access.requireHome(type)
    const volume = await this.#requireSnapshot(owner, type, id)
    const refusal = await diskRefusal(owner, template)
    if (refusal) throw refusal
    const leave = this.#restoring.enter(volume)
    if (!leave) throw refusals.snapshotsBusy()
    const folder = folderAt('restored', now)
    const only = pathIn(given)
    const pending = { userId: owner.id, slug: owner.slug, type, volume, from: 'snapshot', id, only, folder } as const
    return access
      .run(owner, type, restoreVerb(pending), notWritten, async () => {
        // The snapshot may have been removed, also to make room for a newer one, while this waited for its turn.
        await this.#requireSnapshot(owner, type, id)
        await restores.unpack(pending)
        return folder
      })
      .finally(leave)
  }

  /**
   * Makes a snapshot, then removes the containers that have the home, and the home: the next launch begins with what the image and the starter files
   * give. @throws {Refusal} as `take`: the home is whole, a snapshot may be there · 500 `resetUnfinished`: the snapshot is there,
   * and the home is removed before the next launch
   * @param noteUnfinished is awaited before the latter is thrown
   */
  async reset(
    owner: HomeOwner,
    type: string,
    now: Date,
    noteUnfinished: (made: Snapshot) => Promise<void>,
  ): Promise<Snapshot> {
    const { access, runtime, removal, installation } = this.#parts
    access.requireHome(type)
    return access.run(owner, type, 'reset', notWritten, async ({ volume, isShared }) => {
      const made = await this.#write(volume, 'reset', now)
      crashPoint('home-reset.after-snapshot')
      for (const each of access.typesWith(type)) {
        const found = await runtime.inspect(containerName(installation, owner.slug, each))
        if (found?.owner) await runtime.removeStopped(found.id)
      }
      crashPoint('home-reset.after-remove')
      try {
        await removal.resetLocked({ userId: owner.id, slug: owner.slug, type: isShared ? sharedHome : type }, now)
      } catch (error) {
        if (error instanceof Refusal && error.code === 'resetUnfinished') await noteUnfinished(made)
        throw error
      }
      return made
    })
  }

  /** @throws {Refusal} 400 · 404 */
  async remove(owner: HomeOwner, type: string, id: string): Promise<void> {
    const { access, files } = this.#parts
    access.requireType(type)
    const volume = await this.#requireSnapshot(owner, type, id)
    await access.run(owner, type, `remove ${id}`, [], () => files.remove(volume, id))
  }

  /** @returns name of the home @throws {Refusal} 404 */
  async #requireSnapshot(owner: HomeOwner, type: string, id: string): Promise<string> {
    const { access, files } = this.#parts
    const volume = await access.volumeOf(owner, type)
    if (!isSnapshotId(id) || !(await files.list(volume)).some((each) => each.id === id))
      throw refusals.notFound('snapshot')
    return volume
  }

  async #write(volume: string, reason: SnapshotReason, now: Date, signal?: AbortSignal): Promise<Snapshot> {
    const { access, files, maxBytes, log } = this.#parts
    const end = signal ? AbortSignal.any([signal, access.timeLimit()]) : access.timeLimit()
    const made = await files.write(volume, reason, access.contents.read(volume, end), { now, maxBytes })
    crashPoint('home-snapshot.after-write')
    for (const { id } of outdatedSnapshots(await files.list(volume), now.getTime(), made.id))
      await files.remove(volume, id)
    log.info({ volume, snapshot: made.id, bytes: made.bytes }, 'a snapshot of a home was made')
    return made
  }
}

/** Name of a new folder in a home. It is local to no time zone, sorts, and tells when. */
export const folderAt = (what: 'restored' | 'uploaded', now: Date) =>
  `${what}-${now.toISOString().replace(/[:.]/g, '-')}`

/** The newest snapshots that are kept, besides one that is about a week old. */
const newestKept = 3
const week = 7 * 86_400_000

/**
 * Snapshots of one home to remove: all but the three newest, and the newest of those that are a week old. While none is,
 * the oldest stays, which becomes that one. The one just made always stays: after the clock was set back, others lie in the
 * future, and a reset would remove the home with its only snapshot.
 * @param snapshots in any order @param now ms since 1970 @param made id of the one just made
 */
export function outdatedSnapshots(snapshots: readonly Snapshot[], now: number, made: string): Snapshot[] {
  const rank = ({ id, createdAt }: Snapshot) => (id === made ? Infinity : Math.min(createdAt.getTime(), now))
  const newestFirst = snapshots.toSorted((a, b) => rank(b) - rank(a))
  const others = newestFirst.slice(newestKept)
  const weekOld = others.find(({ createdAt }) => now - createdAt.getTime() >= week) ?? others.at(-1)
  return others.filter((each) => each !== weekOld)
}

type Actor = AuditEntry['actor']

/** The operator's work on snapshots of homes of all users, by the number of a container's record; audited once it is done. */
export class SnapshotAdministration {
  readonly #database: Database
  readonly #snapshots: HomeSnapshots

  constructor(database: Database, snapshots: HomeSnapshots) {
    this.#database = database
    this.#snapshots = snapshots
  }

  /** @throws {Refusal} 404 */
  async list(id: number): Promise<{ readonly found: Snapshot[]; readonly hasStarterFiles: boolean }> {
    const { owner, type } = await this.#find(id)
    const found = await this.#snapshots.list(owner, type)
    return { found, hasStarterFiles: this.#snapshots.hasStarterFiles(type) }
  }

  /** @throws {Refusal} 404 · as `HomeSnapshots.take` */
  async take(actor: Actor, id: number, now: Date): Promise<Snapshot> {
    const home = await this.#find(id)
    const made = await this.#snapshots.take(home.owner, home.type, now)
    await this.#note('home.snapshot', actor, home, { snapshot: made.id }, now)
    return made
  }

  /** @returns name of the new folder @throws {Refusal} 404 · as `HomeSnapshots.restore` */
  async restore(actor: Actor, id: number, snapshot: string, only: string, now: Date): Promise<string> {
    const home = await this.#find(id)
    const folder = await this.#snapshots.restore(home.owner, home.type, snapshot, only, now)
    await this.#note('home.restore', actor, home, { snapshot, folder }, now)
    return folder
  }

  /** @throws {Refusal} 404 */
  async remove(actor: Actor, id: number, snapshot: string, now: Date): Promise<void> {
    const home = await this.#find(id)
    await this.#snapshots.remove(home.owner, home.type, snapshot)
    await this.#note('home.remove-snapshot', actor, home, { snapshot }, now)
  }

  async #find(id: number): Promise<Home> {
    const [container] = await findContainers(this.#database.db, [id])
    const owner = container && (await findUser(this.#database.db, container.userId))
    if (!owner) throw refusals.notFound('container')
    return { owner, type: container.type }
  }

  async #note(action: HomeAction, actor: Actor, home: Home, detail: Record<string, string>, at: Date): Promise<void> {
    await noteHomeAction(this.#database, { action, actor, ...home, detail }, at)
  }
}

interface Home {
  readonly owner: HomeOwner
  readonly type: string
}

/** Homes per query of the store; other work runs in between. */
const pageSize = 200
/** Pause after the first list of all homes for the same snapshots, in ms; doubled with each further one, up to the max. */
const [firstPause, maxPause] = [10_000, 3_600_000]

export interface PruneParts {
  readonly db: Db
  readonly runtime: Pick<Runtime, 'homes'>
  readonly files: Pick<SnapshotFiles, 'volumes' | 'removeAll'>
  readonly names: Pick<HomeNames, 'sharedTypes' | 'isShared'>
  readonly installation: string
  /** Monotonic, in ms; for tests. */
  readonly steady?: () => number
}

/**
 * Removes the snapshots of homes that are gone with their user or their container's record: after the retention of a deleted
 * user's homes, and after a purge. A home that was reset has a record. Those of another installation that had this data folder
 * stay: its engine and store are not known here, and it may come back.
 *
 * The engine is asked only for a home that has no record and is not kept, because it lists all homes. One that stays there, as of
 * a container that was deleted without its home, is asked for ever more rarely.
 */
export class PruneSnapshots {
  readonly #parts: PruneParts
  readonly #steady: () => number
  /** Without a record, and there at the last list. */
  #left: ReadonlySet<string> = new Set()
  #pause = firstPause
  #askedAt = -Infinity

  constructor(parts: PruneParts) {
    this.#parts = parts
    this.#steady = parts.steady ?? (() => performance.now())
  }

  /** @returns how many homes had snapshots that were removed @throws {RuntimeError} @throws {StoreFailure} */
  async run(): Promise<number> {
    const orphaned = await this.#orphaned()
    const isOther = orphaned.some((volume) => !this.#left.has(volume))
    if (orphaned.length === 0 || (!isOther && this.#steady() - this.#askedAt < this.#pause)) return 0
    const { runtime, files } = this.#parts
    const homes = new Set((await runtime.homes()).map(({ volume }) => volume))
    const gone = orphaned.filter((volume) => !homes.has(volume))
    this.#pause = isOther ? firstPause : Math.min(maxPause, this.#pause * 2)
    this.#askedAt = this.#steady()
    this.#left = new Set(orphaned.filter((volume) => homes.has(volume)))
    for (const volume of gone) await files.removeAll(volume)
    return gone.length
  }

  async #orphaned(): Promise<string[]> {
    const { db, files, installation } = this.#parts
    const volumes = (await files.volumes()).filter((volume) => ownerOf(installation, volume) !== 0)
    const orphaned: string[] = []
    for (let start = 0; start < volumes.length; start += pageSize) {
      const page = volumes.slice(start, start + pageSize)
      const known = await this.#withRecord(page)
      const unknown = page.filter((volume) => !known.has(volume))
      const kept = await keptAmong(db, unknown)
      orphaned.push(...unknown.filter((volume) => !kept.has(volume)))
      await yieldToEvents()
    }
    return orphaned
  }

  async #withRecord(volumes: readonly string[]): Promise<Set<string>> {
    const { db, names, installation } = this.#parts
    const ids = new Set(volumes.map((volume) => ownerOf(installation, volume)))
    const users = await findUsers(db, [...ids])
    const slugs = new Map(users.map(({ id, slug }) => [id, slug]))
    const records = await listContainersOfAll(db, [...slugs.keys()])
    const shared = await names.sharedTypes([...slugs.keys()])
    return new Set(
      records.flatMap(({ userId, type }) => {
        // Also of a type that shares: its home from before stays.
        const types = names.isShared(type) ? [type, shared.get(userId) ?? type] : [type, `${type}\0`]
        return types.map((each) => homeVolume(installation, userId, slugs.get(userId) ?? '', each))
      }),
    )
  }
}

/** Id of the user of whom it is a home of this installation (`homeVolume`); 0 for one of another installation. */
function ownerOf(installation: string, volume: string): number {
  const rest = volume.startsWith(`${installation}-home-`) ? volume.slice(`${installation}-home-`.length) : ''
  return Number(/^(\d{1,15})-/.exec(rest)?.[1] ?? 0)
}
