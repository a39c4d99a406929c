import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** In ms: poll interval, and timeout for another process to release it. */
const waiting = { look: 200, limit: 300_000 }

/**
 * Runs `work` while no other process runs work under the same file: `npm start` and `npm test` may prepare the same folder.
 * A lock whose process has died is taken over.
 * @template T
 * @param {string} file
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 * @throws when another process holds it for longer than five minutes
 */
export async function locked(file, work) {
  mkdirSync(dirname(file), { recursive: true })
  const deadline = Date.now() + waiting.limit
  while (!take(file)) {
    if (Date.now() > deadline)
      throw new Error(`Another process has been building for too long. Is ${file} left over? Delete it.`)
    await sleep(waiting.look)
  }
  try {
    return await work()
  } finally {
    rmSync(file, { force: true })
  }
}

/** @param {string} file */
function take(file) {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' })
    return true
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    if (!isAlive(holderOf(file))) rmSync(file, { force: true })
    return false
  }
}

/** @param {string} file @returns {number} a process id; our own while it is being written or was just given back: look again */
function holderOf(file) {
  try {
    return Number(readFileSync(file, 'utf8')) || process.pid
  } catch {
    return process.pid
  }
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
