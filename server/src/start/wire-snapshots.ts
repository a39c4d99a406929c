import path from 'node:path'
import type { SingleFlight } from '#/machine/single-flight.ts'
import type { ContainerRemoval } from '#/containers/container-removal.ts'
import type { DiskUse } from '#/homes/disk-use.ts'
import type { BeforeImage } from '#/containers/launch/starter.ts'
import type { Task } from '#/containers/reconcile/reconciler.ts'
import type { OpenStreams } from '#/containers/open-streams.ts'
import { HomeAccess } from '#/homes/home-access.ts'
import { HomeRestores, RestoreJournal } from '#/homes/home-restores.ts'
import { HomeFolders } from '#/homes/home-folders.ts'
import {
  HomeSnapshots,
  PruneSnapshots,
  SnapshotAdministration,
  type HomeSnapshotsParts,
} from '#/homes/home-snapshots.ts'
import { SnapshotFiles } from '#/homes/snapshot-files.ts'
import { HomeDownloads } from '#/homes/home-downloads.ts'
import { HomeUploads } from '#/homes/home-uploads.ts'
import { noteHomeWritten } from '#/store/home-archives.ts'
import { findUser } from '#/store/users.ts'
import type { AppParts } from './app-parts.ts'

/** Snapshots of homes. Where they are switched off, nothing is read, and no launch asks for one. */
export function wireSnapshots(
  { config, database, runtime, installation, isForOneCommand, pace, log }: AppParts,
  singleFlight: SingleFlight,
  removal: ContainerRemoval,
  diskUse: DiskUse,
  streams: OpenStreams,
) {
  const contents = runtime.homeContents()
  const isOn = config.snapshots.isOn && contents !== undefined
  const folder = path.join(config.dataDir, 'snapshots')
  const files = new SnapshotFiles(path.join(folder, 'homes'))
  const upload = new SnapshotFiles(path.join(folder, 'uploads'))
  const { templates } = config
  const { maxBytes } = config.snapshots
  const diskRefusal: HomeSnapshotsParts['diskRefusal'] = (owner, template) => diskUse.refusalFor(owner, template)
  const access = new HomeAccess({
    isOn,
    isService: !isForOneCommand,
    contents,
    runtime,
    singleFlight,
    installation,
    templates,
    removal,
    ...(pace?.homes === undefined ? {} : { timeLimit: pace.homes }),
  })
  const restores = new HomeRestores({
    access,
    singleFlight,
    templates,
    files: { snapshot: files, upload },
    journal: new RestoreJournal(path.join(folder, 'restoring')),
    beforeWrite: ({ userId, type }) => noteHomeWritten(database.db, userId, type),
    log,
  })
  const snapshots = new HomeSnapshots({
    access,
    maxBytes,
    runtime,
    removal,
    installation,
    files,
    restores,
    diskRefusal,
    log,
  })
  const beforeImage: BeforeImage | undefined = isOn
    ? ({ userId, slug, type }, signal) => snapshots.beforeImage({ id: userId, slug }, type, new Date(), signal)
    : undefined
  const pruning = new PruneSnapshots({ db: database.db, runtime, files, installation })
  const task: Task = {
    name: 'snapshots',
    run: async () => {
      if (!isOn) return {}
      await restores.complete()
      return { removed: await pruning.run() }
    },
  }
  /** Completes what the death of a process has interrupted. Before the first launch. */
  const resumeSnapshots = async () => {
    if (!isOn || isForOneCommand) return
    await restores.resume()
  }
  const uploads = new HomeUploads({
    access,
    maxBytes,
    restores,
    diskRefusal,
    files: upload,
    roomFor: (owner, type) => diskUse.roomFor(owner, type),
    findUser: (userId) => findUser(database.db, userId),
  })
  return {
    snapshots,
    homes: {
      downloads: new HomeDownloads(snapshots, access, files, streams),
      uploads,
      folders: new HomeFolders(access),
    },
    snapshotAdministration: new SnapshotAdministration(database, snapshots),
    beforeImage,
    snapshotsTask: task,
    resumeSnapshots,
  }
}
