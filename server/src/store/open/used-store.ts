import { existsSync } from 'node:fs'
import path from 'node:path'
import { Kysely, sql } from 'kysely'
import { storeFileName } from '#/store/database.ts'
import { postgresDialect } from './postgres-dialect.ts'
import { sqliteDialect } from './sqlite-dialect.ts'
import { hasTable, refuseStoreOfNewerVersion } from '#/store/migrate.ts'

/** A store in use. */
export interface UsedStore {
  readonly users: number
  /** ISO 8601, at the earliest: of the last readiness check, audit entry, sign-up or use. Null when there was none. */
  readonly writtenAt: string | null
}

/**
 * Whether there is a store that a Berth was started on, and when it was written last.
 * @returns null when there is none, or it is empty @throws {StoreFailure} when it cannot be used
 */
export async function isUsedStore(url: string | null, dataDir: string): Promise<UsedStore | null> {
  const file = path.join(dataDir, storeFileName)
  if (url === null && !existsSync(file)) return null
  const db = new Kysely<unknown>({ dialect: url === null ? sqliteDialect(file) : await postgresDialect(url) })
  try {
    if (!(await hasTable(db, url !== null, 'installation'))) return null
    const { rows } = await sql<Found>`
      select (select count(*) from users) as users,
        (select value from installation where name = 'instance') as name,
        (select value from installation where name = 'written') as written,
        (select max(at) from audit_log) as audited,
        (select max(created_at) from users) as created,
        (select max(last_used) from users) as used`.execute(db)
    const [found] = rows
    const users = Number(found?.users ?? 0)
    return (found?.name ?? null) === null && users === 0 ? null : { users, writtenAt: found ? lastOf(found) : null }
  } finally {
    await db.destroy()
  }
}

/** Whether the role of the address may make a schema, to which a store is moved aside. @throws {StoreFailure} */
export async function mayMoveStoreAside(url: string): Promise<boolean> {
  const db = new Kysely<unknown>({ dialect: await postgresDialect(url, { maxConnections: 1 }) })
  try {
    const { rows } = await sql<{
      may: boolean
    }>`select has_database_privilege(current_database(), 'CREATE') as may`.execute(db)
    return rows[0]?.may === true
  } finally {
    await db.destroy()
  }
}

/** Of PostgreSQL: changes nothing. @throws {NewerStore} when a newer version changed the store there · {StoreFailure} */
export async function refuseNewerStoreAt(url: string): Promise<void> {
  const db = new Kysely<unknown>({ dialect: await postgresDialect(url, { maxConnections: 1 }) })
  try {
    await refuseStoreOfNewerVersion(db)
  } finally {
    await db.destroy()
  }
}

/** Numbers are text where a driver reads 64 bits so; times are in ms since 1970. */
interface Found {
  readonly users: number | string
  readonly name: string | null
  /** ISO 8601; only readiness checks write it, and not every installation has them. */
  readonly written: string | null
  readonly audited: number | string | null
  readonly created: number | string | null
  readonly used: number | string | null
}

function lastOf({ written, audited, created, used }: Found): string | null {
  const checked = written === null ? 0 : Date.parse(written)
  const last = Math.max(checked, Number(audited), Number(created), Number(used))
  return last === 0 ? null : new Date(last).toISOString()
}
