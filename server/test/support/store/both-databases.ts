import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before } from 'node:test'
import { openDatabase, type Database, type Db } from '#/store/database.ts'
import { insertUser, type User } from '#/store/users.ts'
import { startPostgres, type Postgres } from './postgres.ts'

/** When tests of the store take place, with milliseconds that a store might lose. */
export const now = new Date('2026-01-02T03:04:05.678Z')
export const later = (ms: number) => new Date(now.getTime() + ms)

/** The databases that every query is tested on. */
export const dialects = ['SQLite', 'PostgreSQL'] as const

/**
 * An empty store for the tests of the suite that calls it; it is closed and removed after them. Hooks of the suite that are
 * registered later find it open.
 * @param opened takes the store before the first test
 * @returns opens the same store once more; the caller closes what it returns
 */
export function useStore(
  dialect: (typeof dialects)[number],
  opened: (database: Database) => void,
): () => Promise<Database> {
  let [folder, postgres]: [string, Postgres | undefined] = ['', undefined]
  const open = () => openDatabase(postgres?.url ?? null, folder)
  let database: Database | undefined
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'berth-stores-'))
    if (dialect === 'PostgreSQL') postgres = await startPostgres()
    database = await open()
    opened(database)
  })
  after(async () => {
    await database?.close()
    await postgres?.stop()
    await rm(folder, { recursive: true, force: true })
  })
  return open
}

/** Stores users with addresses of their own, user1@x.org and so on, that signed up at `now`. */
export function newUsers(db: () => Db, now: Date): (fields?: Partial<User>) => Promise<User> {
  let count = 0
  return (fields = {}) => {
    const slug = `user${++count}`
    return insertUser(db(), { email: `${slug}@x.org`, slug, isAdmin: false, now, ...fields })
  }
}
