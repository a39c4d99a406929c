import { Pool, type PoolOptions } from './undici-pool.ts'

/**
 * What a call keeps its connection busy with.
 * - `health`: pings, and the one stream of events: whether the engine can be believed hangs on these.
 * - `query`: short questions (inspect, list).
 * - `verb`: what changes something, and may take a minute.
 * - `stream`: answers that last by their nature: followed logs, CPU samples, the sizes of homes.
 */
export type CallKind = 'health' | 'query' | 'verb' | 'stream'

/**
 * Max connections of each kind. They are bounded so that a hung engine does not cost all file handles; `stream` is larger
 * than `OpenStreams` lets logs be followed in all, so that CPU samples have connections left.
 */
export const maxConnections: Readonly<Record<CallKind, number>> = { health: 8, query: 96, verb: 96, stream: 560 }

/**
 * A connection pool for each kind of call, so that no kind waits for connections that another one holds: with one pool for
 * everything 256 followed logs made pings time out, and every container unknown.
 */
export class ConnectionPools {
  readonly #pools: Readonly<Record<CallKind, Pool>>

  /** Connects at the first call. @param origin and options as undici's `Pool` takes them */
  constructor(origin: string | URL, options: PoolOptions) {
    // Timeouts are the client's, per call.
    const poolOf = (kind: CallKind) =>
      new Pool(origin, { ...options, bodyTimeout: 0, headersTimeout: 0, connections: maxConnections[kind] })
    this.#pools = { health: poolOf('health'), query: poolOf('query'), verb: poolOf('verb'), stream: poolOf('stream') }
  }

  of(kind: CallKind): Pool {
    return this.#pools[kind]
  }
}
