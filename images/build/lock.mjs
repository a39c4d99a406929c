import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** In ms: poll interval, and timeout for another process to release it. */
const waiting = { look: 200, limit: 300_000 }

/** Files that this process holds. @type {Set<string>} */
const held = new Set()

/**
 * Runs `work` while no other process runs work under the same file: `npm start` and `npm test` may prepare the same folder.
 * A lock whose process has died is taken over.
 * @template T
 * @param {string} file
 * @param {() => Promise<T>} work
 * @param {(line: string) => void} [log] gets a line when it has to wait
 * @returns {Promise<T>}
 * @throws when another process holds it for longer than five minutes
 */
export async function locked(file, work, log = () => {}) {
  mkdirSync(dirname(file), { recursive: true })
  const deadline = Date.now() + waiting.limit
  for (let isFirst = true; !take(file); isFirst = false) {
    const holder = holderOf(file)
    if (isFirst && holder && holder !== process.pid)
      log(`waiting for process ${holder}, which prepares the same (${file}) ...`)
    if (Date.now() > deadline)
      throw new Error(`Another process has been building for too long. Is ${file} left over? Delete it.`)
    await sleep(waiting.look)
  }
  held.add(file)
  try {
    return await work()
  } finally {
    held.delete(file)
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
    if (isAbandoned(file)) rmSync(file, { force: true })
    return false
  }
}

/**
 * In a container each run's builder has the same process id: a lock with our own that we do not hold is of a run that was killed.
 * @param {string} file
 */
function isAbandoned(file) {
  const holder = holderOf(file)
  if (holder === undefined) return false
  return holder === process.pid ? !held.has(file) : !isAlive(holder)
}

/** @param {string} file @returns {number | undefined} a process id; undefined while it is being written, or was just given back: look again */
function holderOf(file) {
  try {
    return Number(readFileSync(file, 'utf8')) || undefined
  } catch {
    return undefined
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
