import type { Notice } from '@berth/api/boot.ts'
import type { AccessLogSettings } from '#/clients/access-log.ts'
import type { ContainerHostSettings } from '#/access/container-hosts.ts'

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
  /** Left out: the gateway's pages have Berth's own look. */
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
  /** Past and future ones included. */
  readonly notices: readonly Notice[]
}

/** Routing rules of a container type, from its template, and its display name. */
export interface TypeRules {
  readonly displayName: string
  readonly access: 'owner' | 'authenticated' | 'public'
  /** Whether pages get an origin of their own in the browsers of visitors who are not the owner; they do when it is not said. */
  readonly sandboxVisitors?: boolean
  /** Its containers have hosts of their own, with all paths. */
  readonly hasOwnHost?: true
  /** Whether the app sees paths without `/{prefix}`. */
  readonly stripPrefix: boolean
  /** Path and query of a GET that the app has to answer below 500 after a start before requests are forwarded; without it its port is enough. */
  readonly readyPath?: string
  /** Whether `Location` and `Refresh` of its answers get the prefix when they are absolute paths. */
  readonly rewriteLocation: boolean
  /** `scoped`: the app receives a short-lived token that the API refuses; `full`: the owner's own, visitors' never. */
  readonly forwardToken: 'scoped' | 'full'
  /** Lower-case names of headers that pass although they are taken out of answers by default. */
  readonly allowHeaders: readonly string[]
}
