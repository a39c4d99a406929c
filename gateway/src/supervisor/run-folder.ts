import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

/** Max length of the name of a folder for sockets, in bytes: the kernel takes 107 for a socket, and ours is called `operator.sock`. */
const maxNameBytes = 90

/** A folder for this run's sockets, accessible to our user only (0700). @throws when none can be made */
export function makeRunFolder(): string {
  const name = 'berth-run-'
  const wanted = path.join(tmpdir(), name)
  return mkdtempSync(Buffer.byteLength(wanted) + 6 <= maxNameBytes ? wanted : path.join('/tmp', name))
}

/** Removes it with everything in it; never throws, for it is done last. */
export function removeRunFolder(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true })
  } catch {
    // A folder that stays is empty or holds a dead socket, and the next run makes its own.
  }
}
