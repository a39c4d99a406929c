import { homeVolume } from '#/containers/container-name.ts'
import type { Runtime } from '#/runtime/runtime.ts'
import { listContainersOf } from '#/store/containers/user-containers.ts'
import type { Db } from '#/store/database.ts'
import { findUser } from '#/store/users/users.ts'
import type { SnapshotFiles } from './snapshot-files.ts'

export interface PruneParts {
  readonly db: Db
  readonly runtime: Pick<Runtime, 'homes'>
  readonly files: Pick<SnapshotFiles, 'volumes' | 'removeAll'>
  readonly installation: string
}

/**
 * Removes the snapshots of homes that are gone with their user or their container's record: after the retention of a deleted
 * user's homes, and after a purge. A home that was reset has a record. The engine is asked only when a record is missing.
 * @returns how many homes had snapshots that were removed @throws {RuntimeError} @throws {StoreFailure}
 */
export async function pruneSnapshots({ db, runtime, files, installation }: PruneParts): Promise<number> {
  const orphaned: string[] = []
  for (const volume of await files.volumes()) if (!(await hasRecord(db, installation, volume))) orphaned.push(volume)
  if (orphaned.length === 0) return 0
  const homes = new Set((await runtime.homes()).map(({ volume }) => volume))
  const gone = orphaned.filter((volume) => !homes.has(volume))
  for (const volume of gone) await files.removeAll(volume)
  return gone.length
}

/** Volumes of another installation that had this data folder have no record here. */
async function hasRecord(db: Db, installation: string, volume: string): Promise<boolean> {
  const rest = volume.startsWith(`${installation}-home-`) ? volume.slice(`${installation}-home-`.length) : ''
  const userId = Number(/^(\d{1,15})-/.exec(rest)?.[1] ?? 0)
  const user = userId === 0 ? undefined : await findUser(db, userId)
  if (!user) return false
  const records = await listContainersOf(db, userId)
  return records.some(({ type }) => homeVolume(installation, userId, user.slug, type) === volume)
}
