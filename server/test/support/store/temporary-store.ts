import { mkdtemp, rm } from 'node:fs/promises'
import path from 'node:path'
import type { TestContext } from 'node:test'
import { openDatabase, type Database } from '#/store/database.ts'
import { copyEmptyStore, quickFolder } from './empty-store.ts'

/** An empty SQLite store in a folder of its own; both are gone after the test. */
export async function openTemporaryStore(t: TestContext): Promise<{ database: Database; folder: string }> {
  const folder = await mkdtemp(path.join(quickFolder(), 'berth-store-'))
  await copyEmptyStore(folder)
  const database = await openDatabase(null, folder)
  t.after(async () => {
    await database.close()
    await rm(folder, { recursive: true })
  })
  return { database, folder }
}
