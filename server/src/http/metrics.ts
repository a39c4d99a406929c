import { createHash, timingSafeEqual } from 'node:crypto'
import type { Server } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'
import { acceptErrors, connectionsCheckingInterval, createServer } from '@berth/gateway/basics/bind.ts'
import { message, type LocalizedMessage } from '@berth/texts/localized-message.ts'
import { cachedFor } from '#/machine/single-flight.ts'
import { routeOf } from './error-handler.ts'
import { metricDescriptions, type MetricDescription } from './metric-descriptions.ts'

/** TTL of the text, in ms. */
const textLifetime = 1_000

/** Prometheus metrics of the process, its requests, and further counts. Numbers and route patterns only. */
export interface Metrics {
  readonly contentType: string
  /** At most one second old. */
  text(): Promise<string>
}

/**
 * Collects metrics of the server's responses from now on.
 * @param counts rejects when a source does not answer; its numbers are left out then
 */
export function collectMetrics(
  server: FastifyInstance,
  counts: () => Promise<Readonly<Record<string, number>>>,
): Metrics {
  const registry = new Registry()
  let isCollecting = false
  const labelNames = ['method', 'route', 'status'] as const
  const requests = new Counter({
    name: 'berth_http_requests_total',
    help: metricDescriptions.berth_http_requests_total.help,
    labelNames,
    registers: [registry],
  })
  const seconds = new Histogram({
    name: 'berth_http_request_seconds',
    help: metricDescriptions.berth_http_request_seconds.help,
    labelNames,
    buckets: [0.005, 0.025, 0.1, 0.5, 1, 5, 30],
    registers: [registry],
  })
  const inProgress = new Gauge({
    name: 'berth_http_requests_in_progress',
    help: metricDescriptions.berth_http_requests_in_progress.help,
    registers: [registry],
  })
  // Hooks that wait for nothing take a callback: a promise for each costs every request more than what they do.
  server.addHook('onRequest', (_, reply, done) => {
    inProgress.inc()
    // Also after a client that has gone, for which there is no `onResponse`.
    reply.raw.once('close', () => inProgress.dec())
    done()
  })
  server.addHook('onResponse', (request, reply, done) => {
    const labels = { method: request.method, route: routeOf(request), status: String(reply.statusCode) }
    requests.inc(labels)
    seconds.observe(labels, reply.elapsedTime / 1000)
    done()
  })
  const text = cachedFor(textLifetime, async () => {
    // From the first scrape on: sampling the event loop wakes the process a hundred times a second.
    if (!isCollecting) collectDefaultMetrics({ register: registry })
    isCollecting = true
    const more = await counts().catch(() => ({}))
    return (await registry.metrics()) + lines(more)
  })
  return { contentType: registry.contentType, text }
}

/** Whether the header is `Bearer` with this token; compared in constant time. */
export function isBearer(authorization: string | undefined, token: string): boolean {
  const [, sent = ''] = /^bearer +(\S+)$/i.exec(authorization ?? '') ?? []
  return timingSafeEqual(digest(sent), digest(token))
}

const digest = (text: string) => createHash('sha256').update(text).digest()

/** @param counts names may have labels, and the suffixes of a histogram: `name{kind="x"}`, `name_bucket{le="1"}` */
function lines(counts: Readonly<Record<string, number>>): string {
  const byName = Map.groupBy(Object.entries(counts), ([name]) => familyOf(name.replace(/\{.*/, '')))
  const text = [...byName].map(([name, entries]) => [
    ...headerOf(name),
    ...entries.map(([labelled, value]) => `${labelled} ${value}`),
  ])
  return text
    .flat()
    .map((line) => `${line}\n`)
    .join('')
}

/** The series of a histogram have its name and a suffix. */
function familyOf(name: string): string {
  const family = name.replace(/_(bucket|sum|count)$/, '')
  return descriptionOf(family)?.type === 'histogram' ? family : name
}

const descriptionOf = (name: string) => (metricDescriptions as Readonly<Record<string, MetricDescription>>)[name]

/** HELP and TYPE lines. An older gateway process may count metrics that have no description any more. */
function headerOf(name: string): string[] {
  const description = descriptionOf(name)
  if (!description) return [`# TYPE ${name} ${name.endsWith('_total') ? 'counter' : 'gauge'}`]
  return [`# HELP ${name} ${description.help}`, `# TYPE ${name} ${description.type}`]
}

/** Timeout of a request, of an idle connection, and interval of attempts to listen; in ms. */
const [requestTimeout, idleTimeout, retryEvery] = [10_000, 5_000, 5_000]
/** Max connections: a scraper needs one. */
const maxConnections = 32

/** Address of the separate listener of `/metrics`. */
export interface MetricsAddress {
  readonly host: string
  readonly port: number
  /** The address in the words of the settings. */
  readonly text: string
}

/**
 * `METRICS_LISTEN`: a plain HTTP listener that answers `/metrics` alone. If the address cannot be bound Berth starts
 * and reloads settings all the same: the failure is logged and reported, and retried.
 */
export class MetricsListener {
  readonly #address: MetricsAddress
  readonly #log: Pick<Logger, 'info' | 'error'>
  readonly #server: Server
  #metrics: Metrics | undefined
  #retry: NodeJS.Timeout | undefined
  #problem: string | undefined

  /** @param token required bearer token; null answers every client that reaches the address */
  constructor(address: MetricsAddress, token: string | null, log: Pick<Logger, 'info' | 'error'>) {
    this.#address = address
    this.#log = log
    const timeouts = {
      headersTimeout: requestTimeout,
      requestTimeout,
      keepAliveTimeout: idleTimeout,
      connectionsCheckingInterval,
    }
    this.#server = createServer(timeouts, (request, response) => {
      const plain = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' }
      const isAsked = request.url?.split('?')[0] === '/metrics' && ['GET', 'HEAD'].includes(request.method ?? '')
      if (!isAsked) return void response.writeHead(404, plain).end('not found\n')
      if (token !== null && !isBearer(request.headers.authorization, token))
        return void response.writeHead(403, plain).end('send "Authorization: Bearer" with METRICS_TOKEN\n')
      const failed = () => void response.writeHead(500, plain).end('failed\n')
      const metrics = this.#metrics
      if (!metrics) return failed()
      metrics
        .text()
        .then((text) => response.writeHead(200, { ...plain, 'content-type': metrics.contentType }).end(text), failed)
    })
    this.#server.maxConnections = maxConnections
    const acceptFailed = acceptErrors((problem) => log.error(`METRICS_LISTEN=${address.text}: ${problem}`))
    this.#server.on('error', (error: NodeJS.ErrnoException) =>
      this.#server.listening ? acceptFailed(error) : this.#failed(error),
    )
    this.#server.on('listening', () => {
      this.#problem = undefined
      log.info(`the metrics are at http://${address.text}/metrics`)
    })
  }

  /** Listens, and answers with these metrics. Resolves when the first attempt to listen has succeeded or failed. */
  async start(metrics: Metrics): Promise<void> {
    this.#metrics = metrics
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#server.once('listening', resolve).once('error', () => resolve())
    this.#listen()
    await promise
  }

  stop(): void {
    clearTimeout(this.#retry)
    this.#server.close()
    this.#server.closeAllConnections()
  }

  /** For the system report. */
  warnings(): LocalizedMessage[] {
    if (this.#problem === undefined) return []
    return [message('findings.metricsUnreachable', { listen: this.#address.text, reason: this.#problem })]
  }

  #listen(): void {
    this.#server.listen({ host: this.#address.host, port: this.#address.port })
  }

  #failed(error: NodeJS.ErrnoException): void {
    const reason = error.code ?? error.message
    if (this.#problem !== reason)
      this.#log.error({ err: error }, `METRICS_LISTEN=${this.#address.text} cannot be bound; it is retried`)
    this.#problem = reason
    this.#retry = setTimeout(() => this.#listen(), retryEvery).unref()
  }
}
