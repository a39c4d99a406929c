import type { Language, Notice } from '@berth/api/boot.ts'
import type { SupportContact } from '@berth/api/support-contact.ts'
import type { FurtherPorts } from '#/basics/container-port.ts'
import type { TlsFiles } from '#/basics/tls-pair.ts'
import type { TracingSettings } from '#/basics/tracer.ts'

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
   * @param by `navigation`: the application says itself whether it is used, so that navigations alone prevent the hold
   */
  hold(prefix: string, minIdle: number, by?: UseKind): Promise<boolean>

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
 * What a request may cause that asks for a container that does not run.
 * - `start`, its owner opens a page: it is started.
 * - `use`, any other request of its owner, such as of an open tab: likewise, unless it was stopped by request.
 * - `resume`, of another user: it goes on if it is paused, and stays as it is if it is stopped by the time of the wake.
 * - `poll`, of its owner's page that is open at an application that says itself whether it is used: nothing, and where it has
 *   said nothing what `use` may.
 * - `visitor-poll`, of another user's page: likewise, and what `resume` may.
 * - `none`, to a path whose requests are no use: nothing; the control plane is not asked.
 */
export type WakeRight = 'start' | 'use' | 'resume' | 'poll' | 'visitor-poll' | 'none'

/** Whether it is of another user than the owner: what does not run is not started for it. */
export const isVisitors = (right: WakeRight): boolean => right === 'resume' || right === 'visitor-poll'

/** Use of a container by requests: bytes that moved, or a page that was opened. */
export type UseKind = 'traffic' | 'navigation'

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
   * a stop. Its route is sent (`apply`) before this resolves. At most 60 s. @param requestId of that request, for the log @param traceparent of the span that waits for it
   * @param right of who asks; `start` when it is left out @returns why it does not run, or undefined when it does
   */
  wake(prefix: string, requestId?: string, right?: WakeRight, traceparent?: string): Promise<Unavailable | undefined>

  /** What is known about a container that cannot be reached, for its owner. At most 3 s; never rejects for the engine's sake. */
  explain(prefix: string): Promise<Explanation>

  /**
   * With several nodes: resolves when this control plane leads, and has sent this gateway every change that it has confirmed to
   * others. Rejects otherwise. At most 3 s.
   */
  confirmState(): Promise<void>
  /**
   * What listens in a container that runs, sorted, with the addresses that lead there; undefined when that cannot be told. For the
   * owner's eyes only. At most 5 s.
   */
  listeningPorts(prefix: string): Promise<readonly ListeningPort[] | undefined>

  /** An app was unreachable at its address although it should run: check it again. */
  reportUnreachable(prefix: string): void

  /** Containers that bytes moved to or from since the last call, about every second. */
  reportActivity(activity: readonly RouteActivity[]): void

  /** Visitors of shared containers, each reported again every 5 s at most while the visit lasts. */
  reportVisits(visits: readonly Visit[]): void

  /** A bug or a broken app, once, with its cause. Never with a query, header, token or link. @param requestId of the request that failed */
  report(problem: string, requestId?: string): void
}

/** Everything a gateway knows. */
export interface GatewayState {
  readonly users: readonly GatewayUser[]
  readonly routes: readonly RouteEntry[]
  readonly revoked: readonly Revocation[]
  /** Left out: no container is shared. */
  readonly shares?: readonly ContainerShares[]
  readonly shareGroups?: readonly ShareGroup[]
}

export type GatewayChange =
  | { readonly kind: 'user'; readonly user: GatewayUser }
  | { readonly kind: 'user-gone'; readonly userId: number }
  | { readonly kind: 'route'; readonly route: RouteEntry }
  | { readonly kind: 'route-gone'; readonly prefix: string }
  | { readonly kind: 'revoked'; readonly revocation: Revocation }
  | { readonly kind: 'shares'; readonly shares: ContainerShares }
  | { readonly kind: 'share-group'; readonly group: ShareGroup }

/** A user who may own containers and tokens. */
export interface GatewayUser {
  readonly userId: number
  readonly slug: string
  readonly email: string
  readonly isBlocked: boolean
  /** As their scoped tokens say: a change ends the use of those that were issued before. */
  readonly isAdmin: boolean
  /** Tokens issued before then belong to another user: after an older store is restored, ids are assigned again. */
  readonly createdAt: number
}

/** Routing table entry: a container, its owner, and its upstream address. A type without an entry was never launched. */
export interface RouteEntry {
  /** First path segment, `{slug}-{type}`, without slashes. */
  readonly prefix: string
  readonly ownerId: number
  /** As in `GatewaySettings.types`. */
  readonly type: string
  readonly isBlocked: boolean
  readonly where: UpstreamAddress | Unavailable
}

/** All that is granted to visitors of one container; it replaces what was granted before. */
export interface ContainerShares {
  readonly prefix: string
  readonly grants: readonly ShareGrant[]
  /** Each opens one further port and nothing else. Apart from the others: a gateway that does not know them lets no visitor in. */
  readonly portGrants?: readonly PortGrant[]
}

export interface PortGrant extends ShareGrant {
  readonly port: number
}

/** What one visitor, or the members of a group, may do in a container that its owner shares with them. */
export interface ShareGrant {
  /** Address of a visitor's account, or id of a `ShareGroup`. */
  readonly to: string | number
  /** `look`: read requests alone; `use`: every request, WebSockets included. */
  readonly may: 'look' | 'use'
  /** ms since 1970 */
  readonly until: number
}

/** Members of a group with which containers are shared, by the addresses of their accounts. */
export interface ShareGroup {
  readonly groupId: number
  readonly emails: readonly string[]
}

/** A visitor to whom a container is shared had something open there, or sent a request. */
export interface Visit {
  readonly prefix: string
  readonly userId: number
  /** ms since 1970 */
  readonly at: number
}

/** Where a container that runs, or is paused, listens. No two entries have the same address at the same time. */
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
    | 'evicted' // ended by its cluster; wakes as one that is asleep
    | 'node-lost' // the node that it ran on does not answer; wakes once that is settled
    | 'missing' // never launched, or removed
    | 'crashed' // ended by itself with an error
    | 'out-of-memory'
    | 'no-image'
    | 'failed' // the engine could not start it
    | 'unknown' // the engine does not answer
  readonly exitCode: number | null
  /** Why a wake was refused, such as a limit: the sentence of the refusal, for its owner. Never part of a route. */
  readonly refusal?: Readonly<Record<Language, string>>
}

const sharedUnavailable = new Map<string, Unavailable>()

/** The same object each time, for exit codes of one byte: most of 100,000 routes have one of a few reasons. */
export function unavailable(reason: Unavailable['reason'], exitCode: number | null = null): Unavailable {
  if (exitCode !== null && (exitCode < 0 || exitCode > 255)) return { reason, exitCode }
  const key = `${reason} ${exitCode}`
  const known = sharedUnavailable.get(key) ?? Object.freeze({ reason, exitCode })
  sharedUnavailable.set(key, known)
  return known
}

/** Whether a request of its owner starts it. */
export const isWakeable = ({ reason }: Unavailable): boolean =>
  reason === 'asleep' || reason === 'evicted' || reason === 'node-lost'

export interface Explanation {
  readonly unavailable: Unavailable | undefined
  /** What the app wrote last, oldest first; at most 20 lines. For the owner's eyes only. */
  readonly lastLines: readonly string[]
  readonly displayName: string
}

/** A program that listens in a container. */
export interface ListeningPort {
  readonly port: number
  readonly url: string
}

export interface Revocation {
  /** Of a token, of a session, or of one that a block ended (`endedSession`); or what the ids of many tokens begin with, up to a dot: all of these are revoked. */
  readonly jti: string
  readonly expiresAt: number
}

/** A session that a request, or data on a WebSocket, used. */
export interface SessionUse {
  /** As in the claim of its tokens. */
  readonly sid: string
  /** ms since 1970 */
  readonly at: number
}

export interface RouteActivity {
  readonly prefix: string
  /** When the last byte moved. */
  readonly at: number
  /** When a page was opened last; left out where the type does not say itself whether it is used, and while there was none. */
  readonly navigatedAt?: number
}

export interface GatewaySettings {
  /** `http` or `https`, as people see it. */
  readonly scheme: string
  /** Host part of the base domain, for which the cookie of the token is set. */
  readonly cookieDomain: string
  /** Whether tokens in cookies of browsers count with their companion alone; left out: they do not. */
  readonly requiresCompanion?: boolean
  /** Where a browser without a token is sent, to go on or to sign in; `next` is added to its query. */
  readonly continueUrl: string
  /** Of subdomain routing; left out: containers are below paths of the platform's host. */
  readonly containerHosts?: ContainerHostSettings
  /** Where a person starts a container that does not wake by itself; `type` and `next` are added to its query. */
  readonly launchUrl: string
  readonly dashboardUrl: string
  /** Unix socket on which the API and the front end answer. */
  readonly platformSocket: string
  /** Of a follower: what answers some requests in the place of the leader; left out: nothing does. */
  readonly reader?: ReaderSettings
  /** With several nodes: by what a follower answers requests; left out: it answers none. */
  readonly reading?: ReadingTerms
  /** Slugs that no user gets: first parts, up to a hyphen, of the API's and the front end's paths. */
  readonly reservedSlugs: readonly string[]
  /** Addresses and networks (`10.0.0.0/8`) whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: readonly string[]
  /** Left out: no access log. */
  readonly accessLog?: AccessLogSettings
  /** Left out: no traces. */
  readonly tracing?: TracingSettings
  /** Left out: the gateway's pages have Berth's own look, and no contact. */
  readonly look?: PageLook
  /** RFC 7517 public keys that access tokens are signed with. */
  readonly keys: readonly Readonly<Record<string, unknown>>[]
  /**
   * Null: a session ends with its token. Otherwise sessions are renewed, and another value than before means that none of
   * before counts: the secret that they were made with is gone.
   */
  readonly sessionEpoch: string | null
  /** Between two reports of one session's use, in ms; left out: a minute. */
  readonly sessionUseInterval?: number
  /** By container type, percent-encoded as in its path. */
  readonly types: Readonly<Record<string, TypeRules>>
  /** Where `/{slug}` leads, encoded likewise. Separate from `types`, because JSON orders a type called `10` before all others. */
  readonly firstType: string
  /**
   * With several nodes: how long what the gateway knows counts without a confirmation of the leader, in ms. Left out: until
   * something else is sent.
   */
  readonly maxStateAge?: number
  /** How long it goes on before it closes, in ms; left out: not at all. */
  readonly drainTime?: number
}

/** The reader of a follower; what it does not answer itself, it passes on to the leader. */
export interface ReaderSettings {
  /** Unix socket on which it answers. */
  readonly socket: string
  /** Paths of `GET` requests that are sent to it. */
  readonly paths: readonly string[]
}

/** What the leader answers by, and has in memory alone. */
export interface ReadingTerms {
  /** Names the program, its settings and templates: a follower that runs with others answers nothing. */
  readonly program: string
  /** Containers whose owners are asked to restart them; null: too many to name. */
  readonly restartsAsked: readonly string[] | null
}

/** How the installation presents itself on the gateway's pages; null keeps Berth's own. */
export interface PageLook {
  readonly name: string | null
  readonly logoUrl: string | null
  /** Rules that replace colours; empty for none. Nothing in it needs escaping. */
  readonly css: string
  readonly imprintUrl: string | null
  readonly privacyUrl: string | null
  /** Whom to ask for help; left out where the operator names no one. */
  readonly contact?: SupportContact
  /** Past and future ones included. */
  readonly notices: readonly Notice[]
}

/** Routing rules of a container type, from its template, and its display name. */
export interface TypeRules extends FurtherPorts {
  readonly displayName: string
  /** Path of an SVG of 24 by 24 that pages draw beside their title; left out: none. */
  readonly sign?: string
  readonly access: 'owner' | 'authenticated' | 'public'
  /** Whether pages get an origin of their own in the browsers of visitors who are not the owner; they do when it is not said. */
  readonly sandboxVisitors?: boolean
  /** How its main port speaks; left out: without TLS. */
  readonly scheme?: 'http' | 'https'
  /** Its containers have hosts of their own, with all paths. */
  readonly hasOwnHost?: true
  /** Whether the app sees paths without `/{prefix}`. */
  readonly stripPrefix: boolean
  /** Path and query of a GET that the app has to answer below 500 after a start before requests are forwarded; without it its port is enough. */
  readonly readyPath?: string
  /** Paths below the container's address whose requests are no use of it; `*` at the end stands for any rest. Left out: none. */
  readonly ignoredPaths?: readonly string[]
  /** The application is asked whether it is used, so that navigations are noted and an open page wakes nothing. */
  readonly isAskedForUse?: true
  /** Whether addresses in headers of its answers get the prefix when they are absolute paths, and people's origin in place of the app's. */
  readonly rewriteLocation: boolean
  /** `scoped`: the app receives a short-lived token that the API refuses; `full`: the owner's own, visitors' never. */
  readonly forwardToken: 'scoped' | 'full'
  /** Lower-case names of headers that pass although they are taken out of answers by default. */
  readonly allowHeaders: readonly string[]
}

/** Settings of subdomain routing. */
export interface ContainerHostSettings {
  /** Host of the front end and the API, below which containers have theirs; with its port. */
  readonly spawnerHost: string
  /** Further names of the platform that may lie below `spawnerHost`, e.g. of `FRONTEND_URL`; without ports. */
  readonly platformNames: readonly string[]
  /** Address at which a signed-in browser gets a code for a container's host; a query is added. */
  readonly entryUrl: string
}

/** Settings of the access log. */
export interface AccessLogSettings {
  readonly format: 'common' | 'json'
  /** Path; null for standard output. */
  readonly file: string | null
}
