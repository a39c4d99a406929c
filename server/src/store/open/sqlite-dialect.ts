import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
} from 'kysely'
import { Semaphore } from '#/machine/semaphore.ts'
import { StoreFailure, storeTimeout } from '#/store/store-failure.ts'

/** Pause between two attempts to get a lock that another program holds, in ms. */
const retryEvery = 20

/**
 * SQLite dialect of Kysely on `node:sqlite`: one connection that writes, and one that reads and never waits, not even
 * while another program locks the database. `node:sqlite` would block the event loop while it waits for a lock; so its
 * own timeout is zero, and a locked statement is retried at intervals.
 * @param file path @throws when it cannot be opened
 */
export function sqliteDialect(file: string): Dialect {
  const driver = new SqliteDriver(file)
  return {
    createAdapter: () => new TwoConnectionsAdapter(),
    createDriver: () => driver,
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }
}

/** Locking is done here and not by Kysely, which would let readers wait for writers. */
class TwoConnectionsAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true
  }
}

class SqliteDriver implements Driver {
  readonly #writing: SqliteFile
  readonly #reading: SqliteFile
  /** Mutex of writers, with a timeout for each: if each waited for the one before, the last might wait for ever. */
  readonly #writeMutex = new Semaphore({ max: 1, timeout: storeTimeout })

  constructor(file: string) {
    this.#writing = SqliteFile.forWriting(file)
    this.#reading = SqliteFile.forReading(file)
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<SqliteConnection> {
    return new SqliteConnection(this.#writing, this.#reading, this.#writeMutex)
  }

  async beginTransaction(connection: SqliteConnection): Promise<void> {
    await connection.begin()
  }

  async commitTransaction(connection: SqliteConnection): Promise<void> {
    connection.commit()
  }

  async rollbackTransaction(connection: SqliteConnection): Promise<void> {
    connection.rollBack()
  }

  async releaseConnection(connection: SqliteConnection): Promise<void> {
    connection.release()
  }

  async destroy(): Promise<void> {
    this.#reading.close()
    // The last connection to close checkpoints the write-ahead log, which a reading one may not.
    this.#writing.close()
  }
}

/** Connection of one query, or one transaction. */
class SqliteConnection implements DatabaseConnection {
  readonly #writing: SqliteFile
  readonly #reading: SqliteFile
  readonly #writeMutex: Semaphore
  /** Whether it holds the write mutex, from `begin` to the end of the transaction. */
  #isInTransaction = false

  constructor(writing: SqliteFile, reading: SqliteFile, writeMutex: Semaphore) {
    this.#writing = writing
    this.#reading = reading
    this.#writeMutex = writeMutex
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { sql, parameters } = query
    if (this.#isInTransaction) return this.#within<R>(sql, parameters)
    const deadline = performance.now() + storeTimeout
    if (isRead(query)) return retryWhileBusy(deadline, () => this.#reading.run<R>(sql, parameters))
    await this.#lockForWriting()
    try {
      return await retryWhileBusy(deadline, () => this.#writing.run<R>(sql, parameters))
    } finally {
      this.#writeMutex.release()
    }
  }

  /**
   * Takes the write lock at the beginning: a transaction that reads before it writes would fail with BUSY_SNAPSHOT,
   * whatever its timeout, when another program writes in between.
   */
  async begin(): Promise<void> {
    const deadline = performance.now() + storeTimeout
    await this.#lockForWriting()
    try {
      await retryWhileBusy(deadline, () => this.#writing.exec('begin immediate'))
      this.#isInTransaction = true
    } catch (error) {
      this.#writeMutex.release()
      throw error
    }
  }

  commit(): void {
    this.#within('commit', [])
  }

  /** SQLite rolls a transaction back by itself when the disk is full; a rollback would then fail and hide the cause. */
  rollBack(): void {
    if (this.#writing.isInTransaction) this.#writing.exec('rollback')
  }

  release(): void {
    if (!this.#isInTransaction) return
    this.#isInTransaction = false
    this.#writeMutex.release()
  }

  // oxlint-disable-next-line eslint/require-yield
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('rows are read page by page: a stream would prevent checkpoints of the write-ahead log')
  }

  async #lockForWriting(): Promise<void> {
    await this.#writeMutex.acquire().catch((cause: unknown) => {
      throw new StoreFailure(`other writers did not end within ${storeTimeout} ms`, cause)
    })
  }

  /** Once SQLite has rolled the transaction back, each further statement would be committed by itself. */
  #within<R>(sql: string, parameters: readonly unknown[]): QueryResult<R> {
    if (!this.#writing.isInTransaction) throw new Error('SQLite has ended this transaction already')
    try {
      return this.#writing.run<R>(sql, parameters)
    } catch (error) {
      throw translate(error)
    }
  }
}

/** Everything else may write; the reading connection refuses writes. */
function isRead({ query, sql }: CompiledQuery): boolean {
  return query.kind === 'SelectQueryNode' || (query.kind === 'RawNode' && /^\s*select\b/i.test(sql))
}

/**
 * Retries while the database is locked. @param deadline by `performance.now()` @throws {StoreFailure} at the deadline,
 * and when it fails otherwise
 */
async function retryWhileBusy<T>(deadline: number, work: () => T): Promise<T> {
  for (;;) {
    try {
      return work()
    } catch (error) {
      if (!isBusy(error) || performance.now() >= deadline) throw translate(error)
    }
    await sleep(retryEvery)
  }
}

/** Max prepared statements; the server has far fewer distinct queries. */
const maxStatements = 200
/** Timeout of another program's lock while opening, in ms; blocks the event loop, at the start only. */
const openTimeout = 5_000

/** One connection to a database file. Synchronous: every call returns or throws at once. */
class SqliteFile {
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
const isBusy = (error: unknown) => [5, 6].includes(primaryCode(error))

/** SQLITE_FULL */
const full = 13

/** Primary result codes of SQLite that are not caused by the statement (sqlite.org/rescode.html), in words. */
const failureCodes: Record<number, string> = {
  5: 'the database is locked by another program',
  6: 'the database is locked by another program',
  8: 'the database may not be written',
  10: 'the disk of the database fails',
  [full]: 'the disk of the database is full',
  14: 'the database file cannot be opened',
}

/**
 * A `StoreFailure` for failures of SQLite or its file; other errors, such as a violated constraint, are returned as
 * they are.
 */
function translate(error: unknown): unknown {
  const code = primaryCode(error)
  const words = failureCodes[code]
  return words === undefined ? error : new StoreFailure(words, error, code === full)
}

function primaryCode(error: unknown): number {
  const { errcode } = Object(error) as { errcode?: unknown }
  return typeof errcode === 'number' ? errcode & 0xff : 0
}
