import type { Logger } from 'pino'
import { missingAdministrator } from '#/accounts/missing-administrator.ts'
import type { SigningKeys } from '#/accounts/signing-keys.ts'
import { attempt, within } from '#/attempt.ts'
import { type Addresses, addressesFor, type Config } from '#/config.ts'
import type { Gateway } from '#/gateway/gateway.ts'
import { createListener, drain, listenOnSocket } from '#/http/listener.ts'
import { OperatorRequests } from '#/http/operator-socket.ts'
import type { Mailer } from '#/mail/mailer.ts'
import { EngineLooks } from '#/reconcile/engine-look.ts'
import { DiskUseTask } from '#/reconcile/disk-use.ts'
import { HostCheck } from '#/reconcile/host-check.ts'
import type { Graces } from '#/reconcile/plan.ts'
import { takenSlugsTask } from '#/reconcile/taken-slugs.ts'
import type { Runtime } from '#/runtime/runtime.ts'
import { finishMove, latestInstant } from '#/store/clock.ts'
import type { Database } from '#/store/database.ts'
import { wireAccounts, wireKeys } from '#/wiring/accounts.ts'
import { wireContainers } from '#/wiring/containers.ts'
import { controlPlane, gatewaySettings } from '#/wiring/gateway.ts'
import { wireHttp } from '#/wiring/http.ts'
import { wireClock, wireIdle, wireReconciler } from '#/wiring/reconciling.ts'
import { wireTokens } from '#/wiring/tokens.ts'

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
  readonly instance: string
  /** Folder of the built front end. */
  readonly webDir: string
  /** For tests, which have less patience. */
  readonly pace?: Partial<Pace>
  readonly log: Logger
}

/** How often the reconciler looks, how long it waits before it acts, and how often homes are measured; all in ms. */
export type Pace = Graces & { readonly every: number; readonly measureHomes: number }

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
const drainTime = 15_000

/**
 * Wires every part, tells the gateway everything, and resolves when requests are answered.
 * @throws {Error} for the operator when the port is taken, or a template asks for what the engine does not have
 */
export async function startApp(parts: AppParts): Promise<App> {
  const { config, gateway, database, runtime, mailer, log } = parts
  const soon = () => reconciling.reconciler.activate()
  const looks = new EngineLooks(runtime, soon)
  const takenSlugs = takenSlugsTask(database, runtime, looks)
  // First of all: the list that it asks for is also that of the networks, and of the reconciler's first run.
  const slugsKnown = within(
    slugLimit,
    attempt(log, 'asking the engine for slugs', () => takenSlugs.run(new Date())),
  )
  const hostCheck = new HostCheck(runtime, config.templates.all(), log)
  if (!parts.isForOneCommand) await hostCheck.atStart()
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
  const reconciling = wireReconciler(parts, containers, accounts, hostCheck, looks, takenSlugs)
  const idle = wireIdle(parts, containers)
  const diskUse = new DiskUseTask(containers.diskUse, log, parts.pace?.measureHomes)
  const clock = wireClock(parts, tokens, soon)
  const operators = new OperatorRequests()
  const api = await wireHttp(parts, addresses, containers, accounts, reconciling, clock, operators)
  const operatorListener = createListener(operators.accept(api.handle))
  const following = new AbortController()
  await listenOnSocket(api.server, parts.socketPath)
  await serve()
  await containers.places.publishAll(following.signal)
  // Cut off by a crash; what is moved only in part would look as if the clock had been moved once more.
  await finishMove(database)
  await clock.start(await latestInstant(database.db))
  if (!parts.isForOneCommand) {
    const missing = await attempt(log, 'looking for administrators', () => missingAdministrator(database.db, config))
    if (missing) log.warn(missing)
    reconciling.reconciler.activate()
    idle.start()
    containers.guard.start()
    containers.history.start()
    diskUse.start()
    await api.metricsListener?.start()
  }
  // Last, so that whoever finds it answered finds everything in its place.
  if (parts.operatorSocket !== undefined) await listenOnSocket(operatorListener, parts.operatorSocket)

  const close = async () => {
    following.abort()
    idle.stop()
    containers.guard.stop()
    containers.history.stop()
    clock.stop()
    containers.streams.close()
    accounts.padding.close()
    api.metricsListener?.stop()
    // First of all: what is being started again would take the refusals that follow for its own failures, and give up.
    const upkept = Promise.all([reconciling.reconciler.stop(), reconciling.upkeep.stop(), diskUse.stop()])
    // Who waits for a turn is answered at once; who has one, and those whom no request waits for, may finish.
    await Promise.all([
      drain(api.server, drainTime),
      drain(operatorListener, drainTime),
      within(drainTime, containers.admission.close()),
    ])
    // What the engine does not answer now goes on without us, and is looked at by the next process.
    await within(drainTime, upkept)
    await attempt(log, 'writing when containers were used last', () => containers.activity.writeAll())
    await api.close()
    mailer.close()
    await database.close()
  }
  return { ...addresses, port, close, isWorkLeft: () => reconciling.reconciler.isWanted }
}
