import type { AuditWebhook } from '#/admin/audit-webhook.ts'
import type { ClockJumpDetector } from '#/machine/clock-jump-detector.ts'
import type { Config } from '#/config/config.ts'
import { configWarnings } from '#/config/config-warnings.ts'
import { SessionRenewal } from '#/http/auth/browser-session.ts'
import { loadMetrics } from '#/containers/launch/load-metrics.ts'
import { FrontEnd } from '#/http/front-end/front-end-document.ts'
import { RateLimiter } from '#/http/rate-limiter.ts'
import { MetricsListener } from '#/http/metrics.ts'
import type { OperatorRequests } from '#/http/operator-socket.ts'
import { UntrustedProxies } from '#/http/untrusted-proxies.ts'
import { createHttpServer } from '#/http/server.ts'
import { reconcilerMetrics } from '#/containers/reconcile/container-reconciler.ts'
import type { AppParts } from './app-parts.ts'
import { frontEndSettings } from './front-end-settings.ts'
import { strictTransportOf } from './strict-transport.ts'
import { wireBrowsers } from './wire-browsers.ts'
import { wireHandlers, type UseCases } from './wire-handlers.ts'

export interface HttpContext extends UseCases {
  readonly clock: ClockJumpDetector
  readonly operators: OperatorRequests
  readonly auditWebhook: AuditWebhook | undefined
}

/** API and front end. @throws when the front end is not built */
export async function wireHttp(parts: AppParts, context: HttpContext) {
  const { config, database, gateway, log } = parts
  const { addresses, containers, accounts, reconciling, clock, operators, auditWebhook } = context
  const { authenticator, newAddressLimit, mailStatistics } = accounts
  const { renewSession, uses, cookies, revocations } = context.tokens
  const browsers = wireBrowsers(parts, addresses, authenticator, cookies)
  const renewal = new SessionRenewal(renewSession, uses, browsers.cookie, log)
  const rateLimiter = new RateLimiter(config.requestsPerMinute)
  const untrusted = new UntrustedProxies(log)
  const metricsListener = metricsListenerOf(config, log)
  const atStart = configWarnings(config, addresses)
  const findings = () => [
    ...atStart,
    ...untrusted.warnings(),
    ...newAddressLimit.warnings(),
    ...(metricsListener?.warnings() ?? []),
    ...(auditWebhook?.warnings() ?? []),
    ...context.groups.warnings(),
  ]
  const http = await createHttpServer({
    handlers: wireHandlers(parts, { ...context, browsers, rateLimiter, findings }),
    authenticator,
    apiTokens: accounts.apiTokenAuthenticator,
    revocations,
    cookie: browsers.cookie,
    renewal,
    blocked: { database, templates: config.templates },
    frontEnd: await FrontEnd.load({
      webDir: parts.webDir,
      authenticator,
      sessionList: accounts.sessionList,
      verifyLink: accounts.verifyLink,
      cookie: browsers.cookie,
      renewal,
      loginCsrf: browsers.loginCsrf,
      addressSecrets: browsers.addressSecrets,
      sameBrowserProof: browsers.sameBrowserProof,
      ...frontEndSettings(config, addresses),
      hasGroups: () => !context.groups.directory.isEmpty,
    }),
    log,
    rateLimiter,
    devices: browsers.devices,
    strictTransport: strictTransportOf(config.tls),
    onRequest: (request) => untrusted.note(request),
    metricsToken: config.metricsListen === null ? config.metricsToken : undefined,
    operator: (request) => operators.nameOf(request),
    counts: async () => ({
      ...reconcilerMetrics(reconciling.reconciler, reconciling.containerReconciler, containers.routeSync),
      ...containers.diskUse.counts(),
      ...containers.launchMetrics.counts(),
      ...loadMetrics(containers),
      ...parts.runtime.counts(),
      ...mailStatistics.counts(),
      ...auditWebhook?.counts(),
      ...(await gateway.counts().catch(() => ({}))),
      ...(await parts.nodes?.counts()),
    }),
    now: () => clock.now(),
  })
  return {
    server: http.server,
    handle: http.handle,
    close: () => http.close(),
    startMetrics: async () => metricsListener?.start(http.metrics),
    stopMetrics: () => metricsListener?.stop(),
  }
}

function metricsListenerOf({ metricsListen, metricsToken }: Config, log: AppParts['log']): MetricsListener | undefined {
  return metricsListen === null ? undefined : new MetricsListener(metricsListen, metricsToken, log)
}
