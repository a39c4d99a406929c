import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { isOtherProcessAlive } from '@berth/server/machine/process-alive.ts'

/**
 * A folder in the data folder for what a backup or a restore needs meanwhile, which is as secret as the store. Those of
 * processes that were killed are removed.
 * @returns its path @throws when the data folder cannot be written
 */
export function makeSpoolFolder(dataDir: string): string {
  for (const name of readdirSync(dataDir)) {
    const [, pid] = /^spool-(\d+)$/.exec(name) ?? []
    if (pid !== undefined && !isOtherProcessAlive(Number(pid))) rmSync(path.join(dataDir, name), { recursive: true })
  }
  const folder = path.join(dataDir, `spool-${process.pid}`)
  mkdirSync(folder, { mode: 0o700 })
  return folder
}
