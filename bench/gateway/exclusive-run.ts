import { readFileSync, rmSync, writeFileSync, existsSync, mkdirSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { scratch } from './programs.ts'

const lock = path.join(scratch, 'running')
const timeout = 15 * 60_000

/**
 * Prevents simultaneous runs: two would share files and cores. Waits for the earlier run and says so; the lock is
 * released when this process ends.
 * @throws {Error} after 15 minutes
 */
export async function runExclusively(): Promise<void> {
  const end = performance.now() + timeout
  for (let tries = 0; !acquireLock(); tries++) {
    if (tries === 0) console.log(`waiting for another run (process ${lockHolder()}) to end ...`)
    if (performance.now() > end) throw new Error(`${lock} is held by process ${lockHolder()}`)
    await sleep(500)
  }
  process.once('exit', () => rmSync(lock, { force: true }))
}

function acquireLock(): boolean {
  mkdirSync(scratch, { recursive: true })
  if (lockHolder() !== undefined && !existsSync(`/proc/${lockHolder()}`)) rmSync(lock, { force: true })
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** The process id in the lock, which may have been killed. */
function lockHolder(): string | undefined {
  return existsSync(lock) ? readFileSync(lock, 'utf8') : undefined
}
