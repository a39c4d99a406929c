import { mkdtemp, rm } from 'node:fs/promises'
import path from 'node:path'
import { after, before } from 'node:test'
import { openDatabase, type Database, type Db } from '#/store/database.ts'
import { insertUser, type User } from '#/store/users.ts'
import { ReusedProgram } from '../reused-program.ts'
import { copyEmptyStore, quickFolder } from './empty-store.ts'
import { startPostgres } from './postgres.ts'

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
  let [folder, url]: [string, string | null] = ['', null]
  const open = () => openDatabase(url, folder)
  let database: Database | undefined
  let leaveServer: (() => Promise<void>) | undefined
  before(async () => {
    folder = await mkdtemp(path.join(quickFolder(), 'berth-stores-'))
    if (dialect === 'PostgreSQL')
      url = await (await sharedServer.use({ after: (leave) => (leaveServer = leave) })).newStore()
    else await copyEmptyStore(folder)
    database = await open()
    opened(database)
  })
  after(async () => {
    await database?.close()
    await rm(folder, { recursive: true, force: true })
    await leaveServer?.()
  })
  return open
}

/** A PostgreSQL server in which stores are made of one to which the migrations were applied. */
const sharedServer = new ReusedProgram({
  start: async () => {
    const postgres = await startPostgres()
    const urlOf = (name: string) => postgres.url.replace(/postgres$/, name)
    const ask = async (statement: string) => {
      const { default: pg } = await import('pg')
      const client = new pg.Client(postgres.url)
      await client.connect()
      await client.query(statement).finally(() => client.end())
    }
    await ask('CREATE DATABASE empty')
    await (await openDatabase(urlOf('empty'), '')).close()
    let stores = 0
    const newStore = async () => {
      const name = `store${(stores += 1)}`
      await ask(`CREATE DATABASE ${name} TEMPLATE empty`)
      return urlOf(name)
    }
    return { postgres, newStore }
  },
  stop: ({ postgres }) => postgres.stop(),
})

/** Stores users with addresses of their own, user1@x.org and so on, that signed up at `now`. */
export function newUsers(db: () => Db, now: Date): (fields?: Partial<User>) => Promise<User> {
  let count = 0
  return (fields = {}) => {
    const slug = `user${++count}`
    return insertUser(db(), { email: `${slug}@x.org`, slug, isAdmin: false, now, ...fields })
  }
}
