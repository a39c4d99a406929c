import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { storeFileName } from '#/store/database.ts'

/** Folder in the data folder, of copies from before migrations. */
export const copiesFolder = 'before-migration'

/** In the folder of copies: the one that was made before the migrations under way. Its name sorts before those of copies. */
const noteIn = (dataDir: string) => path.join(dataDir, copiesFolder, '.unfinished-migration')

/**
 * SQLite's migrations are not one transaction: one that fails leaves the store between two versions. Until it is open, the copy from
 * before the first of them is the only one that an older version can use, however often Berth is started.
 * @param copy path of the file
 */
export function noteMigration(dataDir: string, copy: string): void {
  const note: Note = { copy: path.basename(copy), store: storeId(dataDir) }
  writeFileSync(noteIn(dataDir), JSON.stringify(note), { mode: 0o600, flush: true })
}

/** The store is open: all migrations are done. */
export function forgetMigration(dataDir: string): void {
  rmSync(noteIn(dataDir), { force: true })
}

/**
 * Path of the copy from before migrations that have begun and are not done. A store that was put in the place of that one, such as
 * the copy itself, has no migrations under way.
 */
export function copyOfUnfinishedMigration(dataDir: string): string | undefined {
  const note = readNote(dataDir)
  if (note?.store !== storeId(dataDir)) return undefined
  return path.join(dataDir, copiesFolder, path.basename(note.copy))
}

interface Note {
  /** Name of the file. */
  readonly copy: string
  /** Inode number of the store. */
  readonly store: string
}

function readNote(dataDir: string): Note | undefined {
  const file = noteIn(dataDir)
  if (!existsSync(file)) return undefined
  try {
    const { copy, store } = Object(JSON.parse(readFileSync(file, 'utf8'))) as Partial<Note>
    return copy === undefined || store === undefined ? undefined : { copy, store }
  } catch (error) {
    // The disk was full while it was written.
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

const storeId = (dataDir: string) => String(statSync(path.join(dataDir, storeFileName), { bigint: true }).ino)
