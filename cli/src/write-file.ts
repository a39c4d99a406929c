import { open, rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { CommandFailed, reasonOf } from './command-failure.ts'

/**
 * Writes a new file, readable by its owner only; a file that could not be completed is removed.
 * @param name as typed, for the message
 * @throws {CommandFailed} when it exists, or cannot be written · the signal's reason · what the parts throw
 */
export async function writeNewFile(
  file: string,
  name: string,
  parts: () => AsyncIterable<string>,
  signal: AbortSignal,
): Promise<void> {
  try {
    // Opened first: a stream that fails before it has opened its file would create it after it was removed.
    const stream = (await open(file, 'wx', 0o600)).createWriteStream()
    await pipeline(parts, stream, { signal })
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') throw new CommandFailed(`${name} is there already, and is not written over.`)
    // If opening failed there is no file of ours to remove.
    if (syscall !== 'open') await rm(file, { force: true })
    throw syscall === undefined ? error : new CommandFailed(`${name} cannot be written: ${reasonOf(error)}`)
  }
}
