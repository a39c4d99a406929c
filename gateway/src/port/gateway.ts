import type { TlsFiles } from '#/basics/tls-pair.ts'
import type { GatewaySettings } from './gateway-settings.ts'
import type {
  GatewayState,
  GatewayChange,
  Unavailable,
  Explanation,
  RouteActivity,
  SessionUse,
  Visit,
} from './gateway-state.ts'

/**
 * Port between data plane and control plane. The gateway (reverse proxy, data plane) owns the listener and every open connection
 * and knows only the state that it was sent; the control plane has store, engine and keys, sends changes to the gateway, and
 * answers its calls. Either may run without the other for a while: see docs/explanation/decisions/014.
 *
 * Everything that crosses is plain data that survives JSON: instants are milliseconds since 1970.
 */
export interface Gateway {
  /**
   * Binds the listener; requests before `serve` get 503. When it listens there already, nothing changes.
   * @param port 0 picks a free one @param tls null for plain HTTP; when it listens already, other files are used, if they
   * are right @returns the port @throws {Error} in words for the operator, when it cannot be had, or the files are wrong
   */
  listen(host: string, port: number, tls?: TlsSettings | null): Promise<number>

  /**
   * Begins to answer, or goes on with another control plane and its settings. Nothing that is open is touched. State, changes and
   * holds that are sent behind it follow these settings, whether it has resolved or not.
   */
  serve(settings: GatewaySettings, control: ControlPlane): Promise<void>

  /**
   * Replaces everything known in one step; what the new state forbids is cut. Resolves when it counts.
   * Called at every start of a control plane, and by its reconciler when in doubt.
   */
  replace(state: GatewayState): Promise<void>

  /** Applies changes in order. Once it resolves, no request follows the old state and forbidden streams are cut. */
  apply(changes: readonly GatewayChange[]): Promise<void>

  /**
   * Of several gateways: resolves when none may serve by a state of before the last `replace` or `apply` any more; `apply` waits
   * for it, `replace` does not, so that a new leader is not held up by a node that is gone. Left out: it is one gateway.
   */
  settled?(): Promise<void>
  /**
   * Holds an idle container's route before its suspension: when no byte has moved to or from it for `minIdle` ms, its address is
   * withdrawn, from then on requests wait for `ControlPlane.wake`, and it returns true. Otherwise it returns false and
   * changes nothing. Applying the route again ends the hold; after a minute it ends by itself.
   */
  hold(prefix: string, minIdle: number): Promise<boolean>

  /** Counters since the gateway's start, by metric name. */
  counts(): Promise<Readonly<Record<string, number>>>
}

/** TLS termination in the gateway. */
export interface TlsSettings extends TlsFiles {
  /** Port of a listener that redirects from plain HTTP; null for none. */
  readonly redirectPort: number | null
}

/** What a code is exchanged for. */
export interface HostEntry {
  /** Of the attempts, the one that it belongs to. */
  readonly browser: string
  /** `Set-Cookie` lines of the host. */
  readonly setCookie: readonly string[]
  /** Path and query to go on to, on this host. */
  readonly next: string
}

/**
 * What a request may cause that asks for a container that does not run: its owner's starts it; any other lets it go on if it is
 * paused, and leaves it as it is if it is stopped by the time of the wake.
 */
export type WakeRight = 'start' | 'resume'

/** What a gateway asks of the control plane. Each promise may take as long as it says; a lost control plane rejects it. */
export interface ControlPlane {
  /**
   * A token for the app: for this user, signed with the key of access tokens, for containers only, refused by the API.
   * @param acting who acts for the user, as their token says; null when the user acts themselves
   */
  scopedToken(
    userId: number,
    prefix: string,
    acting: string | null,
  ): Promise<{ readonly token: string; readonly expiresAt: number }>

  /**
   * `Set-Cookie` lines that give a browser a new token of this session. @param host as the browser names it
   * @param prefix of the container for whose host it is alone; null for the platform's host
   * @returns none when the session is over
   */
  renewSession(sid: string, userId: number, host: string, prefix: string | null): Promise<readonly string[]>

  /**
   * Takes a code that opens a container's host, which is used up by this.
   * @param browsers hashes of the attempts that the browser has begun at this host
   * @returns undefined when the code is unknown, used, expired, for another container, or for another browser
   */
  enterHost(code: string, prefix: string, browsers: readonly string[]): Promise<HostEntry | undefined>

  /** Until when a session lasts that is not used again, in ms since 1970; 0 when it is over. */
  sessionEnd(sid: string): Promise<number>

  /** Sessions that were used, each once a minute at most. */
  reportSessionUses(uses: readonly SessionUse[]): void

  /**
   * Makes a container that sleeps or is paused run, because a request asks for it, after what is in progress with it: a pause or
   * a stop. Its route is sent (`apply`) before this resolves. At most 60 s. @param requestId of that request, for the log
   * @param right of who asks; `start` when it is left out @returns why it does not run, or undefined when it does
   */
  wake(prefix: string, requestId?: string, right?: WakeRight): Promise<Unavailable | undefined>

  /** What is known about a container that cannot be reached, for its owner. At most 3 s; never rejects for the engine's sake. */
  explain(prefix: string): Promise<Explanation>

  /**
   * With several nodes: resolves when this control plane leads, and has sent this gateway every change that it has confirmed to
   * others. Rejects otherwise. At most 3 s.
   */
  confirmState(): Promise<void>
  /** An app was unreachable at its address although it should run: check it again. */
  reportUnreachable(prefix: string): void

  /** Containers that bytes moved to or from since the last call, about every second. */
  reportActivity(activity: readonly RouteActivity[]): void

  /** Visitors of shared containers, each reported again every 5 s at most while the visit lasts. */
  reportVisits(visits: readonly Visit[]): void

  /** A bug or a broken app, once, with its cause. Never with a query, header, token or link. @param requestId of the request that failed */
  report(problem: string, requestId?: string): void
}
