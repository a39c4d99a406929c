import type { UpstreamConnection } from '#/upstream/upstream-connection.ts'
import type { ResponseContext } from './downstream-response-headers.ts'
import type { Caller } from '#/access/token-verifier.ts'
import type { GatewayRefusal } from '#/pages/gateway-refusals.ts'
import type { RequestHead } from '#/http1/request-head.ts'
import type { Upstream } from '#/upstream/upstream.ts'
import type { ActiveCount } from '#/clients/connection-limiter.ts'

/** The client's side of an exchange. */
export interface ExchangeClient {
  /** @returns false when the client reads slower than we write */
  write(bytes: Buffer | string): boolean
  /** Head and body in as few packets as possible. */
  writeTogether(head: string, body: Buffer): boolean
  hasUnsentBytes(): boolean
  /** Stops and goes on reading what the client sends. */
  pause(): void
  resume(): void
  /** The head of the response is sent: its last one, not an interim one. @param ms since the exchange began */
  responseBegan(status: number, ms: number): void
  /** The response is complete. @param isLast the connection cannot carry another one */
  responseEnded(isLast: boolean): void
  /** Nothing was sent yet: respond with a refusal instead. */
  refuse(refusal: GatewayRefusal): void
  /** The app failed. When its response had begun, the client must see a cut, so that it does not take a part for the whole. */
  failed(cause: Error, hasBegun: boolean): void
  /** Ends the client's connection at once. */
  cut(): void
  /** The app agreed to a WebSocket: from now on bytes go both ways. `first` follows the handshake. */
  tunnel(app: UpstreamConnection, first: Buffer): void
  /** More of the request goes to an app that was paused meanwhile. Repeated calls are one wake. */
  wakeUpstream(): void
  /** The connection that was kept turned out to be closed: get a new one. */
  retry(): void
}

export interface ExchangeParts {
  readonly head: RequestHead
  readonly upstream: Upstream
  /** As `UpstreamRequestHeaders` or `platformRequestHead` wrote it. */
  readonly upstreamHead: string
  /** Undefined for the platform's own responses. */
  readonly responseContext: ResponseContext | undefined
  readonly caller: Caller | undefined
  /** Where it is counted while it is open; undefined for the platform. */
  readonly active: ActiveCount | undefined
}
