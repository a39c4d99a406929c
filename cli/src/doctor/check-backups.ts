import { existsSync, statSync } from 'node:fs'
import path from 'node:path'
import { readLastBackup } from '#/backup/last-backup.ts'
import type { CheckContext, Finding } from './check.ts'

const day = 86_400_000

/** Ages of the last backup that are findings, in ms; a nightly one may be late once. */
const [old, tooOld] = [2 * day, 7 * day]

const nightly = 'berth backup /var/backups/berth --keep 14, every night by a timer: docs/how-to/back-up-and-restore.md'

/** Whether there is a backup, recent, complete, with homes, and on another disk than the data. */
export async function checkBackups({ config, now }: CheckContext): Promise<Finding[]> {
  const { dataDir } = config
  // The keys are made by the first start, whatever the database.
  const keys = path.join(dataDir, 'signing-key.json')
  if (!existsSync(keys)) return []
  const last = readLastBackup(dataDir)
  if (!last) return [none(now.getTime() - statSync(keys).birthtimeMs)]
  const age = now.getTime() - new Date(last.at).getTime()
  if (last.folder !== null && !existsSync(last.folder)) return [gone(last.folder)]
  return [
    ...(age > old ? [late(Math.floor(age / day), age > tooOld)] : []),
    ...(last.missing > 0 ? [incomplete(last.missing)] : []),
    ...(last.homes === false ? homesLate(last.homesAt, now) : []),
    ...(last.folder !== null && statSync(last.folder).dev === statSync(dataDir).dev ? [sameDisk(last.folder)] : []),
  ]
}

/** @param age of the installation, in ms */
const none = (age: number): Finding => ({
  level: age > tooOld ? 'critical' : age > day ? 'warning' : 'hint',
  what: 'No backup was made with berth backup: a broken disk loses accounts, keys and homes.',
  fix: nightly,
})

const gone = (folder: string): Finding => ({
  level: 'warning',
  what: `The last backup is not in ${folder} any more (or its disk is not mounted).`,
  fix: nightly,
})

const late = (days: number, isTooLate: boolean): Finding => ({
  level: isTooLate ? 'critical' : 'warning',
  what: `The last backup is ${days} days old.`,
  fix: `systemctl status berth-backup.timer; ${nightly}`,
})

const incomplete = (homes: number): Finding => ({
  level: 'warning',
  what: `The last backup lacks ${homes} homes that could not be read.`,
  fix: 'berth backup says which and why',
})

/** @param at when the last backup with homes was made; undefined when none is known */
function homesLate(at: string | undefined, now: Date): Finding[] {
  const fix = 'berth backup without --no-homes, unless snapshots of the file system save the homes'
  if (at === undefined)
    return [{ level: 'hint', what: 'The last backup is without homes, and none with them is known.', fix }]
  const age = now.getTime() - new Date(at).getTime()
  if (age <= old) return []
  return [{ level: 'warning', what: `The last backup with homes is ${Math.floor(age / day)} days old.`, fix }]
}

const sameDisk = (folder: string): Finding => ({
  level: 'hint',
  what: `The last backup is on the disk of the data (${folder}).`,
  fix: 'copy it to another machine, or: berth backup - --encrypt-to age1... | ssh backup@example.org "cat > berth.tar"',
})
