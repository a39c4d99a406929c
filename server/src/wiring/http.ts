import { PrintLink } from '#/accounts/print-link.ts'
import { UserBlocking } from '#/administration/block-users.ts'
import { Blocking } from '#/administration/block.ts'
import { Rights } from '#/administration/rights.ts'
import { Stopping } from '#/administration/stop.ts'
import type { AppParts } from '#/app.ts'
import type { ClockWatch } from '#/clock-watch.ts'
import type { Addresses } from '#/config.ts'
import { ContainerStatuses } from '#/containers/container-statuses.ts'
import { adminHandlers } from '#/http/handlers/admin.ts'
import { auditHandlers } from '#/http/handlers/audit.ts'
import { authHandlers } from '#/http/handlers/auth.ts'
import { blockUserHandlers } from '#/http/handlers/block-users.ts'
import { containerHandlers } from '#/http/handlers/container.ts'
import { deletionHandlers } from '#/http/handlers/deletions.ts'
import { eventHandlers } from '#/http/handlers/events.ts'
import { invitationHandlers } from '#/http/handlers/invitations.ts'
import { keyHandlers } from '#/http/handlers/keys.ts'
import { listHandlers } from '#/http/handlers/lists.ts'
import { logHandlers } from '#/http/handlers/logs.ts'
import { operatorHandlers } from '#/http/handlers/operator.ts'
import { sessionHandlers } from '#/http/handlers/sessions.ts'
import { systemHistoryHandlers } from '#/http/handlers/system-history.ts'
import { systemReportHandlers } from '#/http/handlers/system-report.ts'
import { systemHandlers } from '#/http/handlers/system.ts'
import { takeoverHandlers } from '#/http/handlers/takeover.ts'
import { userHandlers } from '#/http/handlers/user.ts'
import { MetricsListener } from '#/http/metrics-listener.ts'
import type { OperatorRequests } from '#/http/operator-socket.ts'
import { Pages } from '#/http/pages.ts'
import { RequestLimit } from '#/http/request-limit.ts'
import { createHttpServer } from '#/http/server.ts'
import { UntrustedProxies } from '#/http/untrusted-proxies.ts'
import { AskedHere } from '#/http/asked-here.ts'
import { ReturnCookie } from '#/http/return-cookie.ts'
import { Visits } from '#/http/visits.ts'
import { findingsIn } from '#/findings.ts'
import { enforceBlocks } from '#/reconcile/enforce-blocks.ts'
import { operatorNumbers } from '#/reconcile/operator-numbers.ts'
import type { Accounts } from '#/wiring/accounts.ts'
import { endedElsewhere, wireDeletion, wireResending, wireTakeover } from '#/wiring/administration.ts'
import type { Containers } from '#/wiring/containers.ts'
import type { Reconciling } from '#/wiring/reconciling.ts'

/** API and front end. @throws when the front end is not built */
export async function wireHttp(
  parts: AppParts,
  addresses: Addresses,
  containers: Containers,
  accounts: Accounts,
  { reconciler, upkeep }: Reconciling,
  clock: ClockWatch,
  operators: OperatorRequests,
) {
  const { config, database, gateway, log } = parts
  const enforce = enforceBlocks(
    (owned) => upkeep.mend(owned),
    () => reconciler.activate(),
    log,
  )
  const publish = async (userIds: readonly number[]) => {
    // Whoever waits for a turn hears of a block now, so that the stop does not stand behind that wait.
    for (const userId of userIds) containers.admission.recheck(userId)
    await Promise.all(userIds.map((userId) => containers.places.publishPerson(userId)))
  }
  const refuse = endedElsewhere(accounts)
  const statuses = new ContainerStatuses(containers.places, config.templates.types)
  const cookie = { domain: addresses.cookieDomain, isSecure: config.scheme === 'https' }
  const visits = new Visits(parts.key.secretFor('visit'), cookie)
  const returnCookie = new ReturnCookie(accounts.sessions, cookie)
  const linkLifetime = config.magicLinkExpiry
  const askedHere = new AskedHere({ secret: parts.key.secretFor('asked'), settings: cookie, visits, linkLifetime })
  const browsers = { cookie, visits, askedHere, returnCookie }
  const requestLimit = new RequestLimit(config.requestsPerMinute)
  const untrusted = new UntrustedProxies(log)
  const fixed = findingsIn(config, addresses)
  const findings = () => [
    ...fixed,
    ...untrusted.warnings(),
    ...accounts.newcomers.warnings(),
    ...(metricsListener?.warnings() ?? []),
  ]
  const shared = {
    ...parts,
    ...addresses,
    ...accounts,
    ...containers,
    ...browsers,
    requestLimit,
    takeover: wireTakeover(parts, accounts, containers),
    templates: config.templates,
  }
  const http = await createHttpServer({
    handlers: {
      ...authHandlers(shared),
      ...userHandlers(shared),
      ...sessionHandlers(shared),
      ...containerHandlers(shared),
      ...eventHandlers(shared),
      ...logHandlers(shared),
      ...deletionHandlers({ deletion: wireDeletion(parts, accounts, containers, reconciler) }),
      ...systemReportHandlers({
        ...containers,
        ...accounts,
        reconciler,
        upkeep,
        findings,
        mostRunning: config.maxRunning,
      }),
      ...systemHistoryHandlers(containers),
      ...listHandlers({ database, statuses }),
      ...blockUserHandlers({ database, statuses, blocking: new UserBlocking(database, { publish, enforce, refuse }) }),
      ...adminHandlers({
        blocking: new Blocking(database, { publish, enforce, refuse }),
        rights: new Rights(database, { refuse }),
        verification: wireResending(parts, accounts),
      }),
      ...auditHandlers({ database }),
      ...invitationHandlers(shared),
      ...takeoverHandlers(shared),
      ...keyHandlers(shared),
      ...systemHandlers(shared),
      ...operatorHandlers({
        printLink: new PrintLink(database, accounts.links),
        stopping: new Stopping(database, (container) => containers.rest.stopNow(container)),
      }),
    },
    sessions: accounts.sessions,
    cookie,
    blocked: { database, templates: config.templates },
    pages: await Pages.load({
      webDir: parts.webDir,
      ...accounts,
      ...browsers,
      linkLifetime,
      contact: config.supportContact,
    }),
    log,
    requestLimit,
    onRequest: (request) => untrusted.note(request),
    metricsToken: config.metricsListen === null ? config.metricsToken : undefined,
    operator: (request) => operators.nameOf(request),
    counts: async () => ({
      ...operatorNumbers(reconciler, upkeep, containers.places),
      ...containers.diskUse.counts(),
      ...containers.launchCounts.counts(),
      ...accounts.deliveries.counts(),
      ...(await gateway.counts().catch(() => ({}))),
    }),
    now: () => clock.now(),
  })
  const { metricsListen, metricsToken } = config
  const metricsListener = metricsListen && new MetricsListener(metricsListen, metricsToken, http.metrics, log)
  return { ...http, metricsListener }
}
