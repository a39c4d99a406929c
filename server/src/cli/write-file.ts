import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
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
    await pipeline(parts, createWriteStream(file, { flags: 'wx', mode: 0o600 }), { signal })
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') throw new CommandFailed(`${name} is there already, and is not written over.`)
    // If opening failed there is no file of ours to remove.
    if (syscall !== 'open') await rm(file, { force: true })
    throw syscall === undefined ? error : new CommandFailed(`${name} cannot be written: ${reasonOf(error)}`)
  }
}
