import { statfs } from 'node:fs/promises'
import type { CheckContext, Finding } from './check.ts'

const GiB = 1024 ** 3

/** Shares of the whole that are low and too low; what is low in GiB is never low on a large disk alone by its share. */
const low = { share: 0.1, bytes: 5 * GiB }
const tooLow = { share: 0.02, bytes: GiB }

/** Whether there is room, and are file numbers left, for the store and for the engine. */
export async function checkDisk({ config, engine }: CheckContext): Promise<Finding[]> {
  const report = await engine.report().catch(() => undefined)
  const rootDir = report?.address.startsWith('unix:') && report.rootDir !== '' ? [report.rootDir] : []
  const checked = await Promise.all([config.dataDir, ...rootDir].map(findingsOf))
  return checked.flat()
}

async function findingsOf(folder: string): Promise<Finding[]> {
  // A data folder that does not exist yet, and an engine's folder that this process cannot see.
  const found = await statfs(folder).catch(() => undefined)
  if (!found) return []
  const { blocks, bavail, bsize, files, ffree } = found
  const [free, share] = [bavail * bsize, bavail / blocks]
  const inodes = files === 0 ? 1 : ffree / files
  const level = isBelow(tooLow) ? 'critical' : isBelow(low) ? 'warning' : undefined
  const room = `${(free / GiB).toFixed(1)} GiB (${Math.floor(share * 100)} %) and ${Math.floor(inodes * 100)} % of the inodes`
  return level === undefined ? [] : [fullDisk(level, folder, room)]

  function isBelow(limit: typeof low): boolean {
    return free < limit.bytes || (share < limit.share && free < 4 * limit.bytes) || inodes < limit.share
  }
}

const fullDisk = (level: 'critical' | 'warning', folder: string, room: string): Finding => ({
  level,
  what: `Only ${room} are free on the disk of ${folder}: a full disk stops the store, launches and all containers.`,
  fix: 'docker system df; docker image prune --all; and limit homes: docs/how-to/limit-disk-use.md',
})
