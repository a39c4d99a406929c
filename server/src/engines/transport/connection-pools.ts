import { createRequire } from 'node:module'
import type * as undici from 'undici'

/**
 * undici's `Pool` without the rest of the package: its main file also loads fetch, caches, mocks and WebSockets, and with
 * them Node's own copy of all that. What the main file adds to every dispatcher (`request`, `stream`...) is added here.
 */
const require = createRequire(import.meta.url)
const dispatcher = require('undici/lib/dispatcher/dispatcher.js') as typeof undici.Dispatcher
Object.assign(dispatcher.prototype, require('undici/lib/api/index.js'))

const Pool = require('undici/lib/dispatcher/pool.js') as typeof undici.Pool
type Pool = undici.Pool
type PoolOptions = undici.Pool.Options

/** Makes what opens the connections of a pool, with fixed options. */
export const buildConnector = require('undici/lib/core/connect.js') as typeof undici.buildConnector

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

  /** Takes no call any more, and closes each connection when its call has ended. */
  async close(): Promise<void> {
    await Promise.all(Object.values(this.#pools).map((pool) => pool.close()))
  }
}
