import type { Server } from 'node:http'
import type { Logger } from 'pino'
import { acceptErrors, connectionsCheckingInterval, createServer } from '@berth/gateway/basics/listening.ts'
import { message, type LocalizedMessage } from '@berth/texts/localized-message.ts'
import { isBearer, type Metrics } from './metrics.ts'

/** Timeout of a request, of an idle connection, and interval of attempts to listen; in ms. */
const [requestTimeout, idleTimeout, retryEvery] = [10_000, 5_000, 5_000]
/** Max connections: a scraper needs one. */
const maxConnections = 32

/** Address of the separate listener of `/metrics`. */
export interface MetricsAddress {
  readonly host: string
  readonly port: number
  /** As configured. */
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
