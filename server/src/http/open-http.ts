import type { Server } from 'node:http'
import type { Logger } from 'pino'
import type { Tracer } from '@berth/gateway/basics/tracer.ts'
import type { Gateway } from '@berth/gateway/port/gateway.ts'
import type { LocalizedMessage } from '@berth/texts/localized-message.ts'
import { configWarnings } from '#/config/config-warnings.ts'
import type { TlsConfig } from '#/config/config.ts'
import { SessionRenewal } from './auth/browser-session.ts'
import { Browsers } from './auth/browsers.ts'
import { FrontEnd } from './front-end/front-end-document.ts'
import { frontEndSettings } from './front-end/front-end-settings.ts'
import { OpenLinks } from './front-end/open-links.ts'
import { allHandlers } from './all-handlers.ts'
import type { Rooms } from './handlers/call.ts'
import { createListener, drain, listenOnSocket } from './listener.ts'
import { MetricsListener } from './metrics.ts'
import { OperatorRequests } from './operator-socket.ts'
import { PortTunnels } from './port-tunnels.ts'
import { RateLimiter } from './rate-limiter.ts'
import { createHttpServer, type HttpServer } from './server.ts'
import { UntrustedProxies } from './untrusted-proxies.ts'

export { hostCookieLines, renewedLines } from './auth/browser-session.ts'
export { imagePath } from './front-end/static-assets.ts'
export { frontEndSettings } from './front-end/front-end-settings.ts'
export { compileEndpoints, warmUpHttpServer } from './server.ts'

export interface HttpRoomParts extends Rooms {
  readonly gateway: Gateway
  /** Folder of the built front end. */
  readonly webDir: string
  readonly log: Logger
  /** Undefined without traces. */
  readonly tracer: Tracer | undefined
}

/** The room of HTTP: API and front end for users, and the API for the operator. Nothing is bound before `listen`. */
export class Http {
  readonly #server: HttpServer
  readonly #operatorListener: Server
  readonly #metrics: MetricsListener | undefined
  readonly #tunnels: PortTunnels
  readonly #log: Logger

  constructor(
    server: HttpServer,
    tunnels: PortTunnels,
    operators: OperatorRequests,
    metrics: MetricsListener | undefined,
    log: Logger,
  ) {
    this.#server = server
    this.#tunnels = tunnels
    tunnels.serve(server.server)
    this.#operatorListener = createListener(operators.accept(server.handle))
    this.#metrics = metrics
    this.#log = log
  }

  /** Answers on this Unix socket. @throws when it cannot listen */
  listen(socketPath: string): Promise<void> {
    return listenOnSocket(this.#server.server, socketPath, (problem) => this.#log.error(problem))
  }

  /** Answers the operator on this Unix socket. @throws when it cannot listen */
  listenToOperator(socketPath: string): Promise<void> {
    return listenOnSocket(this.#operatorListener, socketPath, (problem) => this.#log.error(problem))
  }

  /** Begins to answer `/metrics` where it has a listener of its own. */
  async startMetrics(): Promise<void> {
    await this.#metrics?.start(this.#server.metrics)
  }

  stopMetrics(): void {
    this.#metrics?.stop()
  }

  /** Accepts no new requests, and resolves when those under way are answered, at the latest after this time, in ms. */
  async drain(timeout: number): Promise<void> {
    this.#tunnels.close()
    await Promise.all([drain(this.#server.server, timeout), drain(this.#operatorListener, timeout)])
  }

  async close(): Promise<void> {
    await this.#server.close()
  }
}

/** @throws when the front end is not built */
export async function openHttp(parts: HttpRoomParts): Promise<Http> {
  const { config, addresses, database, gateway, key, sessions, containers, accounts, groups, log } = parts
  const { authenticator, newAddressLimit, sessionList, verifyLink } = accounts
  const { auditWebhook } = parts.admin
  const { renewSession, uses, revocations, clock } = sessions
  const browsers = new Browsers({
    key,
    cookie: { domain: addresses.cookieDomain, isSecure: config.scheme === 'https' },
    authenticator,
    sessionCookies: sessions.cookies,
    linkLifetime: config.magicLinkExpiry,
  })
  const { cookie, devices, loginCsrf, addressSecrets, sameBrowserProof } = browsers
  const renewal = new SessionRenewal(renewSession, uses, cookie, log)
  const rateLimiter = new RateLimiter(config.requestsPerMinute)
  const operators = new OperatorRequests()
  const untrusted = new UntrustedProxies(log)
  const { metricsListen, metricsToken } = config
  const metricsListener = metricsListen === null ? undefined : new MetricsListener(metricsListen, metricsToken, log)
  const atStart = configWarnings(config, addresses)
  const findings = (): readonly LocalizedMessage[] => [
    ...atStart,
    ...untrusted.warnings(),
    ...newAddressLimit.warnings(),
    ...(metricsListener?.warnings() ?? []),
    ...(auditWebhook?.warnings() ?? []),
    ...groups.warnings(),
    ...parts.ssh.warnings(),
  ]
  const server = await createHttpServer({
    handlers: allHandlers({ ...parts, browsers, rateLimiter, findings }),
    authenticator,
    apiTokens: accounts.apiTokenAuthenticator,
    revocations,
    cookie,
    renewal,
    blocked: { database, templates: containers.templates },
    frontEnd: await FrontEnd.load({
      webDir: parts.webDir,
      authenticator,
      sessionList,
      verifyLink,
      cookie,
      renewal,
      loginCsrf,
      addressSecrets,
      sameBrowserProof,
      ...frontEndSettings(config, addresses),
      hasGroups: () => !groups.directory.isEmpty,
      typeImage: (fileName) => containers.templates.imageNamed(fileName),
    }),
    openLinks: new OpenLinks({ authenticator, renewal, cookie, containers, spawnerUrl: addresses.spawnerUrl }),
    log,
    tracer: parts.tracer,
    rateLimiter,
    devices,
    strictTransport: strictTransportOf(config.tls),
    onRequest: (request) => untrusted.note(request),
    metricsToken: metricsListen === null ? metricsToken : undefined,
    operator: (request) => operators.nameOf(request),
    counts: async () => ({ ...(await countsOf(parts, gateway)), ...parts.tracer?.counts() }),
    now: () => clock.now(),
  })
  return new Http(server, new PortTunnels(containers.ports, log), operators, metricsListener, log)
}

/** Numbers for `/metrics`, by name. */
async function countsOf(
  { accounts, admin, containers, homes, nodes, runtime, ssh }: Rooms,
  gateway: Gateway,
): Promise<Record<string, number>> {
  return {
    ...homes.diskUse.counts(),
    ...containers.counts(),
    ...runtime.counts(),
    ...accounts.mailStatistics.counts(),
    ...admin.auditWebhook?.counts(),
    ...(await gateway.counts().catch(() => ({}))),
    ...(await nodes?.counts()),
    ...(await ssh.counts()),
  }
}

/** Value of `Strict-Transport-Security`; null: the header is not sent. */
export const strictTransportOf = (tls: TlsConfig | null): string | null =>
  tls && tls.hstsMaxAge > 0 ? `max-age=${tls.hstsMaxAge}` : null
