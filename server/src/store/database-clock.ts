import { Kysely, sql } from 'kysely'
import { postgresDialect } from './dialects/postgres-dialect.ts'

/** What time a PostgreSQL server has. @throws {StoreFailure} when it does not answer */
export async function databaseClock(url: string): Promise<Date> {
  const db = new Kysely<unknown>({ dialect: await postgresDialect(url, { maxConnections: 1 }) })
  try {
    const { rows } = await sql<{
      ms: number
    }>`select (extract(epoch from clock_timestamp()) * 1000)::bigint as ms`.execute(db)
    return new Date(rows[0]?.ms ?? NaN)
  } finally {
    await db.destroy()
  }
}
