import { DatabaseSync } from 'node:sqlite'
import { pageSize, storeTables, type Row, type StoreSource } from './store-tables.ts'

/** Timeout of another program's lock, in ms; for programs of their own, because it blocks the event loop. */
const lockTimeout = 10_000

/** Page cache of a store that is being filled; SQLite's own 2 MB are for a service. */
const cacheKilobytes = 131_072

/** Reads a SQLite store in one snapshot: writers of other processes go on. @throws when it cannot be opened */
export function sqliteSource(file: string): StoreSource {
  const database = new DatabaseSync(file, { readOnly: true, timeout: lockTimeout })
  database.exec('begin')
  const one = (sql: string) => database.prepare(sql).get() as Record<string, number | string> | undefined
  return {
    migration: String(one('select max(name) as name from kysely_migration')?.name),
    columns: async (table) =>
      (
        database.prepare(`select name from pragma_table_info('${table}') order by name`).all() as { name: string }[]
      ).map(({ name }) => name),
    pages: (table, columns) => pagesOf(database, table, columns),
    lastId: async (table) => {
      const { sql = '' } = one(`select sql from sqlite_master where type = 'table' and name = '${table}'`) ?? {}
      if (!/autoincrement/i.test(String(sql))) return null
      return Number(one(`select seq from sqlite_sequence where name = '${table}'`)?.seq ?? 0)
    },
    close: async () => database.close(),
  }
}

async function* pagesOf(database: DatabaseSync, table: string, columns: readonly string[]): AsyncGenerator<Row[]> {
  const key = storeTables[table as keyof typeof storeTables]
  const statement = database.prepare(`select ${quoted(columns)} from ${table} order by ${key}`)
  statement.setReturnArrays(true)
  let page: Row[] = []
  for (const row of statement.iterate() as Iterable<unknown>) {
    page.push(row as Row)
    if (page.length < pageSize) continue
    yield page
    page = []
  }
  yield page
}

/**
 * Writes rows into an empty SQLite store in one transaction, which `commit` ends.
 * Triggers of the audit log forbid changes, not additions.
 */
export function sqliteTarget(file: string) {
  const database = new DatabaseSync(file, { timeout: lockTimeout, enableForeignKeyConstraints: true })
  // Rows go to several indexes in no order of theirs: pages that fall out of the cache are written again and again.
  database.exec(`pragma cache_size = -${cacheKilobytes}`)
  database.exec('begin immediate')
  return {
    clearInstallation: async () => database.exec('delete from installation'),
    insert: async (table: string, columns: readonly string[], rows: readonly Row[]) => {
      const places = columns.map(() => '?').join(', ')
      const statement = database.prepare(`insert into ${table} (${quoted(columns)}) values (${places})`)
      for (const row of rows) statement.run(...row)
    },
    setLastId: async (table: string, id: number) => {
      database.prepare('delete from sqlite_sequence where name = ?').run(table)
      database.prepare('insert into sqlite_sequence (name, seq) values (?, ?)').run(table, id)
    },
    /** Durable once it has resolved. */
    commit: async () => database.exec('commit'),
    /** Without `commit` nothing is stored. */
    close: async () => database.close(),
  }
}

const quoted = (columns: readonly string[]) => columns.map((column) => `"${column}"`).join(', ')
