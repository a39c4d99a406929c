import { endpoints } from '@berth/api/endpoints.ts'
import { pages as pagePaths } from '@berth/web/paths.ts'
import type { AppParts } from './app-parts.ts'
import { requiresCompanion, type Addresses } from '#/config/config.ts'
import { typeRules } from '#/templates/template.ts'
import { hostCookieLines, renewedLines } from '#/http/auth/browser-session.ts'
import { findUser } from '#/store/users.ts'
import type { ControlPlane, GatewaySettings } from '@berth/gateway/port/gateway.ts'
import { runForRequest } from '#/machine/request-context.ts'
import { reservedSlugs } from '#/accounts/sign-up/slug.ts'
import type { RestartRequests } from '#/containers/routes/own-containers.ts'
import { readingProgram, readingTerms } from './reading-terms.ts'
import type { Containers } from './wire-containers.ts'
import { pageLookOf } from './wire-branding.ts'
import type { Tokens } from './wire-tokens.ts'

/** Settings that the gateway receives at each start. @param restartRequests for followers that answer requests */
export function gatewaySettings(
  { config, key, socketPath, nodes }: AppParts,
  addresses: Addresses,
  restartRequests: RestartRequests,
): GatewaySettings {
  const { frontendUrl, spawnerUrl, containerOrigin, cookieDomain } = addresses
  return {
    ...(nodes && { reading: readingTerms(readingProgram(config, addresses, nodes.version), restartRequests) }),
    scheme: config.scheme,
    cookieDomain,
    ...(requiresCompanion(config, addresses) && { requiresCompanion: true }),
    continueUrl: (frontendUrl === spawnerUrl ? '' : frontendUrl) + endpoints.continueSession.path,
    ...(containerOrigin && { containerHosts: containerHosts(frontendUrl, spawnerUrl) }),
    launchUrl: frontendUrl + pagePaths.launch,
    dashboardUrl: frontendUrl + pagePaths.home,
    platformSocket: socketPath,
    reservedSlugs: [...reservedSlugs],
    trustedProxies: config.trustedProxies,
    ...(config.branding && { look: pageLookOf(config.branding, frontendUrl) }),
    ...(config.accessLog && { accessLog: config.accessLog }),
    ...(config.drainTime > 0 && { drainTime: config.drainTime }),
    keys: key.jwks.keys.map((each) => ({ ...each })),
    sessionEpoch: config.sessionIdle === 0 ? null : key.secretFor('session epoch').toString('base64url'),
    ...sessionUses(config),
    types: typeRules(config.templates, containerOrigin !== null),
    firstType: encodeURIComponent(config.templates.first.type),
  }
}

/** A use that is reported late ends a session early: by a twentieth of `SESSION_IDLE` at most, which is less than a minute for short ones. */
function sessionUses({ sessionIdle }: AppParts['config']): Pick<GatewaySettings, 'sessionUseInterval'> {
  const interval = sessionIdle * 50
  return interval > 0 && interval < 60_000 ? { sessionUseInterval: interval } : {}
}

const containerHosts = (frontendUrl: string, spawnerUrl: string) => ({
  spawnerHost: new URL(spawnerUrl).host,
  platformNames: [new URL(frontendUrl).hostname],
  entryUrl: frontendUrl + endpoints.enterContainer.path,
})

/** Calls that the gateway makes while it runs. */
export function controlPlane(
  { database, log, config }: AppParts,
  { cookieDomain }: Addresses,
  { scopedTokens, renewSession, hostSignIn, uses }: Tokens,
  { routeSync, wake, activity, visitors }: Containers,
): ControlPlane {
  const cookie = { domain: cookieDomain, isSecure: config.scheme === 'https' }
  return {
    enterHost: async (code, prefix, browsers) => {
      const signedIn = await hostSignIn?.redeem(code, prefix, browsers, new Date())
      if (!signedIn) return undefined
      const { grant, host } = signedIn
      return { browser: grant.browser, next: grant.next, setCookie: hostCookieLines(host, cookie) }
    },
    renewSession: async (sid, userId, host, prefix) => {
      const now = new Date()
      if (prefix !== null) {
        const token = await hostSignIn?.renew(sid, userId, prefix, now)
        return token ? hostCookieLines(token, cookie) : []
      }
      const user = await findUser(database.db, userId)
      const renewed = user && (await renewSession.byToken(sid, user, now))
      return renewed ? renewedLines(renewed, now, host, cookie) : []
    },
    // One node alone leads, and has one gateway.
    confirmState: async () => undefined,
    sessionEnd: async (sid) => (await renewSession.endOf(sid, new Date())).getTime(),
    reportSessionUses: (all) => {
      for (const { sid, at } of all) uses.note(sid, new Date(Math.min(at, Date.now())))
    },
    scopedToken: (userId, prefix, acting) => scopedTokens.issue(userId, prefix, acting, new Date()),
    wake: (prefix, requestId, right) => runForRequest(requestId, () => wake.wake(prefix, right)),
    explain: (prefix) => wake.explain(prefix),
    reportUnreachable: (prefix) => wake.reportUnreachable(prefix),
    reportActivity: (uses) => {
      for (const { prefix, at } of uses) {
        const container = routeSync.findByPrefix(prefix)
        if (container) activity.used(container, at)
      }
    },
    reportVisits: (visits) => visitors.note(visits),
    report: (problem, requestId) => runForRequest(requestId, () => log.error(`the gateway: ${problem}`)),
  }
}
