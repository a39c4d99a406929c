import { PrintLink } from '#/accounts/links/print-link.ts'
import { UserBlocking } from '#/administration/block-users.ts'
import { ContainerBlocking } from '#/administration/block-containers.ts'
import { Rights } from '#/administration/rights.ts'
import { StopContainer } from '#/administration/container-stop.ts'
import type { AppParts } from '#/app.ts'
import type { ClockJumpDetector } from '#/clock-jump-detector.ts'
import type { Addresses } from '#/config/config.ts'
import { ContainerStatuses } from '#/containers/state/container-statuses.ts'
import { adminHandlers } from '#/http/handlers/admin/admin-handlers.ts'
import { auditHandlers } from '#/http/handlers/admin/audit-handlers.ts'
import { authHandlers } from '#/http/handlers/account/auth-handlers.ts'
import { blockUserHandlers } from '#/http/handlers/admin/user-blocking-handlers.ts'
import { containerHandlers } from '#/http/handlers/containers/container-handlers.ts'
import { deletionHandlers } from '#/http/handlers/admin/deletion-handlers.ts'
import { containerEventHandlers } from '#/http/handlers/containers/container-event-handlers.ts'
import { invitationHandlers } from '#/http/handlers/admin/invitation-handlers.ts'
import { keyHandlers } from '#/http/handlers/admin/key-handlers.ts'
import { listHandlers } from '#/http/handlers/admin/list-handlers.ts'
import { containerLogHandlers } from '#/http/handlers/containers/container-log-handlers.ts'
import { operatorHandlers } from '#/http/handlers/admin/operator-handlers.ts'
import { sessionHandlers } from '#/http/handlers/account/session-handlers.ts'
import { systemHistoryHandlers } from '#/http/handlers/admin/system-history-handlers.ts'
import { systemReportHandlers } from '#/http/handlers/admin/system-report-handlers.ts'
import { healthHandlers } from '#/http/handlers/health-handlers.ts'
import { takeoverHandlers } from '#/http/handlers/admin/takeover-handlers.ts'
import { userHandlers } from '#/http/handlers/account/user-handlers.ts'
import { MetricsListener } from '#/http/metrics/metrics-listener.ts'
import type { OperatorRequests } from '#/http/operator-socket.ts'
import { FrontEnd } from '#/http/front-end/front-end-document.ts'
import { RateLimiter } from '#/http/limits/rate-limiter.ts'
import { createHttpServer } from '#/http/server.ts'
import { UntrustedProxies } from '#/http/request/untrusted-proxies.ts'
import { SameBrowserProof } from '#/http/auth/same-browser-proof.ts'
import { ImpersonatorSession } from '#/http/auth/impersonator-session.ts'
import { LoginCsrf } from '#/http/auth/login-csrf.ts'
import { configWarnings } from '#/config/config-warnings.ts'
import { enforceBlocks } from '#/reconcile/enforce-blocks.ts'
import { reconcilerMetrics } from '#/reconcile/reconciler-metrics.ts'
import type { Accounts } from '#/wiring/wire-accounts.ts'
import { revokeEndedSessions, wireDeletion, wireResending, wireTakeover } from '#/wiring/wire-administration.ts'
import type { Containers } from '#/wiring/wire-containers.ts'
import type { Reconciling } from '#/wiring/wire-reconciling.ts'

/** API and front end. @throws when the front end is not built */
export async function wireHttp(
  parts: AppParts,
  addresses: Addresses,
  containers: Containers,
  accounts: Accounts,
  { reconciler, containerReconciler }: Reconciling,
  clock: ClockJumpDetector,
  operators: OperatorRequests,
) {
  const { config, database, gateway, log } = parts
  const enforce = enforceBlocks(
    (owned) => containerReconciler.reconcileOne(owned),
    () => reconciler.activate(),
    log,
  )
  const publish = async (userIds: readonly number[]) => {
    // Whoever waits for a turn hears of a block now, so that the stop does not stand behind that wait.
    for (const userId of userIds) containers.admission.recheck(userId)
    await Promise.all(userIds.map((userId) => containers.routeSync.publishPerson(userId)))
  }
  const revokeSessions = revokeEndedSessions(accounts)
  const statuses = new ContainerStatuses(containers.routeSync, config.templates.types)
  const cookie = { domain: addresses.cookieDomain, isSecure: config.scheme === 'https' }
  const loginCsrf = new LoginCsrf(parts.key.secretFor('visit'), cookie)
  const impersonatorSession = new ImpersonatorSession(accounts.authenticator, cookie)
  const linkLifetime = config.magicLinkExpiry
  const sameBrowserProof = new SameBrowserProof({
    secret: parts.key.secretFor('asked'),
    settings: cookie,
    loginCsrf,
    linkLifetime,
  })
  const browsers = { cookie, loginCsrf, sameBrowserProof, impersonatorSession }
  const rateLimiter = new RateLimiter(config.requestsPerMinute)
  const untrusted = new UntrustedProxies(log)
  const fixed = configWarnings(config, addresses)
  const findings = () => [
    ...fixed,
    ...untrusted.warnings(),
    ...accounts.newAddressLimit.warnings(),
    ...(metricsListener?.warnings() ?? []),
  ]
  const shared = {
    ...parts,
    ...addresses,
    ...accounts,
    ...containers,
    ...browsers,
    rateLimiter,
    takeover: wireTakeover(parts, accounts, containers),
    templates: config.templates,
  }
  const http = await createHttpServer({
    handlers: {
      ...authHandlers(shared),
      ...userHandlers(shared),
      ...sessionHandlers(shared),
      ...containerHandlers(shared),
      ...containerEventHandlers(shared),
      ...containerLogHandlers(shared),
      ...deletionHandlers({ deletion: wireDeletion(parts, accounts, containers, reconciler) }),
      ...systemReportHandlers({
        ...containers,
        ...accounts,
        reconciler,
        containerReconciler,
        findings,
        maxRunning: config.maxRunning,
      }),
      ...systemHistoryHandlers(containers),
      ...listHandlers({ database, statuses }),
      ...blockUserHandlers({
        database,
        statuses,
        blocking: new UserBlocking(database, { publish, enforce, revokeSessions }),
      }),
      ...adminHandlers({
        blocking: new ContainerBlocking(database, { publish, enforce, revokeSessions }),
        rights: new Rights(database, { revokeSessions }),
        verification: wireResending(parts, accounts),
      }),
      ...auditHandlers({ database }),
      ...invitationHandlers(shared),
      ...takeoverHandlers(shared),
      ...keyHandlers(shared),
      ...healthHandlers(shared),
      ...operatorHandlers({
        printLink: new PrintLink(database, accounts.links),
        stopping: new StopContainer(database, (container) => containers.idleSuspension.stopNow(container)),
      }),
    },
    authenticator: accounts.authenticator,
    cookie,
    blocked: { database, templates: config.templates },
    frontEnd: await FrontEnd.load({
      webDir: parts.webDir,
      ...accounts,
      ...browsers,
      linkLifetime,
      contact: config.supportContact,
    }),
    log,
    rateLimiter,
    onRequest: (request) => untrusted.note(request),
    metricsToken: config.metricsListen === null ? config.metricsToken : undefined,
    operator: (request) => operators.nameOf(request),
    counts: async () => ({
      ...reconcilerMetrics(reconciler, containerReconciler, containers.routeSync),
      ...containers.diskUse.counts(),
      ...containers.launchMetrics.counts(),
      ...accounts.mailStatistics.counts(),
      ...(await gateway.counts().catch(() => ({}))),
    }),
    now: () => clock.now(),
  })
  const { metricsListen, metricsToken } = config
  const metricsListener = metricsListen && new MetricsListener(metricsListen, metricsToken, http.metrics, log)
  return { ...http, metricsListener }
}
