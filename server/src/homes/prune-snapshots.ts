import { setImmediate as yieldToEvents } from 'node:timers/promises'
import { homeVolume } from '#/containers/container-name.ts'
import type { Runtime } from '#/engines/runtime.ts'
import { keptAmong } from '#/store/kept-homes.ts'
import { listContainersOfAll } from '#/store/user-containers.ts'
import type { Db } from '#/store/database.ts'
import { findUsers } from '#/store/users.ts'
import type { SnapshotFiles } from './snapshot-files.ts'

/** Homes per query of the store; other work runs in between. */
const pageSize = 200
/** Pause after the first list of all homes for the same snapshots, in ms; doubled with each further one, up to the max. */
const [firstPause, maxPause] = [10_000, 3_600_000]

export interface PruneParts {
  readonly db: Db
  readonly runtime: Pick<Runtime, 'homes'>
  readonly files: Pick<SnapshotFiles, 'volumes' | 'removeAll'>
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
    const volumes = (await files.volumes()).filter((volume) => ownerIn(installation, volume) !== 0)
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
    const { db, installation } = this.#parts
    const ids = new Set(volumes.map((volume) => ownerIn(installation, volume)))
    const users = await findUsers(db, [...ids])
    const slugs = new Map(users.map(({ id, slug }) => [id, slug]))
    const records = await listContainersOfAll(db, [...slugs.keys()])
    return new Set(records.map(({ userId, type }) => homeVolume(installation, userId, slugs.get(userId) ?? '', type)))
  }
}

/** Id of the user of whom it is a home of this installation (`homeVolume`); 0 for one of another installation. */
function ownerIn(installation: string, volume: string): number {
  const rest = volume.startsWith(`${installation}-home-`) ? volume.slice(`${installation}-home-`.length) : ''
  return Number(/^(\d{1,15})-/.exec(rest)?.[1] ?? 0)
}
