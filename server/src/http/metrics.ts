import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import { cachedFor } from '#/machine/ttl-cache.ts'
import { metricDescriptions, type MetricDescription } from './metric-descriptions.ts'
import { routeOf } from './error-handler.ts'

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
