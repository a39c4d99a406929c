import { performance } from 'node:perf_hooks'
import { DurationHistogram, millisecondsBounds } from '#/basics/duration-histogram.ts'

/** Where an answer came from: a container's app, the API process, or the gateway itself. */
export type ResponseSource = 'app' | 'api' | 'gateway'

const classes = ['1xx', '2xx', '3xx', '4xx', '5xx']

/**
 * Metrics of the gateway process beside those of its parts: answers by status, their latency, and the load of the
 * process. An answer costs an increment and a clock reading; nothing here runs at intervals.
 */
export class GatewayMetrics {
  readonly #responses = { app: classes.map(() => 0), api: classes.map(() => 0), gateway: classes.map(() => 0) }
  readonly #seconds = { app: new DurationHistogram(millisecondsBounds), api: new DurationHistogram(millisecondsBounds) }

  /** The head of an answer goes to the client. @param ms since its request was read */
  forwarded(source: 'app' | 'api', status: number, ms: number): void {
    this.#count(source, status)
    this.#seconds[source].observe(ms)
  }

  /** The gateway answers by itself. */
  answered(status: number): void {
    this.#count('gateway', status)
  }

  #count(source: ResponseSource, status: number): void {
    const counts = this.#responses[source]
    const at = Math.min(4, Math.max(0, Math.trunc(status / 100) - 1))
    counts[at] = (counts[at] ?? 0) + 1
  }

  /** Numbers for `/metrics`, by name. */
  series(): Readonly<Record<string, number>> {
    const responses = Object.entries(this.#responses).flatMap(([source, counts]) =>
      counts.map((count, at) => [`berth_gateway_responses_total{source="${source}",code="${classes[at]}"}`, count]),
    )
    return {
      ...(Object.fromEntries(responses) as Record<string, number>),
      ...this.#seconds.app.series('berth_gateway_response_seconds', 'source="app"'),
      ...this.#seconds.api.series('berth_gateway_response_seconds', 'source="api"'),
      ...processLoad(),
    }
  }
}

/** Load of this process, as counters that the system keeps anyway: sampling would wake an idle process. */
function processLoad(): Record<string, number> {
  const { user, system } = process.cpuUsage()
  return {
    berth_gateway_event_loop_busy_seconds_total: performance.eventLoopUtilization().active / 1_000,
    berth_gateway_cpu_seconds_total: (user + system) / 1e6,
    berth_gateway_resident_memory_bytes: process.memoryUsage.rss(),
    berth_gateway_start_time_seconds: performance.timeOrigin / 1_000,
  }
}
