import type { CookieSettings } from '#/tokens/token-selection.ts'
import type { ControlPlane, GatewaySettings } from '#/port/gateway.ts'
import type { AccessLogSwitch } from '#/clients/access-log.ts'
import type { GatewayMetrics } from './gateway-metrics.ts'
import type { ClientConnections } from '#/clients/client-connections.ts'
import type { ShareTable } from '#/access/share-table.ts'
import type { SessionTracker } from '#/access/session-tracker.ts'
import type { Caller, TokenVerifier, UserCache } from '#/access/token-verifier.ts'
import { clock } from '#/basics/clock.ts'
import type { Freshness } from './freshness.ts'
import type { ContainerHosts } from '#/access/container-hosts.ts'
import type { PlatformUpstream } from '#/upstream/upstream.ts'
import type { RoutingTable } from '#/upstream/routing-table.ts'
import type { TrustedProxies } from '#/clients/trusted-proxies.ts'
import type { ConnectionLimiter } from '#/clients/connection-limiter.ts'

/** Gateway context: what every connection of one gateway shares. */
export interface GatewayContext {
  readonly routingTable: RoutingTable
  readonly users: UserCache
  readonly tokens: TokenVerifier
  readonly sessions: SessionTracker
  readonly shares: ShareTable
  readonly limiter: ConnectionLimiter
  readonly connections: ClientConnections
  readonly metrics: GatewayMetrics
  readonly accessLog: Pick<AccessLogSwitch, 'current'>
  /** Undefined until the first control plane has come. */
  readonly config: GatewayConfig | undefined
  /** Whether a control plane has sent its state; until then no token can be rejected. */
  readonly hasState: boolean
  /** With several nodes: whether what is known here is too old to decide by. */
  readonly freshness: Pick<Freshness, 'isStale'>
  /** Requests are served, and the last one of each connection ends it. */
  readonly isDraining: boolean
  readonly isClosing: boolean
}

/** Settings and upstream of the control plane that serves now. */
export interface GatewayConfig {
  readonly control: ControlPlane
  readonly settings: GatewaySettings
  readonly platform: PlatformUpstream
  /** Of a follower that answers some requests itself. */
  readonly reader: ReaderUpstream | undefined
  readonly reservedSlugs: ReadonlySet<string>
  readonly trustedProxies: TrustedProxies
  /** Of subdomain routing; undefined with path routing. */
  readonly containerHosts: ContainerHosts | undefined
}

/** What answers `GET` requests to some paths of the platform. */
export interface ReaderUpstream {
  readonly upstream: PlatformUpstream
  readonly paths: ReadonlySet<string>
}

/** Whether something that a caller has open may stay so: as long as their token, or the session that it belongs to. */
export function mayContinue({ users, tokens, sessions, config }: GatewayContext, caller: Caller | undefined): boolean {
  if (caller === undefined) return true
  if (users.get(caller.userId)?.isBlocked !== false) return false
  if (caller.expiresAt > clock.wall) return tokens.isValid(caller)
  return tokens.isAllowed(caller) && sessions.isOpen(config?.control, caller)
}

/** How cookies of this installation are set; before the first control plane for no domain. */
export function cookieSettingsOf(config: GatewayConfig | undefined): CookieSettings {
  return { domain: config?.settings.cookieDomain ?? '', isSecure: config?.settings.scheme === 'https' }
}
