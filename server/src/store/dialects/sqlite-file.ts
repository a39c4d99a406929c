import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import type { QueryResult } from 'kysely'
import { StoreFailure } from '../store-failure.ts'

/** Statements kept prepared; the server has far fewer distinct queries than this. */
const maxStatements = 200
/** How long opening waits for another program's lock, in ms: nothing else is going on then that could be held up. */
const openTimeout = 5_000

/** One connection to a database file. Every call either works at once or throws at once. */
export class SqliteFile {
  readonly #database: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()

  private constructor(database: DatabaseSync) {
    this.#database = database
    database.exec('PRAGMA busy_timeout = 0')
  }

  /**
   * - WAL, so that a backup, a look from outside and our own reading never wait for a writer, nor it for them.
   * - `synchronous=FULL`: an answer 200 is a promise that survives a power cut.
   * - Foreign keys on: SQLite ignores them unless told on every connection.
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

  /** A statement with columns is one that answers rows, whether it writes or not. */
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

/** Somebody else holds the lock: SQLITE_BUSY and SQLITE_LOCKED, with whatever says more in the higher bits. */
export const isBusy = (error: unknown) => [5, 6].includes(primaryCode(error))

/** Primary result codes of SQLite that say nothing about what was asked (sqlite.org/rescode.html), in words. */
const failureCodes: Record<number, string> = {
  5: 'the database is locked by another program',
  6: 'the database is locked by another program',
  8: 'the database may not be written',
  10: 'the disk of the database fails',
  13: 'the disk of the database is full',
  14: 'the database file cannot be opened',
}

/** A `StoreFailure` for what SQLite suffers from; anything else, such as a violated constraint, stays what it is. */
export function translate(error: unknown): unknown {
  const words = failureCodes[primaryCode(error)]
  return words === undefined ? error : new StoreFailure(words, error)
}

function primaryCode(error: unknown): number {
  const { errcode } = Object(error) as { errcode?: unknown }
  return typeof errcode === 'number' ? errcode & 0xff : 0
}
