import { missingAdministrator } from '#/accounts/sign-up/registration.ts'
import { tryOrLog, withTimeout } from '#/machine/try-or-log.ts'
import { type Addresses, addressesFor } from '#/config/config.ts'
import { createListener, drain, listenOnSocket } from '#/http/listener.ts'
import { compileEndpoints, warmUpHttpServer } from '#/http/server.ts'
import { OperatorRequests } from '#/http/operator-socket.ts'
import { defaultLanguage } from '@berth/texts/language.ts'
import { localize } from '@berth/texts/localize.ts'
import { EngineListCache } from '#/containers/reconcile/engine-list.ts'
import { DiskMeasurement } from '#/homes/disk-use.ts'
import { HostCheck } from '#/containers/reconcile/host-check.ts'
import { takenSlugsTask } from '#/accounts/sign-up/slug.ts'
import { Reconciler } from '#/containers/reconcile/reconciler.ts'
import { finishClockJump, latestInstant } from '#/store/clock-jumps.ts'
import type { AppParts } from './app-parts.ts'
import { wireAuditWebhook } from './wire-audit-webhook.ts'
import { wireAccounts, type Accounts } from './wire-accounts.ts'
import { wireAdministration } from './wire-administration.ts'
import { wireTemplates } from './wire-templates.ts'
import { wireTermEnd, type TermEndFeature } from './wire-term-end.ts'
import { wireUsage, type Usage } from './wire-usage.ts'
import { wireGroupRules, wireGroups, type Groups } from './wire-groups.ts'
import { wireSharing } from './wire-sharing.ts'
import { wireContainers, type Containers } from './wire-containers.ts'
import { controlPlane, gatewaySettings } from './wire-gateway.ts'
import { wireHttp } from './wire-http.ts'
import { wireOidc } from './wire-oidc.ts'
import { wireClock, wireIdle, wireLifetimes, wireReconciling, type Reconciling } from './wire-reconciling.ts'
import { wireTokens, type Tokens } from './wire-tokens.ts'

/** The control plane of a Berth, and the addresses that its gateway serves. */
export interface App extends Addresses {
  readonly port: number
  /**
   * Graceful shutdown: accepts no new requests, drains requests in flight for at most 15 s, and closes every part. The
   * gateway and the containers keep running.
   */
  close(): Promise<void>
  /** Whether a run of the reconciler was requested that has not begun, e.g. because the engine does not answer. */
  isWorkLeft(): boolean
}

/** After `warmUpApp`, where this process passes requests on meanwhile: prepares its first answers, too. */
export const warmUpAnswers = (isWanted: () => boolean): Promise<void> => compileEndpoints(isWanted)

/** Makes the next `startApp` of this process quicker; for a process that may have to start it at once. */
export const warmUpApp = (webDir: string): Promise<void> => warmUpHttpServer(webDir)

/** Timeout of sign-ups for the list of slugs that the engine knows, in ms after the start; nothing else waits for the list. */
const slugTimeout = 10_000
/** Max pause between two runs of the reconciler, in ms. */
const reconcileInterval = 30_000
/** Timeout of the drain at shutdown, in ms: that of `gateway/src/supervisor/supervisor.ts`; what this file starts imports nothing of the supervisor. */
const drainTimeout = 15_000

/**
 * Composition root of the API process: constructs every part (`wiring/`), sends the gateway its whole state, and resolves
 * when requests are served.
 * @throws {Error} for the operator when the port is taken, or a template requires what the engine does not have
 */
export async function startApp(parts: AppParts): Promise<App> {
  const { config, gateway, database, runtime, log } = parts
  const reconciler = new Reconciler(parts.pace?.every ?? reconcileInterval, log)
  const activate = () => reconciler.activate()
  const engineList = new EngineListCache(runtime, activate)
  const takenSlugs = takenSlugsTask(database, runtime, engineList)
  // Its lists of all containers and homes take seconds with 20,000: the routes come first. One list of containers is that of
  // the routes, of this, and of the reconciler's first run.
  const routesPublished = Promise.withResolvers<void>()
  const slugsKnown = routesPublished.promise.then(() =>
    withTimeout(
      slugTimeout,
      tryOrLog(log, 'asking the engine for slugs', () => takenSlugs.claimAll()),
    ),
  )
  const hostCheck = new HostCheck(runtime, () => config.templates.all(), log)
  // The engine answers while the parts are constructed; nothing is served before its answer is known.
  const hostChecked =
    parts.isForOneCommand || parts.onPrepared ? Promise.resolve() : hostCheck.checkAtStart(parts.takesOver)
  hostChecked.catch(() => undefined)
  const port = await gateway.listen(config.host, config.port, config.tls)
  const addresses = addressesFor(config, port)
  const tokens = wireTokens(parts, addresses, activate)
  await tokens.revocations.load(new Date())
  const groupRules = await wireGroupRules(parts)
  const containers = wireContainers(parts, addresses, tokens, () => engineList.listAll(), groupRules.rules)
  const serve = () =>
    gateway.serve(
      gatewaySettings(parts, addresses, containers.restartRequests),
      controlPlane(parts, addresses, tokens, containers),
    )
  const publishToReaders = async () => {
    if (!parts.nodes) return
    await serve()
    await gateway.settled?.()
  }
  const sharing = wireSharing(parts, containers)
  const accounts = wireAccounts(parts, {
    addresses,
    tokens,
    containers,
    activate,
    slugsKnown,
    publishKeys: serve,
    // Groups are wired below, because they invite to accounts.
    onJoin: () => groups.onJoin(),
  })
  const usage = wireUsage(parts, containers, groupRules)
  const reconcilingContext = {
    reconciler,
    engineList,
    hostCheck,
    takenSlugs,
    // Ends of terms are wired below, because they remove accounts.
    furtherTasks: [
      groupRules.task,
      sharing.task,
      containers.snapshotsTask,
      usage.task,
      { name: 'ends of terms', run: () => termEnd.task.run(new Date()) },
    ],
  }
  const reconciling = wireReconciling(parts, tokens, containers, accounts, reconcilingContext)
  const idle = wireIdle(parts, containers)
  const lifetimes = wireLifetimes(parts, containers)
  const diskUse = new DiskMeasurement(containers.diskUse, log, parts.pace?.measureHomes)
  const clock = wireClock(parts, tokens, activate)
  const operators = new OperatorRequests()
  const administration = wireAdministration(parts, tokens, accounts, containers, reconciling, sharing)
  const startTimers = () => {
    if (parts.isForOneCommand) return
    idle.start()
    lifetimes.start()
    containers.prestartTimes.start()
    containers.imageFetches.start()
    groups.restart()
  }
  const groups = wireGroups(parts, groupRules, tokens, accounts, containers, administration, sharing)
  groups.directory.onChange(() => {
    groups.restart()
    void sharing.refresh()
    if (!parts.isForOneCommand) diskUse.start()
  })
  const termEnd = wireTermEnd(parts, { addresses, containers, administration, groups, activate })
  const templates = wireTemplates(parts, containers, { hostCheck, serve, publishToReaders, startTimers })
  const oidc = wireOidc(parts, { addresses, accounts, administration, groups })
  const auditWebhook = wireAuditWebhook(parts)
  const useCases = {
    addresses,
    tokens,
    containers,
    accounts,
    administration,
    templates,
    oidc,
    groups,
    sharing,
    usage,
    termEnd,
    reconciling,
  }
  const api = await wireHttp(parts, { ...useCases, clock, operators, auditWebhook })
  const operatorListener = createListener(operators.accept(api.handle))
  const following = new AbortController()
  await hostChecked
  groupRules.directory.publishBy(publishToReaders)
  const reportAccept = (problem: string) => log.error(problem)
  await listenOnSocket(api.server, parts.socketPath, reportAccept)
  parts.onListening?.('api')
  await containers.resumeSnapshots()
  await serve()
  await sharing.start()
  await containers.routeSync.publishAll(following.signal)
  routesPublished.resolve()
  // A crash may have interrupted it; instants that are moved only in part would look like another clock jump.
  await finishClockJump(database)
  await clock.start(await latestInstant(database.db))
  const running: RunningApp = {
    parts,
    following,
    reconciler,
    reconciling,
    idle,
    lifetimes,
    diskUse,
    clock,
    tokens,
    accounts,
    containers,
    groups,
    usage,
    termEnd,
    auditWebhook,
    api,
    operatorListener,
  }
  if (!parts.isForOneCommand) await startBackgroundWork(running, hostCheck, startTimers)
  // Last: a command that reaches this socket finds a complete service.
  if (parts.operatorSocket !== undefined) {
    await listenOnSocket(operatorListener, parts.operatorSocket, reportAccept)
    parts.onListening?.('operator')
  }
  // Behind the first answers, which have waited.
  if (parts.onPrepared) void hostCheck.prepareBeside().then(parts.onPrepared)
  return { ...addresses, port, close: () => closeApp(running), isWorkLeft: () => reconciler.isWanted }
}

/** What runs once the application serves, and what a shutdown ends. */
interface RunningApp {
  readonly parts: AppParts
  /** Aborts what follows the engine. */
  readonly following: AbortController
  readonly reconciler: Reconciler
  readonly reconciling: Reconciling
  readonly idle: ReturnType<typeof wireIdle>
  readonly lifetimes: ReturnType<typeof wireLifetimes>
  readonly diskUse: DiskMeasurement
  readonly clock: ReturnType<typeof wireClock>
  readonly tokens: Tokens
  readonly accounts: Accounts
  readonly containers: Containers
  readonly groups: Groups
  readonly usage: Usage
  readonly termEnd: TermEndFeature
  readonly auditWebhook: ReturnType<typeof wireAuditWebhook>
  readonly api: Awaited<ReturnType<typeof wireHttp>>
  readonly operatorListener: ReturnType<typeof createListener>
}

/** Work without a request, and the listener of metrics. @param startTimers of what templates need */
async function startBackgroundWork(running: RunningApp, hostCheck: HostCheck, startTimers: () => void): Promise<void> {
  const { parts, following, reconciling, diskUse, clock, containers, groups, usage, auditWebhook, api } = running
  const { config, database, log } = parts
  const missing = await tryOrLog(log, 'looking for administrators', () => missingAdministrator(database.db, config))
  if (missing) log.warn(missing)
  for (const warning of groups.warnings()) log.warn(localize(defaultLanguage, warning))
  reconciling.start(clock)
  startTimers()
  containers.hostResources.start()
  containers.history.start()
  usage.start()
  diskUse.start()
  auditWebhook?.start()
  await api.startMetrics()
  void hostCheck.tryIsolation(following.signal)
}

/** See `App.close`. */
async function closeApp(running: RunningApp): Promise<void> {
  const { parts, following, reconciler, reconciling, idle, lifetimes, diskUse, clock, tokens, accounts } = running
  const { containers, groups, usage, termEnd, auditWebhook, api, operatorListener } = running
  const { database, mailer, log } = parts
  following.abort()
  idle.stop()
  lifetimes.stop()
  groups.close()
  containers.prestartTimes.stop()
  containers.imageFetches.stop()
  containers.prestart.stop()
  containers.hostResources.stop()
  containers.history.stop()
  containers.visitors.close()
  containers.lookRequests.close()
  clock.stop()
  tokens.streams.close()
  accounts.padding.close()
  api.stopMetrics()
  // First: a restart under way would take the refusals that follow for failures of its own.
  const tasksEnded = Promise.all([
    reconciler.stop(),
    reconciling.containerReconciler.stop(),
    diskUse.stop(),
    termEnd.close(),
    auditWebhook?.stop(),
  ])
  // Queued launches are refused at once; launches that hold a slot may finish.
  await Promise.all([
    drain(api.server, drainTimeout),
    drain(operatorListener, drainTimeout),
    withTimeout(drainTimeout, containers.admission.close()),
  ])
  // Calls that the engine does not answer now continue without this process; the next process checks their result.
  await withTimeout(drainTimeout, tasksEnded)
  await tryOrLog(log, 'writing when containers were used last', () => containers.activity.writeAll())
  await usage.stop()
  await tryOrLog(log, 'writing when sessions were used last', () => tokens.uses.writeAll())
  await api.close()
  mailer.close()
  await database.close()
}
