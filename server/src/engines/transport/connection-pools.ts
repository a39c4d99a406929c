import { createRequire } from 'node:module'
import type * as undici from 'undici'
import { DurationHistogram, secondsBounds } from '@berth/gateway/basics/duration-histogram.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'

/**
 * undici's `Pool` without the rest of the package: its main file also loads fetch, caches, mocks and WebSockets, and
 * with them Node's own copy of all that. What the main file adds to every dispatcher (`request`, `stream`...) is added
 * here.
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
 * Max connections of each kind. They are bounded so that a hung engine does not cost all file handles; `stream` is
 * larger than `StreamRegistry` lets logs be followed in all, so that CPU samples have connections left.
 */
const maxConnections: Readonly<Record<CallKind, number>> = { health: 8, query: 96, verb: 96, stream: 560 }

/**
 * A connection pool for each kind of call, so that no kind waits for connections that another one holds: with one pool
 * for everything 256 followed logs made pings time out, and every container unknown.
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

/** How a call ended: `refused` is an answer of 400 and above, `cancelled` the caller's own end. */
type CallResult = 'ok' | 'refused' | 'unreachable' | 'cancelled'

/** First words of the descriptions of calls; any other one is counted as `other`, so that no name becomes a label. */
const operations = [
  'ask', 'count', 'create', 'exec', 'inspect', 'list', 'listen', 'pause', 'ping', 'pull', 'read', 'remove', 'restore',
  'start', 'stop', 'unpause',
] // prettier-ignore

interface OperationCounts {
  readonly seconds: DurationHistogram
  readonly results: Record<CallResult, number>
}

/** Metrics of the calls to the engine: duration and result by operation, and the connections in use by kind of call. */
export class EngineCallMetrics {
  readonly #operations = new Map<string, OperationCounts>()
  readonly #active: Record<CallKind, number> = { health: 0, query: 0, verb: 0, stream: 0 }

  /** A connection is taken. @returns called once when it is free again */
  take(kind: CallKind): () => void {
    this.#active[kind]++
    return () => void this.#active[kind]--
  }

  /** A call has ended; a stream has begun. @param what as `EngineCall.what` @param error what it threw */
  note(what: string, ms: number, error: unknown): void {
    const { seconds, results } = this.#of(what)
    seconds.observe(ms)
    results[resultOf(error)]++
  }

  #of(what: string): OperationCounts {
    const [word = ''] = what.split(' ', 1)
    const operation = operations.includes(word) ? word : 'other'
    const known = this.#operations.get(operation)
    if (known) return known
    const results = { ok: 0, refused: 0, unreachable: 0, cancelled: 0 }
    const counts = { seconds: new DurationHistogram(secondsBounds), results }
    this.#operations.set(operation, counts)
    return counts
  }

  /** Numbers for `/metrics`, by name; an operation is left out until it was called. */
  series(): Readonly<Record<string, number>> {
    const all: Record<string, number> = {}
    for (const [operation, { seconds, results }] of this.#operations) {
      Object.assign(all, seconds.series('berth_engine_request_seconds', `operation="${operation}"`))
      for (const [result, count] of Object.entries(results))
        all[`berth_engine_requests_total{operation="${operation}",result="${result}"}`] = count
    }
    for (const [kind, count] of Object.entries(this.#active)) {
      all[`berth_engine_requests_in_progress{kind="${kind}"}`] = count
      all[`berth_engine_requests_in_progress_max{kind="${kind}"}`] = maxConnections[kind as CallKind]
    }
    return all
  }
}

function resultOf(error: unknown): CallResult {
  if (error === undefined) return 'ok'
  if (!(error instanceof RuntimeError)) return 'cancelled'
  return error.kind === 'unreachable' ? 'unreachable' : 'refused'
}
