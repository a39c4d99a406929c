import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { CommandFailed, reasonOf } from './command-failure.ts'

/**
 * Writes a file that is not there yet, readable by its owner only; whole, or not at all.
 * @param name as it was typed, for the sentence
 * @throws {CommandFailed} when it is there, or cannot be written · the signal's reason · what the parts throw
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
    // Without a file there is nothing to take away, and what failed was not ours to open.
    if (syscall !== 'open') await rm(file, { force: true })
    throw syscall === undefined ? error : new CommandFailed(`${name} cannot be written: ${reasonOf(error)}`)
  }
}
