import type { Authenticator } from '#/access/request-authenticator.ts'
import type { GatewayResponse } from '#/pages/gateway-response.ts'
import type { UpstreamConnection } from '#/upstream/upstream.ts'
import type { Exchange, ExchangeClient } from './exchange.ts'
import type { UpstreamRequestHeaders } from './request-headers.ts'

/** What a request needs of the connection that it came on. `ClientConnection` is one; nothing here knows how it reads and writes. */
export interface RequestClient extends ExchangeClient {
  /** Address of the peer: the client, or a proxy in front of the gateway. */
  readonly peer: string
  readonly requestId: string
  /** Of the request's span, for what it causes; undefined without traces. */
  readonly traceparent: string | undefined
  /** The client disconnected while its request was being processed. */
  readonly isGone: boolean
  /** One for each connection, because one client sends the same cookies again and again. */
  readonly authenticator: Authenticator
  readonly upstreamHeaders: UpstreamRequestHeaders
  /** Begins an exchange for the request. @throws {GatewayRefusal} 400 when what has come of its body is malformed */
  begin(exchange: Exchange): void
  /** Sends the exchange's request on a connection to its upstream. */
  send(connection: UpstreamConnection): void
  /** Responds with the gateway's own response instead of an upstream's. */
  respond(response: GatewayResponse): void
  /** Begins a streamed response; `finishResponse` ends it. */
  beginResponse(status: number, headers: Readonly<Record<string, string>>, beginning: string): void
  continueResponse(text: string): void
  finishResponse(text: string): void
}
