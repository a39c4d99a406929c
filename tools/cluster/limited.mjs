import { spawn } from 'node:child_process'

/** In s: after which a program that does not end by the first signal is killed. */
const grace = 5

/** Bytes of output that are kept; a program may say more. */
const kept = 20_000

/**
 * Runs a program for a limited time; with its end, or the end of its time, all of its process group end. What it started in groups of
 * their own goes on.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {number} seconds
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {Promise<{ output: string, problem: string | undefined }>} last part of its output, and why it failed, with its last three lines
 */
export function runLimited(command, args, seconds, env = process.env) {
  const child = spawn('timeout', [`--kill-after=${grace}`, String(Math.ceil(seconds)), command, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env,
  })
  let output = ''
  const note = (/** @type {Buffer} */ bytes) => void (output = (output + bytes.toString()).slice(-kept))
  child.stdout.on('data', note)
  child.stderr.on('data', note)
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ output, problem: error.message }))
    child.once('close', (code, signal) => {
      const lines = output.trim().split('\n')
      const isLate = code === 124 || code === 137
      const how = isLate ? `did not end within ${Math.ceil(seconds)} s` : `ended with ${signal ?? code}`
      resolve({
        output,
        problem: code === 0 ? undefined : `${how}: ${lines.slice(-3).join(' | ') || 'it said nothing'}`,
      })
    })
  })
}
