import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import type { Lifetime } from '../berth.ts'

/** Another program that keeps Berth's SQLite file to itself. */
const program = `
const { DatabaseSync } = require('node:sqlite')
const database = new DatabaseSync(process.argv[1], { timeout: 20000 })
database.exec('BEGIN EXCLUSIVE')
process.stdout.write('locked')
process.stdin.on('end', () => { database.exec('ROLLBACK'); database.close() }).resume()
`

/** Locks the database in this folder as `BEGIN EXCLUSIVE` of the command line does. @returns what unlocks it; resolves when it is unlocked */
export async function lockDatabase(lifetime: Lifetime, dataDir: string): Promise<() => Promise<void>> {
  const child = spawn(process.execPath, ['-e', program, path.join(dataDir, 'berth.sqlite')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  await Promise.race([
    once(child.stdout, 'data'),
    ended.then(([code]) => Promise.reject(new Error(`the program that locks ended with ${String(code)}`))),
  ])
  const unlock = async () => {
    child.stdin.end()
    await ended
  }
  lifetime.after(unlock)
  return unlock
}
