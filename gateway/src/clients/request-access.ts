import { clock } from '#/basics/clock.ts'
import type { Span, Tracer } from '#/basics/tracer.ts'
import type { GatewayConfig } from '#/access/gateway-config.ts'
import { platformPathOf } from '#/access/host-entry.ts'
import { headerValue } from '#/http1/header-lines.ts'
import type { RequestHead } from '#/http1/request-head.ts'
import type { Exchange } from '#/proxy/exchange.ts'
import { Route } from '#/upstream/route.ts'
import type { AccessEntry } from './access-log.ts'
import type { ConnectionContext } from './client-connections.ts'

/** What access log and traces say about one request, from its head to the end of its answer or WebSocket. */
export class RequestAccess {
  readonly #head: RequestHead | undefined
  readonly #at = clock.wall
  readonly #begun = performance.now()
  readonly #bytesBefore: number
  readonly #span: Span | undefined
  #source: AccessEntry['source'] = 'gateway'
  #status = 0
  #user: string | undefined
  /** First segment of the path. */
  #prefix: string | undefined
  #requestId: string | undefined

  /** @param bytesBefore bytes that were written to the connection before */
  constructor(head: RequestHead | undefined, bytesBefore: number, tracer: Tracer | undefined) {
    this.#head = head
    this.#bytesBefore = bytesBefore
    this.#span = tracer?.begin(methodOf(head), 'server', {}, head && headerValue(head.text, 'traceparent'))
  }

  get traceparent(): string | undefined {
    return this.#span?.traceparent
  }

  noteAnswer(source: AccessEntry['source'], status: number): void {
    this.#source = source
    this.#status = status
  }

  /** Before the exchange is forgotten. */
  noteExchange(exchange: Exchange | undefined, requestId: string | undefined, { users }: ConnectionContext): void {
    this.#requestId = requestId
    if (!exchange) return
    const { caller, upstream } = exchange.parts
    this.#user = caller && users.get(caller.userId)?.slug
    this.#prefix = upstream instanceof Route ? upstream.segment : undefined
  }

  /** Writes the line, and ends the span. @param bytes that have been written to the connection by now */
  end({ accessLog, config }: ConnectionContext, peer: string, bytes: number): void {
    this.#endSpan(config)
    const { method, isHttp10 = false, fields } = this.#head ?? {}
    accessLog.current?.write({
      at: this.#at,
      ms: performance.now() - this.#begun,
      address: config?.trustedProxies.clientAddress(peer, fields?.forwardedFor) ?? peer,
      user: this.#user,
      method,
      target: targetOf(config, this.#head),
      isHttp10,
      status: this.#status,
      bytes: bytes - this.#bytesBefore,
      source: this.#source,
      prefix: this.#prefix,
      requestId: this.#requestId,
    })
  }

  /** No path and no query: links and tokens of applications are in both. */
  #endSpan(config: GatewayConfig | undefined): void {
    this.#span?.end({
      name: this.#prefix === undefined ? methodOf(this.#head) : `${methodOf(this.#head)} /${this.#prefix}`,
      attributes: {
        'http.request.method': methodOf(this.#head),
        'http.response.status_code': this.#status === 0 ? undefined : this.#status,
        'url.scheme': config?.settings.scheme,
        'berth.container': this.#prefix,
        'berth.answered_by': this.#source,
        'berth.request_id': this.#requestId,
      },
      isFailed: this.#status >= 500,
    })
  }
}

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'TRACE', 'CONNECT'])

/** Name of a method in a span: of any other one as OpenTelemetry has it, for a secret has the form of a method, too. */
const methodOf = (head: RequestHead | undefined) => (head && methods.has(head.method) ? head.method : '_OTHER')

/** With subdomain routing as with path routing, so that the line says which container it is about. */
function targetOf(config: GatewayConfig | undefined, head: RequestHead | undefined): string {
  if (!head) return ''
  return config?.containerHosts ? platformPathOf(config, head) : head.target
}
