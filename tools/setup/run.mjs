import { spawn } from 'node:child_process'
import { accessSync, closeSync, constants, fstatSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { SetupProblem } from './problem.mjs'

/** Lines of a failed program that are shown: npm prints the cause first, apt-get last. */
const shown = { first: 12, last: 10 }

/**
 * Runs a program to its end; its output is appended to the file `log`.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ log: string, cwd?: string, env?: NodeJS.ProcessEnv, limitMs?: number }} options `limitMs` is the timeout,
 * ten minutes by default
 * @throws {SetupProblem} with the last lines of its output, when it fails or exceeds the timeout
 */
export async function run(command, args, { log, cwd, env, limitMs = 600_000 }) {
  mkdirSync(dirname(log), { recursive: true })
  const file = openSync(log, 'a')
  const from = fstatSync(file).size
  try {
    // Not `timeout` of spawn: where the program does not exist, its timer keeps this process alive to its end.
    const signal = AbortSignal.timeout(limitMs)
    const ending = await ended(spawn(command, args, { cwd, env, stdio: ['ignore', file, file], signal }), limitMs)
    if (ending !== undefined) {
      const words = excerpt(readFileSync(log).subarray(from).toString())
      throw new SetupProblem(`${[command, ...args].join(' ')} ${ending}:\n${words}\n(All of it: ${log})`)
    }
  } finally {
    closeSync(file)
  }
}

/**
 * @param {string} text
 * @returns {string} its beginning and its end, indented
 */
export function excerpt(text) {
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => `  ${line}`)
  if (lines.length <= shown.first + shown.last) return lines.join('\n')
  return [...lines.slice(0, shown.first), '  ...', ...lines.slice(-shown.last)].join('\n')
}

/**
 * @param {import('node:child_process').ChildProcess} child
 * @param {number} limitMs
 * @returns {Promise<string | undefined>} what went wrong, or undefined
 */
function ended(child, limitMs) {
  return new Promise((resolve) => {
    child.once('error', (error) =>
      resolve(error.name === 'AbortError' ? `did not end within ${limitMs} ms` : `could not be run (${error.message})`),
    )
    child.once('exit', (code, signal) => resolve(code === 0 ? undefined : `ended with ${signal ?? code}`))
  })
}

/**
 * The first of these programs that the machine has, as an absolute path.
 * @param {NodeJS.ProcessEnv} env
 * @param {readonly string[]} names
 * @param {readonly string[]} [furtherFolders] looked at after PATH
 */
export function findProgram(env, names, furtherFolders = []) {
  const folders = [...(env.PATH ?? '').split(delimiter), ...furtherFolders].filter((folder) => folder !== '')
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable)
}

/** @param {string} file */
function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
