import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/**
 * The port of the gateway: it is handed every request whose first path segment is not the API's or the front end's,
 * and answers it, from the container or with a refusal of its own.
 */
export interface Gateway {
  request(request: IncomingMessage, response: ServerResponse): void
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void
  /** Ends open streams and idle connections to containers. Resolves when none is left, at most after 5 s. */
  close(): Promise<void>
}

/** What a gateway has to ask the rest of Berth. It knows no store, no engine and no key by itself. */
export interface GatewayParts {
  /** Who sends the request, by its `Authorization` header or `spawner_token` cookie; undefined without a valid, unrevoked token. */
  identify(request: IncomingMessage): Promise<Caller | undefined>
  /** Where a first path segment leads; the truth at this moment. Undefined: nowhere. */
  find(segment: string): Promise<Destination | undefined>
  /** Where the route's container listens now, asked by container id. */
  locate(route: Route): Promise<Location>
  /** A token for the app: same user and key as the caller's, short-lived, refused by the API. */
  scopedToken(caller: Caller, prefix: string): Promise<string>
  /** Address of the person asking, for `X-Forwarded-For`; honours `TRUSTED_PROXIES`. */
  clientAddress(request: IncomingMessage): string
  /** `http` or `https`, as people see it. */
  readonly scheme: string
  /** Where a browser without a token is sent; `?next=` is appended. */
  readonly loginUrl: string
  /** Where a person starts a stopped container: the dashboard. */
  readonly dashboardUrl: string
  /** A bug or a broken app, once, with its cause. Paths only, never a query or a header. */
  report(error: Error): void
}

export interface Caller {
  readonly userId: number
  readonly email: string
  readonly slug: string
  /** The token itself, for `forward_token: full`. */
  readonly token: string
  readonly isAdmin: boolean
  readonly isBlocked: boolean
}

export type Destination =
  | Route
  /** `/{slug}`: leads its owner to the container of the first type. */
  | { readonly kind: 'home'; readonly ownerId: number; readonly path: string }

/** A container's place on the shared host. */
export interface Route {
  readonly kind: 'route'
  /** First path segment, `{slug}-{type}`, without slashes. */
  readonly prefix: string
  readonly ownerId: number
  readonly containerId: string | null
  readonly isBlocked: boolean
  readonly access: 'owner' | 'authenticated' | 'public'
  readonly stripPrefix: boolean
  readonly forwardToken: 'scoped' | 'full'
}

export type Location =
  | { readonly host: string; readonly port: number }
  /** Why there is none: never launched or gone, not running, or the engine did not answer. */
  | { readonly unavailable: 'missing' | 'stopped' | 'unknown' }
