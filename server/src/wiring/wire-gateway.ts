import { pages as pagePaths } from '@berth/web/paths.ts'
import type { AppParts } from '#/wiring/app-parts.ts'
import type { Addresses } from '#/config/config.ts'
import { typeRules } from '#/containers/templates/type-rules.ts'
import type { ControlPlane } from '#/gateway/gateway.ts'
import type { GatewaySettings } from '#/gateway/gateway-settings.ts'
import { reservedSlugs } from '#/reserved-slugs.ts'
import type { Containers } from '#/wiring/wire-containers.ts'
import type { Tokens } from '#/wiring/wire-tokens.ts'

/** Settings that the gateway receives at each start. */
export function gatewaySettings(
  { config, key, socketPath }: AppParts,
  { frontendUrl, cookieDomain }: Addresses,
): GatewaySettings {
  return {
    scheme: config.scheme,
    cookieDomain,
    loginUrl: frontendUrl + pagePaths.login,
    launchUrl: frontendUrl + pagePaths.launch,
    dashboardUrl: frontendUrl + pagePaths.home,
    platformSocket: socketPath,
    reservedSlugs: [...reservedSlugs],
    trustedProxies: config.trustedProxies,
    keys: key.jwks.keys.map((each) => ({ ...each })),
    types: typeRules(config.templates),
    firstType: encodeURIComponent(config.templates.first.type),
  }
}

/** Calls that the gateway makes while it runs. */
export function controlPlane(
  { log }: AppParts,
  { scopedTokens }: Tokens,
  { routeSync, wake, activity }: Containers,
): ControlPlane {
  return {
    scopedToken: (userId, prefix, acting) => scopedTokens.issue(userId, prefix, acting, new Date()),
    wake: (prefix) => wake.wake(prefix),
    explain: (prefix) => wake.explain(prefix),
    reportUnreachable: (prefix) => wake.reportUnreachable(prefix),
    reportActivity: (uses) => {
      for (const { prefix, at } of uses) {
        const container = routeSync.findByPrefix(prefix)
        if (container) activity.used(container, at)
      }
    },
    report: (problem) => log.error(`the gateway: ${problem}`),
  }
}
