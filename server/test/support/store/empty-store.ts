import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { copyFile, mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { openDatabase } from '#/store/database.ts'

/** Where files are memory, if there is such a folder: most tests are of rules, not of disks. */
export const quickFolder = () => (existsSync('/dev/shm') ? '/dev/shm' : tmpdir())

const fileName = 'berth.sqlite'
let template: Promise<string> | undefined

/**
 * Puts an empty, migrated SQLite store into a data folder, which is made where there is none: the migrations, which take a
 * tenth of a second of CPU time, run once for each process instead of each store.
 */
export async function copyEmptyStore(dataDir: string): Promise<void> {
  template ??= makeTemplate()
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  await copyFile(await template, path.join(dataDir, fileName))
}

async function makeTemplate(): Promise<string> {
  const folder = mkdtempSync(path.join(quickFolder(), 'berth-template-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const database = await openDatabase(null, folder)
  await database.close()
  return path.join(folder, fileName)
}
