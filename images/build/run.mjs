import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { findProgram as findFirstProgram } from '../../tools/setup/run.mjs'

const execute = promisify(execFile)

/**
 * Runs a program to its end.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ cwd?: string, limitMs?: number }} [options] `limitMs` is two minutes unless given
 * @returns {Promise<string>} what it printed
 * @throws with its own last words, when it fails
 */
export async function run(command, args, { cwd, limitMs = 120_000 } = {}) {
  try {
    const { stdout } = await execute(command, args, { cwd, timeout: limitMs, maxBuffer: 32 * 1024 * 1024 })
    return stdout
  } catch (error) {
    const words = error instanceof Error && 'stderr' in error ? String(error.stderr).trim().slice(-2_000) : ''
    throw new Error(`${command} ${args.join(' ').slice(0, 300)} failed${words && `:\n${words}`}`, { cause: error })
  }
}

/**
 * @param {string} name
 * @returns {string | undefined} absolute path of the first program of this name in PATH and the usual folders
 */
export function findProgram(name) {
  return findFirstProgram(process.env, [name], ['/bin', '/usr/bin', '/sbin', '/usr/sbin'])
}
