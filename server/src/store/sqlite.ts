import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { SqliteDialect, type Dialect } from 'kysely'

/** Statements kept prepared; the server has far fewer distinct queries than this. */
const mostStatements = 200
/** How long a writer waits for another process's lock, in ms. */
const busyTimeout = 5_000

/**
 * SQLite, as it comes with Node, behind Kysely.
 * - WAL, so that a backup or a look from outside never stops the server.
 * - `synchronous=FULL`: an answer 200 is a promise that survives a power cut.
 * - Foreign keys on: SQLite ignores them unless told on every connection.
 * @param file path, or `:memory:`
 */
export function sqliteDialect(file: string): Dialect {
  const database = new DatabaseSync(file, { timeout: busyTimeout, enableForeignKeyConstraints: true })
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  const statements = new Map<string, StatementSync>()

  const prepare = (sql: string): StatementSync => {
    const known = statements.get(sql)
    if (known) return known
    if (statements.size >= mostStatements) statements.clear()
    const statement = database.prepare(sql)
    statements.set(sql, statement)
    return statement
  }

  return new SqliteDialect({
    database: {
      close: () => database.close(),
      prepare: (sql) => wrap(prepare(inSqlite(sql, database))),
    },
  })
}

/**
 * Two of Kysely's statements, said as SQLite needs them.
 * - A transaction that reads before it writes would fail with BUSY_SNAPSHOT, whatever the timeout, as soon as another
 *   process (a backup, the command line) writes in between; so it takes the write lock at its beginning.
 * - SQLite ends a transaction by itself when the disk is full; a rollback would then fail and hide the reason.
 */
function inSqlite(sql: string, database: DatabaseSync): string {
  if (sql === 'begin') return 'begin immediate'
  return sql === 'rollback' && !database.isTransaction ? 'select 1' : sql
}

/** What Kysely expects of a statement: it is a reader when it has columns. */
function wrap(statement: StatementSync) {
  const values = (parameters: readonly unknown[]) => parameters as SQLInputValue[]
  return {
    reader: statement.columns().length > 0,
    all: (parameters: readonly unknown[]) => statement.all(...values(parameters)),
    run: (parameters: readonly unknown[]) => statement.run(...values(parameters)),
    iterate: (parameters: readonly unknown[]) => statement.iterate(...values(parameters)),
  }
}
