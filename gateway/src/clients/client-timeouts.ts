/** How long a client may take, in ms: one that sends byte by byte (slow loris) keeps no connection. */
export interface ClientTimeouts {
  /** For a whole head, from its first byte or from the connection. */
  readonly head: number
  /** Without a request. Longer than common proxies in front of us wait, so that they close first and never lose a race. */
  readonly idle: number
  /** Without sending anything more of its request, or reading anything more of its answer. */
  readonly stalled: number
  /** To go on sending after its answer. */
  readonly lingering: number
  /** Without a byte on a WebSocket, pings included. */
  readonly idleWebSocket: number
}

export const defaultClientTimeouts: ClientTimeouts = {
  head: 15_000,
  idle: 65_000,
  stalled: 120_000,
  lingering: 30_000,
  idleWebSocket: 3_600_000,
}
