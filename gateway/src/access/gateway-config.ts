import type { UsualDurations } from '#/basics/usual-durations.ts'
import type { ControlPlane, GatewaySettings } from '#/port/gateway.ts'
import type { CookieSettings } from '#/tokens/token-selection.ts'
import type { PlatformUpstream } from '#/upstream/upstream.ts'
import type { ContainerHosts } from './container-hosts.ts'
import type { TrustedProxies } from './trusted-proxies.ts'

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
  /** By type: from a request that wakes a container that is stopped until its app answers. */
  readonly wakeTimes: UsualDurations
}

/** What answers `GET` requests to some paths of the platform. */
export interface ReaderUpstream {
  readonly upstream: PlatformUpstream
  readonly paths: ReadonlySet<string>
}

/** How cookies of this installation are set; before the first control plane for no domain. */
export function cookieSettingsOf(config: GatewayConfig | undefined): CookieSettings {
  return { domain: config?.settings.cookieDomain ?? '', isSecure: config?.settings.scheme === 'https' }
}
