import type { ControlPlane, Gateway, GatewaySettings, GatewayState } from '#/port/gateway.ts'

/**
 * What the two processes call on each other, and how long each call may take. It is the port of gateway.ts, with the one
 * state that may be large cut into parts, and the notifications of the processes' life cycle.
 */

/**
 * Protocol version: raise it whenever a call here or a shape in port/gateway.ts (`GatewayState`, `GatewaySettings`) changes: an upgrade replaces the API process while the
 * gateway process of the old version goes on, and neither may misread the other. Not for an argument or a field that both may do without, such as a request id.
 */
export const protocolVersion = 14

/** What the API process may call on the gateway process. */
export interface GatewayRpc extends Pick<Gateway, 'listen' | 'apply' | 'hold' | 'counts'> {
  serve(settings: GatewaySettings): Promise<void>
  /** What follows, up to `replace`, is a new state; parts of one that never came to its end are forgotten. */
  beginReplace(): void
  replacePart(part: GatewayState): void
  replace(): Promise<void>
  /** Everything is loaded and every setting is right; the process waits for `start`. */
  loaded(version: number): void
  /** Requests are answered. @param words for the operator's terminal, when this is the first start */
  ready(words: string): void
}

/** What the gateway process may call on the API process. */
export interface ControlPlaneRpc extends ControlPlane {
  /** The store and the engine are yours from now on. */
  start(): void
  /**
   * Finish what is under way and end. @param isReplaced another API process follows at once; a gateway process that is too
   * old to know says nothing, and it counts as the end of the service
   */
  stop(isReplaced?: boolean): void
  /** Health check: answered while the event loop runs. */
  ping(): Promise<void>
}

/** Timeouts in ms: what the port promises, and a margin for the transport. */
export const callTimeouts = {
  listen: 30_000,
  serve: 30_000,
  replace: 30_000,
  apply: 5_000,
  hold: 5_000,
  counts: 2_000,
  scopedToken: 10_000,
  renewSession: 10_000,
  enterHost: 5_000,
  sessionEnd: 10_000,
  confirmState: 3_000,
  wake: 65_000,
  explain: 5_000,
  listeningPorts: 7_000,
} as const

/** Max users, routes or changes in one message: about a millisecond's work for either side. */
export const maxItemsPerMessage = 1_000
