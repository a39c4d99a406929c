import path from 'node:path'
import type { SingleFlight } from '#/concurrency/single-flight.ts'
import type { DiskUse } from '#/containers/disk/disk-use.ts'
import type { BeforeImage } from '#/containers/launch/starter.ts'
import type { Task } from '#/reconcile/reconciler.ts'
import { HomeSnapshots } from '#/snapshots/home-snapshots.ts'
import { pruneSnapshots } from '#/snapshots/prune-snapshots.ts'
import { RestoreJournal } from '#/snapshots/restore-journal.ts'
import { SnapshotFiles } from '#/snapshots/snapshot-files.ts'
import type { AppParts } from '#/wiring/app-parts.ts'

/** Snapshots of homes. Where they are switched off, nothing is read, and no launch asks for one. */
export function wireSnapshots(
  { config, database, runtime, installation, isForOneCommand, log }: AppParts,
  singleFlight: SingleFlight,
  diskUse: DiskUse,
) {
  const contents = runtime.homeContents()
  const rules = { ...config.snapshots, isOn: config.snapshots.isOn && contents !== undefined }
  const folder = path.join(config.dataDir, 'snapshots')
  const files = new SnapshotFiles(path.join(folder, 'homes'))
  const snapshots = new HomeSnapshots({
    rules,
    contents,
    runtime,
    files,
    journal: new RestoreJournal(path.join(folder, 'restoring')),
    singleFlight,
    installation,
    templates: config.templates,
    diskRefusal: async (owner, template) => diskUse.refusalFor(owner, template),
    log,
  })
  const beforeImage: BeforeImage | undefined = rules.isOn
    ? ({ userId, slug, type }) => snapshots.beforeImage({ id: userId, slug }, type, new Date())
    : undefined
  const task: Task = {
    name: 'snapshots',
    run: async () =>
      rules.isOn ? { removed: await pruneSnapshots({ db: database.db, runtime, files, installation }) } : {},
  }
  /** Completes what the death of a process has interrupted. Before the first launch. */
  const resumeSnapshots = async () => {
    if (!rules.isOn || isForOneCommand) return
    await files.removeUnfinished()
    await snapshots.resume()
  }
  return { snapshots, beforeImage, snapshotsTask: task, resumeSnapshots }
}
