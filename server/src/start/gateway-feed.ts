import { createHash } from 'node:crypto'
import { endpoints } from '@berth/api/endpoints.ts'
import { parseSupportContact } from '@berth/api/support-contact.ts'
import type { Tracer } from '@berth/gateway/basics/tracer.ts'
import type { ControlPlane, GatewaySettings, PageLook, ReadingTerms } from '@berth/gateway/port/gateway.ts'
import { pages as pagePaths } from '@berth/web/paths.ts'
import type { Sessions } from '#/accounts/sessions/open-sessions.ts'
import { reservedSlugs } from '#/accounts/open-accounts.ts'
import type { LegalText } from '#/config/branding.ts'
import { requiresCompanion, type Addresses, type Config } from '#/config/config.ts'
import type { Containers } from '#/containers/open-containers.ts'
import type { RestartRequests } from '#/containers/routes/own-containers.ts'
import { frontEndSettings, hostCookieLines, imagePath, renewedLines } from '#/http/open-http.ts'
import { endWith, runForRequest } from '#/machine/log-context.ts'
import type { Sharing } from '#/sharing/open-sharing.ts'
import { findUser } from '#/store/users.ts'
import { typeRules } from '#/templates/template.ts'
import type { AppParts } from './app-parts.ts'

export interface FeedParts extends Pick<
  AppParts,
  'config' | 'database' | 'gateway' | 'key' | 'socketPath' | 'nodes' | 'log'
> {
  /** Undefined without traces. */
  readonly tracer: Tracer | undefined
  readonly addresses: Addresses
  readonly sessions: Sessions
  readonly containers: Containers
  readonly sharing: Sharing
}

/** What the gateway gets beside routes: its settings, and who answers its calls. */
export class GatewayFeed {
  readonly #parts: FeedParts
  readonly #controlPlane: ControlPlane

  constructor(parts: FeedParts) {
    this.#parts = parts
    this.#controlPlane = controlPlane(parts)
  }

  /** Sends the gateway its settings, with the accepted keys and the rules of all types. */
  async serve(): Promise<void> {
    await this.#parts.gateway.serve(gatewaySettings(this.#parts), this.#controlPlane)
  }

  /** With several nodes: resolves when followers answer by the present state; otherwise at once. */
  async publishToReaders(): Promise<void> {
    if (!this.#parts.nodes) return
    await this.serve()
    await this.#parts.gateway.settled?.()
  }
}

/** Settings that the gateway receives at each start. */
function gatewaySettings({ config, key, socketPath, nodes, addresses, containers }: FeedParts): GatewaySettings {
  const { frontendUrl, spawnerUrl, containerOrigin, cookieDomain } = addresses
  return {
    ...(nodes && {
      reading: readingTerms(readingProgram(config, addresses, nodes.version), containers.restartRequests),
    }),
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
    ...((config.branding || config.supportContact !== null) && { look: pageLookOf(config, frontendUrl) }),
    ...(config.accessLog && { accessLog: config.accessLog }),
    ...(config.tracing && { tracing: config.tracing }),
    ...(config.drainTime > 0 && { drainTime: config.drainTime }),
    keys: key.jwks.keys.map((each) => ({ ...each })),
    sessionEpoch: config.sessionIdle === 0 ? null : key.secretFor('session epoch').toString('base64url'),
    ...sessionUses(config),
    types: typeRules(config.templates, containerOrigin !== null),
    firstType: encodeURIComponent(config.templates.first.type),
  }
}

/** A use that is reported late ends a session early: by a twentieth of `SESSION_IDLE` at most, which is less than a minute for short ones. */
function sessionUses({ sessionIdle }: Config): Pick<GatewaySettings, 'sessionUseInterval'> {
  const interval = sessionIdle * 50
  return interval > 0 && interval < 60_000 ? { sessionUseInterval: interval } : {}
}

const containerHosts = (frontendUrl: string, spawnerUrl: string) => ({
  spawnerHost: new URL(spawnerUrl).host,
  platformNames: [new URL(frontendUrl).hostname],
  entryUrl: frontendUrl + endpoints.enterContainer.path,
})

/** Branding and contact as the gateway's own pages have them. @param frontendUrl host of logo and legal texts */
function pageLookOf({ branding, supportContact }: Config, frontendUrl: string): PageLook {
  const { name = null, logo = null, theme = null, imprint = null, privacy = null, notices = [] } = branding ?? {}
  const linkOf = (text: LegalText | null, page: string) => text && ('url' in text ? text.url : frontendUrl + page)
  return {
    name,
    logoUrl: logo && frontendUrl + imagePath(logo),
    css: theme?.css ?? '',
    imprintUrl: linkOf(imprint, pagePaths.imprint),
    privacyUrl: linkOf(privacy, pagePaths.privacy),
    ...(supportContact !== null && { contact: parseSupportContact(supportContact) }),
    notices,
  }
}

/** Calls that the gateway makes while it runs. */
function controlPlane({
  database,
  log,
  config,
  tracer,
  addresses,
  sessions,
  containers,
  sharing,
}: FeedParts): ControlPlane {
  const { scopedTokens, renewSession, hostSignIn, uses } = sessions
  const { routeSync, wake, activity } = containers
  const { visitors } = sharing
  const cookie = { domain: addresses.cookieDomain, isSecure: config.scheme === 'https' }
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
    wake: (prefix, requestId, right, traceparent) => {
      const work = () => wake.wake(prefix, right)
      const span = tracer?.begin('wake', 'server', { 'berth.container': prefix }, traceparent)
      return span ? endWith(span, () => runForRequest(requestId, work, span)) : runForRequest(requestId, work)
    },
    explain: (prefix) => wake.explain(prefix),
    listeningPorts: (prefix) => containers.ports.listening(prefix),
    reportUnreachable: (prefix) => wake.reportUnreachable(prefix),
    reportActivity: (uses) => {
      for (const { prefix, at, navigatedAt } of uses) {
        const container = routeSync.findByPrefix(prefix)
        if (container) activity.used(container, at, navigatedAt)
      }
    },
    reportVisits: (visits) => visitors.note(visits),
    report: (problem, requestId) => runForRequest(requestId, () => log.error(`the gateway: ${problem}`)),
  }
}

/** Containers that are named to followers at most, whose owners are asked to restart them. */
const maxNamed = 2_000

/**
 * Names what answers to reading requests follow from beside the store and the engine: two nodes with the same name give the same
 * answers. Other settings of a node may differ.
 */
export function readingProgram(config: Config, addresses: Addresses, version: string): string {
  const { spawnerUrl, frontendUrl, cookieDomain } = addresses
  const { templates, scheme, tls, kubernetes, signIn, accessTokenExpires, sessionIdle, sessionMax } = config
  const facts = [
    version,
    [spawnerUrl, frontendUrl, cookieDomain, scheme, tls?.hstsMaxAge ?? null],
    [kubernetes !== null, signIn.isByLink, accessTokenExpires, sessionIdle, sessionMax],
    templates.all(),
    frontEndSettings(config, addresses),
  ]
  return createHash('sha256').update(JSON.stringify(facts)).digest('base64url')
}

/** What the leader tells followers that answer requests. */
export const readingTerms = (program: string, restartRequests: Pick<RestartRequests, 'first'>): ReadingTerms => {
  const asked = restartRequests.first(maxNamed + 1)
  return { program, restartsAsked: asked.length > maxNamed ? null : asked }
}
