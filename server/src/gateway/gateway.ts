/**
 * The port between the two halves of Berth. The gateway (data plane) owns the listener and every open connection and knows
 * only what it was told; the control plane knows store, engine and keys, tells the gateway what changed, and answers its
 * questions. Either may run without the other for a while: see docs/explanation/decisions/014.
 *
 * Everything that crosses is plain data that survives JSON: instants are milliseconds since 1970.
 */
export interface Gateway {
  /**
   * Binds the listener; whoever comes before `serve` gets 503. When it listens there already, nothing changes.
   * @param port 0 picks a free one @returns the port @throws {Error} in words for the operator, when it cannot be had
   */
  listen(host: string, port: number): Promise<number>

  /** Begins to answer, or goes on with another control plane and its settings. Nothing that is open is touched. */
  serve(settings: GatewaySettings, control: ControlPlane): Promise<void>

  /**
   * Replaces everything known in one step; what the new state forbids is cut. Resolves when it counts.
   * Said at every start of a control plane, and by its reconciler when in doubt.
   */
  replace(state: GatewayState): Promise<void>

  /** Applies changes in order. Once it resolves, no request follows the old state and forbidden streams are cut. */
  apply(changes: readonly GatewayChange[]): Promise<void>

  /**
   * Makes sure that nobody uses a container any more: when no byte has moved to or from it for `quietFor` ms, its place is
   * taken away, so that from then on requests wait for `ControlPlane.wake`, and true is returned. Otherwise false, and
   * nothing has changed. Whoever holds a place ends that by telling the place anew; a minute later it ends by itself.
   */
  hold(prefix: string, quietFor: number): Promise<boolean>

  /** Counters since the gateway's start, by metric name. */
  counts(): Promise<Readonly<Record<string, number>>>
}

/** What a gateway asks of the control plane. Each promise may take as long as it says; a lost control plane rejects it. */
export interface ControlPlane {
  /**
   * A token for the app: same user and key as the person's, for containers only, refused by the API.
   * @param acting who acts for the user, as their token says; null when nobody does
   */
  scopedToken(
    userId: number,
    prefix: string,
    acting: string | null,
  ): Promise<{ readonly token: string; readonly expiresAt: number }>

  /**
   * Makes a container that sleeps or is paused run, because its owner asks for it. Its place is told (`apply`) before this
   * resolves. At most 60 s. @returns why it does not run, or undefined when it does
   */
  wake(prefix: string): Promise<Unavailable | undefined>

  /** What is known about a container that cannot be reached, for its owner. At most 3 s; never rejects for the engine's sake. */
  explain(prefix: string): Promise<Explanation>

  /** An app could not be reached at its place although it should be there: look again. */
  reportUnreachable(prefix: string): void

  /** Containers that bytes moved to or from since the last call, about every second. */
  reportActivity(activity: readonly RouteActivity[]): void

  /** A bug or a broken app, once, with its cause. Never with a query, header, token or link. */
  report(problem: string): void
}

export interface GatewaySettings {
  /** `http` or `https`, as people see it. */
  readonly scheme: string
  /** Host part of the base domain, for which the cookie of the token is set. */
  readonly cookieDomain: string
  /** Where a browser without a token is sent; `next` is added to its query. */
  readonly loginUrl: string
  /** Where a person starts a container that does not wake by itself; `type` and `next` are added to its query. */
  readonly launchUrl: string
  readonly dashboardUrl: string
  /** Unix socket on which the API and the front end answer. */
  readonly platformSocket: string
  /** Slugs that nobody has: first parts, up to a hyphen, of the API's and the front end's paths. */
  readonly reservedSlugs: readonly string[]
  /** Addresses and networks (`10.0.0.0/8`) whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: readonly string[]
  /** RFC 7517 public keys that access tokens are signed with. */
  readonly keys: readonly Readonly<Record<string, unknown>>[]
  /** By container type, percent-encoded as in its path. */
  readonly types: Readonly<Record<string, TypeRules>>
  /** Where `/{slug}` leads, encoded likewise. Said apart, because JSON puts a type called `10` before all others. */
  readonly firstType: string
}

/** What a template says about its containers' traffic, and what people call them. */
export interface TypeRules {
  readonly displayName: string
  readonly access: 'owner' | 'authenticated' | 'public'
  /** Whether pages get an origin of their own in the browsers of visitors who are not the owner; they do when it is not said. */
  readonly sandboxVisitors?: boolean
  /** Whether the app sees paths without `/{prefix}`. */
  readonly stripPrefix: boolean
  /** Whether `Location` and `Refresh` of its answers get the prefix when they are absolute paths. */
  readonly rewriteLocation: boolean
  /** `scoped`: the app receives a short-lived token that the API refuses; `full`: the owner's own, visitors' never. */
  readonly forwardToken: 'scoped' | 'full'
  /** Lower-case names of headers that pass although they are taken out of answers by default. */
  readonly allowHeaders: readonly string[]
}

/** Everything a gateway knows. */
export interface GatewayState {
  readonly users: readonly GatewayUser[]
  readonly routes: readonly RouteEntry[]
  readonly revoked: readonly Revocation[]
}

export type GatewayChange =
  | { readonly kind: 'user'; readonly user: GatewayUser }
  | { readonly kind: 'user-gone'; readonly userId: number }
  | { readonly kind: 'route'; readonly route: RouteEntry }
  | { readonly kind: 'route-gone'; readonly prefix: string }
  | { readonly kind: 'revoked'; readonly revocation: Revocation }

/** Somebody who may own containers and tokens. */
export interface GatewayUser {
  readonly userId: number
  readonly slug: string
  readonly email: string
  readonly isBlocked: boolean
  /** Tokens made before that are somebody else's: after an older store was restored, ids are given again. */
  readonly createdAt: number
}

/** A container of somebody's, and where it is. A type without a place has never been launched. */
export interface RouteEntry {
  /** First path segment, `{slug}-{type}`, without slashes. */
  readonly prefix: string
  readonly ownerId: number
  /** As in `GatewaySettings.types`. */
  readonly type: string
  readonly isBlocked: boolean
  readonly where: UpstreamAddress | Unavailable
}

/** Where a container that runs, or is paused, listens. No two places have the same address at the same time. */
export interface UpstreamAddress {
  readonly containerId: string
  readonly host: string
  readonly port: number
  /** Its memory is kept but it gets no CPU: a request wakes it first. */
  readonly isPaused: boolean
}

/** Why a container cannot be reached. */
export interface Unavailable {
  readonly reason:
    | 'asleep' // stopped, by idleness or from outside; wakes when its owner asks for it
    | 'missing' // never launched, or removed
    | 'crashed' // ended by itself with an error
    | 'out-of-memory'
    | 'no-image'
    | 'failed' // the engine could not start it
    | 'unknown' // the engine does not answer
  readonly exitCode: number | null
}

export interface Explanation {
  readonly unavailable: Unavailable | undefined
  /** What the app wrote last, oldest first; at most 20 lines. For the owner's eyes only. */
  readonly lastLines: readonly string[]
  readonly displayName: string
}

export interface Revocation {
  /** Of a token; or what the ids of many begin with, up to a dot: all of these are revoked. */
  readonly jti: string
  readonly expiresAt: number
}

export interface RouteActivity {
  readonly prefix: string
  /** When the last byte moved. */
  readonly at: number
}
