import { DurationHistogram, secondsBounds } from '@berth/gateway/basics/duration-histogram.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { maxConnections, type CallKind } from './connection-pools.ts'

/** How a call ended: `refused` is an answer of 400 and above, `cancelled` the caller's own end. */
type CallResult = 'ok' | 'refused' | 'unreachable' | 'cancelled'

/** First words of the descriptions of calls; any other one is counted as `other`, so that no name becomes a label. */
const operations = [
  'ask', 'count', 'create', 'inspect', 'list', 'listen', 'pause', 'ping', 'pull', 'read', 'remove', 'restore',
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
