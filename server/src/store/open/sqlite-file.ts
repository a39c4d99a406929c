import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import type { QueryResult } from 'kysely'
import { StoreFailure } from '#/store/store-failure.ts'

/** Max prepared statements; the server has far fewer distinct queries. */
const maxStatements = 200
/** Timeout of another program's lock while opening, in ms; blocks the event loop, at the start only. */
const openTimeout = 5_000

/** One connection to a database file. Synchronous: every call returns or throws at once. */
export class SqliteFile {
  readonly #database: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()

  private constructor(database: DatabaseSync) {
    this.#database = database
    database.exec('PRAGMA busy_timeout = 0')
  }

  /**
   * - WAL, so that backups, other readers and our own never wait for a writer, nor it for them.
   * - `synchronous=FULL`: a success that was answered survives a power cut.
   * - Foreign keys on: SQLite ignores them unless they are enabled on every connection.
   */
  static forWriting(path: string): SqliteFile {
    const database = new DatabaseSync(path, { timeout: openTimeout, enableForeignKeyConstraints: true })
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
    return new SqliteFile(database)
  }

  /** @param path of a file that was opened for writing before */
  static forReading(path: string): SqliteFile {
    return new SqliteFile(new DatabaseSync(path, { timeout: openTimeout, readOnly: true }))
  }

  get isInTransaction(): boolean {
    return this.#database.isTransaction
  }

  exec(sql: string): void {
    this.#database.exec(sql)
  }

  /** A statement with columns returns rows, whether it writes or not. */
  run<R>(sql: string, parameters: readonly unknown[]): QueryResult<R> {
    const statement = this.#prepare(sql)
    const values = parameters as SQLInputValue[]
    if (statement.columns().length > 0) return { rows: statement.all(...values) as R[] }
    const { changes, lastInsertRowid } = statement.run(...values)
    return { rows: [], insertId: BigInt(lastInsertRowid), numAffectedRows: BigInt(changes) }
  }

  close(): void {
    this.#database.close()
  }

  #prepare(sql: string): StatementSync {
    const known = this.#statements.get(sql)
    if (known) return known
    if (this.#statements.size >= maxStatements) this.#statements.clear()
    const statement = this.#database.prepare(sql)
    this.#statements.set(sql, statement)
    return statement
  }
}

/** Another program holds the lock: SQLITE_BUSY and SQLITE_LOCKED, with extended codes in the higher bits. */
export const isBusy = (error: unknown) => [5, 6].includes(primaryCode(error))

/** Primary result codes of SQLite that are not caused by the statement (sqlite.org/rescode.html), in words. */
const failureCodes: Record<number, string> = {
  5: 'the database is locked by another program',
  6: 'the database is locked by another program',
  8: 'the database may not be written',
  10: 'the disk of the database fails',
  13: 'the disk of the database is full',
  14: 'the database file cannot be opened',
}

/**
 * A `StoreFailure` for failures of SQLite or its file; other errors, such as a violated constraint, are returned as
 * they are.
 */
export function translate(error: unknown): unknown {
  const words = failureCodes[primaryCode(error)]
  return words === undefined ? error : new StoreFailure(words, error)
}

function primaryCode(error: unknown): number {
  const { errcode } = Object(error) as { errcode?: unknown }
  return typeof errcode === 'number' ? errcode & 0xff : 0
}
