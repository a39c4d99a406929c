import { execFile } from 'node:child_process'
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** A disk of its own that can be filled to the last byte. */
export interface SmallDisk {
  /** A folder on it. */
  readonly folder: string
  fill(): void
  /** Gives back what `fill` took. */
  empty(): void
  /** Whatever is still open on it goes on until it is closed. */
  remove(): Promise<void>
}

/** @param size such as `16m` @returns undefined where this process may not mount one */
export async function smallDisk(size: string): Promise<SmallDisk | undefined> {
  const mountPoint = mkdtempSync(path.join(tmpdir(), 'berth-disk-'))
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', mountPoint])
  } catch {
    rmSync(mountPoint, { recursive: true })
    return undefined
  }
  const folder = path.join(mountPoint, 'data')
  mkdirSync(folder)
  const filler = path.join(mountPoint, 'filler')
  return {
    folder,
    fill: () => fill(filler),
    empty: () => rmSync(filler),
    remove: async () => {
      await run('umount', ['--lazy', mountPoint])
      rmSync(mountPoint, { recursive: true })
    },
  }
}

function fill(file: string): void {
  const fd = openSync(file, 'a')
  try {
    for (const piece of [Buffer.alloc(65_536), Buffer.alloc(1)]) writeUntilFull(fd, piece)
  } finally {
    closeSync(fd)
  }
}

function writeUntilFull(fd: number, piece: Buffer): void {
  try {
    for (;;) writeSync(fd, piece)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  }
}
