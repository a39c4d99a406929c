import type { Logger } from 'pino'
import { missingAdministrator } from '#/accounts/sign-up/missing-administrator.ts'
import type { SigningKeys } from '#/accounts/sessions/signing-keys.ts'
import { tryOrLog, withTimeout } from '#/concurrency/try-or-log.ts'
import { type Addresses, addressesFor, type Config } from '#/config/config.ts'
import type { Gateway } from '#/gateway/gateway.ts'
import { createListener, drain, listenOnSocket } from '#/http/listener.ts'
import { OperatorRequests } from '#/http/operator-socket.ts'
import type { Mailer } from '#/mail/mailer.ts'
import { EngineListCache } from '#/reconcile/engine-list.ts'
import { DiskMeasurement } from '#/containers/disk/disk-measurement.ts'
import { HostCheck } from '#/reconcile/host-check.ts'
import type { GracePeriods } from '#/reconcile/containers/plan.ts'
import { takenSlugsTask } from '#/reconcile/tasks/taken-slugs-task.ts'
import type { Runtime } from '#/runtime/runtime.ts'
import { finishClockJump, latestInstant } from '#/store/clock-jumps.ts'
import type { Database } from '#/store/database.ts'
import { wireAccounts, wireKeys } from '#/wiring/wire-accounts.ts'
import { wireContainers } from '#/wiring/wire-containers.ts'
import { controlPlane, gatewaySettings } from '#/wiring/wire-gateway.ts'
import { wireHttp } from '#/wiring/wire-http.ts'
import { wireClock, wireIdle, wireReconciler } from '#/wiring/wire-reconciling.ts'
import { wireTokens } from '#/wiring/wire-tokens.ts'

/** What differs between the real program and a test; everything else is wired here. */
export interface AppParts {
  readonly config: Config
  readonly database: Database
  readonly key: SigningKeys
  readonly runtime: Runtime
  readonly mailer: Mailer
  /** The data plane; it goes on when this app ends. */
  readonly gateway: Gateway
  /** Unix socket that API and front end listen on, in a folder that the owner alone may enter. */
  readonly socketPath: string
  /** Unix socket in the same folder whose requests are the operator's; without it there is none. */
  readonly operatorSocket?: string
  /**
   * True for an API that is there for one command while no service runs: nothing is looked at or begun by itself, because
   * the next start does that, and whoever types a command wants that one done and nothing else.
   */
  readonly isForOneCommand?: boolean
  /** Name of this installation; begins the name of every container. */
  readonly installation: string
  /** Folder of the built front end. */
  readonly webDir: string
  /** For tests, which use shorter times. */
  readonly pace?: Partial<Pace>
  readonly log: Logger
}

/** How often the reconciler looks, how long it waits before it acts, and how often homes are measured; all in ms. */
export type Pace = GracePeriods & { readonly every: number; readonly measureHomes: number }

/** The control plane of a Berth, and the addresses that its gateway answers. */
export interface App extends Addresses {
  readonly port: number
  /**
   * Stops answering for API and front end, lets requests under way end within 15 s, and closes every part. The gateway and
   * the containers go on.
   */
  close(): Promise<void>
  /** Whether something was left to the reconciler that it has not begun with, e.g. because the engine does not answer. */
  isWorkLeft(): boolean
}

/**
 * How long after the start sign-ups wait to learn which slugs the engine knows, in ms; without an engine nobody can launch
 * anything either. Nothing else waits for that.
 */
const slugLimit = 10_000
/** How long requests under way may take to end at a stop, in ms. */
const drainTimeout = 15_000

/**
 * Wires every part, tells the gateway everything, and resolves when requests are answered.
 * @throws {Error} for the operator when the port is taken, or a template asks for what the engine does not have
 */
export async function startApp(parts: AppParts): Promise<App> {
  const { config, gateway, database, runtime, mailer, log } = parts
  const soon = () => reconciling.reconciler.activate()
  const engineList = new EngineListCache(runtime, soon)
  const takenSlugs = takenSlugsTask(database, runtime, engineList)
  // First of all: the list that it asks for is also that of the networks, and of the reconciler's first run.
  const slugsKnown = withTimeout(
    slugLimit,
    tryOrLog(log, 'asking the engine for slugs', () => takenSlugs.run(new Date())),
  )
  const hostCheck = new HostCheck(runtime, config.templates.all(), log)
  if (!parts.isForOneCommand) await hostCheck.checkAtStart()
  const port = await gateway.listen(config.host, config.port)
  const addresses = addressesFor(config, port)
  const tokens = wireTokens(parts, addresses, soon)
  await tokens.revocations.load(new Date())
  const containers = wireContainers(parts, addresses, tokens)
  const serve = () => gateway.serve(gatewaySettings(parts, addresses), controlPlane(parts, tokens, containers))
  const accounts = {
    ...wireAccounts(parts, addresses, tokens, containers, soon, slugsKnown),
    ...wireKeys(parts, serve),
  }
  const reconciling = wireReconciler(parts, containers, accounts, hostCheck, engineList, takenSlugs)
  const idle = wireIdle(parts, containers)
  const diskUse = new DiskMeasurement(containers.diskUse, log, parts.pace?.measureHomes)
  const clock = wireClock(parts, tokens, soon)
  const operators = new OperatorRequests()
  const api = await wireHttp(parts, addresses, containers, accounts, reconciling, clock, operators)
  const operatorListener = createListener(operators.accept(api.handle))
  const following = new AbortController()
  await listenOnSocket(api.server, parts.socketPath)
  await serve()
  await containers.routeSync.publishAll(following.signal)
  // Cut off by a crash; what is moved only in part would look as if the clock had been moved once more.
  await finishClockJump(database)
  await clock.start(await latestInstant(database.db))
  if (!parts.isForOneCommand) {
    const missing = await tryOrLog(log, 'looking for administrators', () => missingAdministrator(database.db, config))
    if (missing) log.warn(missing)
    reconciling.reconciler.activate()
    idle.start()
    containers.hostResources.start()
    containers.history.start()
    diskUse.start()
    await api.metricsListener?.start()
  }
  // Last, so that whoever finds it answered finds everything in its place.
  if (parts.operatorSocket !== undefined) await listenOnSocket(operatorListener, parts.operatorSocket)

  const close = async () => {
    following.abort()
    idle.stop()
    containers.hostResources.stop()
    containers.history.stop()
    clock.stop()
    containers.streams.close()
    accounts.padding.close()
    api.metricsListener?.stop()
    // First of all: what is being started again would take the refusals that follow for its own failures, and give up.
    const upkept = Promise.all([reconciling.reconciler.stop(), reconciling.containerReconciler.stop(), diskUse.stop()])
    // Who waits for a turn is answered at once; who has one, and those whom no request waits for, may finish.
    await Promise.all([
      drain(api.server, drainTimeout),
      drain(operatorListener, drainTimeout),
      withTimeout(drainTimeout, containers.admission.close()),
    ])
    // What the engine does not answer now goes on without us, and is looked at by the next process.
    await withTimeout(drainTimeout, upkept)
    await tryOrLog(log, 'writing when containers were used last', () => containers.activity.writeAll())
    await api.close()
    mailer.close()
    await database.close()
  }
  return { ...addresses, port, close, isWorkLeft: () => reconciling.reconciler.isWanted }
}
