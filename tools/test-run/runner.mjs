import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readCounts, readFailed, reporters } from './counts.mjs'

/**
 * @typedef {object} Ending
 * @property {number} code exit code of the runner
 * @property {string[]} failed files that failed, and programs that ended before their last test
 * @property {{ passed: number, failed: number }} counts of tests
 */

/**
 * Runs programs by Node's runner, which is a separate program: in this process, its exit code and signal handling would have to
 * be rebuilt.
 * @param {string} root of the repository
 * @param {string[]} programs relative to it
 * @param {{ flags: string[], env: NodeJS.ProcessEnv, limit: number, output?: 'inherit' | 'ignore' }} run `limit` in ms, after which it is ended
 * @returns {Promise<Ending>} when it has ended
 */
export async function runPrograms(root, programs, { flags, env, limit, output = 'inherit' }) {
  const counts = mkdtempSync(join(tmpdir(), 'berth-counts-'))
  try {
    const code = await exitCode(root, ['--test', ...reporters(counts), ...flags, ...programs], { env, limit, output })
    return { code, failed: readFailed(counts), counts: readCounts(counts) }
  } finally {
    rmSync(counts, { recursive: true, force: true })
  }
}

/**
 * @param {string} root
 * @param {string[]} args
 * @param {{ env: NodeJS.ProcessEnv, limit: number, output: 'inherit' | 'ignore' }} run
 * @returns {Promise<number>}
 */
async function exitCode(root, args, { env, limit, output }) {
  const runner = spawn(process.execPath, args, { cwd: root, stdio: output, env })
  const overdue = setTimeout(() => {
    console.error(`The tests did not end within ${limit / 60_000} minutes and are stopped.`)
    runner.kill('SIGTERM')
  }, limit)
  const end = (/** @type {NodeJS.Signals} */ signal) => runner.kill(signal)
  const signals = /** @type {const} */ (['SIGINT', 'SIGTERM'])
  for (const signal of signals) process.on(signal, end)
  try {
    return await new Promise((resolve) => runner.once('exit', (code) => resolve(code ?? 1)))
  } finally {
    clearTimeout(overdue)
    for (const signal of signals) process.off(signal, end)
  }
}
