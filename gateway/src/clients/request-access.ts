import { clock } from '#/basics/clock.ts'
import type { GatewayConfig } from '#/access/gateway-config.ts'
import { platformPathOf } from '#/access/host-entry.ts'
import type { RequestHead } from '#/http1/request-head.ts'
import type { Exchange } from '#/proxy/exchange.ts'
import { Route } from '#/upstream/route.ts'
import type { AccessEntry } from './access-log.ts'
import type { ConnectionContext } from './client-connections.ts'

/** What the access log says about one request, from its head to the end of its answer or WebSocket. */
export class RequestAccess {
  readonly #head: RequestHead | undefined
  readonly #at = clock.wall
  readonly #begun = performance.now()
  readonly #bytesBefore: number
  #source: AccessEntry['source'] = 'gateway'
  #status = 0
  #user: string | undefined
  /** First segment of the path. */
  #prefix: string | undefined
  #requestId: string | undefined

  /** @param bytesBefore bytes that were written to the connection before */
  constructor(head: RequestHead | undefined, bytesBefore: number) {
    this.#head = head
    this.#bytesBefore = bytesBefore
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

  /** Writes the line. @param bytes that have been written to the connection by now */
  end({ accessLog, config }: ConnectionContext, peer: string, bytes: number): void {
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
}

/** With subdomain routing as with path routing, so that the line says which container it is about. */
function targetOf(config: GatewayConfig | undefined, head: RequestHead | undefined): string {
  if (!head) return ''
  return config?.containerHosts ? platformPathOf(config, head) : head.target
}
