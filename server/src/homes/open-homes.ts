import path from 'node:path'
import { hasSnapshots, type Foundation } from '#/containers/containers-parts.ts'
import type { Containers } from '#/containers/open-containers.ts'
import type { Task } from '#/containers/reconcile/reconciler.ts'
import { noteHomeWritten } from '#/store/home-archives.ts'
import { findUser, listExtraDisk } from '#/store/users.ts'
import { DiskLimits } from './disk-limits.ts'
import { DiskMeasurement, DiskUse } from './disk-use.ts'
import { TemplateSources, type SourceFolders } from '#/templates/template-sources.ts'
import { HomeAccess } from './home-access.ts'
import { HomeDownloads } from './home-downloads.ts'
import { HomeFiles } from './home-files.ts'
import { HomeFolders } from './home-folders.ts'
import { HomeOwnerChanges } from './home-owner-changes.ts'
import { HomeRestores, RestoreJournal } from './home-restores.ts'
import { HomeSnapshots, PruneSnapshots, SnapshotAdministration, type HomeSnapshotsParts } from './home-snapshots.ts'
import { HomeUploads } from './home-uploads.ts'
import { OwnHomes } from './own-homes.ts'
import { SnapshotFiles } from './snapshot-files.ts'

export type { FolderSize, FolderSizes } from '#/engines/tar/folder-sizes.ts'
export type { DiskUse } from './disk-use.ts'
export { noteHomeAction, type HomeNote } from './home-access.ts'
export type { Snapshot } from './snapshot-files.ts'

export interface HomesParts extends Foundation {
  readonly config: {
    readonly dataDir: string
    readonly maxDiskPerUser: number | null
    readonly sources: SourceFolders
    readonly snapshots: { readonly isOn: boolean; readonly maxBytes: number }
  }
  readonly containers: Containers
  /** For tests, in ms: between two measurements, and the limit of work on a home. */
  readonly pace?: { readonly measureHomes?: number; readonly homes?: number }
}

/**
 * The room of homes: their disk use, snapshots, downloads and uploads. Launches ask it first. Where snapshots are switched
 * off, nothing is read, and no launch asks for one.
 */
export class Homes {
  readonly diskUse: DiskUse
  readonly snapshots: HomeSnapshots
  readonly snapshotAdministration: SnapshotAdministration
  readonly downloads: HomeDownloads
  readonly uploads: HomeUploads
  readonly folders: HomeFolders
  readonly files: HomeFiles
  readonly ownHomes: OwnHomes
  readonly ownerChanges: HomeOwnerChanges
  /** Completes restores, and deletes snapshots of homes that are gone. */
  readonly task: Task
  readonly #restores: HomeRestores
  readonly #measurement: DiskMeasurement
  readonly #hasSnapshots: boolean
  readonly #isForOneCommand: boolean

  constructor(parts: HomesParts) {
    const { config, database, runtime, installation, containers, log, pace } = parts
    const { templates, rules, singleFlight, removal, streams, homes } = containers
    const { maxBytes } = config.snapshots
    const isOn = hasSnapshots(config, runtime)
    this.#hasSnapshots = isOn
    this.#isForOneCommand = parts.isForOneCommand === true
    this.diskUse = diskUseOf(parts)
    const { diskUse } = this
    this.#measurement = new DiskMeasurement(diskUse, log, pace?.measureHomes)
    const folder = path.join(config.dataDir, 'snapshots')
    const files = new SnapshotFiles(path.join(folder, 'homes'))
    const upload = new SnapshotFiles(path.join(folder, 'uploads'))
    const diskRefusal: HomeSnapshotsParts['diskRefusal'] = (owner, template) => diskUse.refusalFor(owner, template)
    const access = new HomeAccess({
      isOn,
      isService: !parts.isForOneCommand,
      contents: runtime.homeContents(),
      runtime,
      singleFlight,
      installation,
      templates,
      removal,
      homes,
      ...(pace?.homes === undefined ? {} : { timeLimit: pace.homes }),
    })
    const beforeWrite = async ({ userId, type }: { readonly userId: number; readonly type: string }) => {
      for (const each of homes.names.typesWith(type)) await noteHomeWritten(database.db, userId, each)
    }
    this.#restores = new HomeRestores({
      access,
      singleFlight,
      templates,
      files: { snapshot: files, upload },
      journal: new RestoreJournal(path.join(folder, 'restoring')),
      beforeWrite,
      log,
    })
    const restores = this.#restores
    this.snapshots = new HomeSnapshots({
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
    this.snapshotAdministration = new SnapshotAdministration(database, this.snapshots)
    this.downloads = new HomeDownloads(this.snapshots, access, files, streams)
    this.uploads = new HomeUploads({
      access,
      maxBytes,
      restores,
      diskRefusal,
      files: upload,
      roomFor: (owner, type) => diskUse.roomFor(owner, type),
      findUser: (userId) => findUser(database.db, userId),
    })
    this.folders = new HomeFolders(access)
    this.files = new HomeFiles({
      access,
      streams,
      beforeWrite,
      onRemoved: () => diskUse.noteRemoved(),
    })
    this.ownHomes = new OwnHomes({
      runtime,
      contents: runtime.homeContents(),
      names: homes.names,
      templates,
      streams,
      bytesOf: (owner) => diskUse.bytesOf(owner),
    })
    this.ownerChanges = new HomeOwnerChanges({
      database,
      access,
      contents: runtime.homeContents(),
      templates,
      sources: new TemplateSources(config.sources),
    })
    const pruning = new PruneSnapshots({ db: database.db, runtime, files, names: homes.names, installation })
    this.task = {
      name: 'snapshots',
      run: async () => {
        if (!isOn) return {}
        await restores.complete()
        return { removed: await pruning.run() }
      },
    }
    containers.addPreLaunchHook((user, template) => diskUse.refusalFor(user, template))
    containers.beforeImage(({ userId, slug, type }, signal) =>
      this.snapshots.beforeImage({ id: userId, slug }, type, new Date(), signal),
    )
    containers.subscriptions.addSource(diskUse)
    rules.directory.onChange(() => this.start())
  }

  /** Completes what the death of a process has interrupted. Before the first launch. */
  async resumeSnapshots(): Promise<void> {
    if (this.#hasSnapshots && !this.#isForOneCommand) await this.#restores.resume()
  }

  /** Measures homes at intervals, while there are limits. */
  start(): void {
    if (!this.#isForOneCommand) this.#measurement.start()
  }

  /** Cancels a measurement in progress; resolves when it has ended. */
  stop(): Promise<void> {
    return this.#measurement.stop()
  }
}

function diskUseOf({ config, database, runtime, containers, installation, log, pace }: HomesParts): DiskUse {
  const { templates, rules, routeSync, events } = containers
  const { names } = containers.homes
  return new DiskUse({
    runtime,
    limits: new DiskLimits(templates, config.maxDiskPerUser, names),
    rules,
    templates,
    names,
    installation,
    readExtra: () => listExtraDisk(database.db),
    slugOf: (userId) => routeSync.gatewayUserOf({ userId })?.slug,
    publish: (userId, event) => events.publish(userId, event),
    log,
    ...(pace?.measureHomes === undefined ? {} : { maxAge: pace.measureHomes }),
  })
}
