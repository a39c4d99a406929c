import path from 'node:path'
import type { Logger } from 'pino'
import type { RuntimeCapabilities } from '#/engines/runtime.ts'
import { settledDay } from '#/machine/settled-dates.ts'
import { SingleFlight } from '#/machine/single-flight.ts'
import { tryOrLog } from '#/machine/try-or-log.ts'
import type { FormerOwner, RemovedContainer } from '#/store/removals.ts'
import type { UserContainer } from '#/store/user-containers.ts'
import type { User } from '#/store/users.ts'
import type { LaunchRules } from '#/templates/launch-rules.ts'
import { FileSources } from '#/templates/starter-files/file-sources.ts'
import { PutStarterFiles } from '#/templates/starter-files/put-starter-files.ts'
import { TemplateSources } from '#/templates/template-sources.ts'
import type { Template, Templates } from '#/templates/template.ts'
import { stopJustBlocked } from './blocked-containers.ts'
import { ContainerLogs } from './container-logs.ts'
import { ContainerRemoval } from './container-removal.ts'
import { hasSnapshots, type ContainersParts } from './containers-parts.ts'
import { HomeFolderWatch } from './home-folder-watch.ts'
import { HomeLocks } from './home-locks.ts'
import { HomeNames } from './home-names.ts'
import { Activity } from './idle/activity.ts'
import { IdleOutlooks } from './idle/idle-outlook.ts'
import { IdleSuspension } from './idle/idle-suspension.ts'
import { IdleWarnings } from './idle/idle-warnings.ts'
import { LayerMonitor } from './idle/layer-monitor.ts'
import { OwnerActions } from './owner-actions.ts'
import type { Prestart } from '#/containers/launch/prestart.ts'
import { prestartOf, timersOf, type ContainerTimer } from './container-timers.ts'
import { PreLaunchHooks, type AdmissionControl, type Capacity, type PreLaunchHook } from './launch/admission-control.ts'
import { containerSpec, type InstallationSettings, type SpecUser } from './launch/build-container-spec.ts'
import type { HostResources } from './launch/host-resources.ts'
import type { LaunchProgress } from './launch/launch-progress.ts'
import { HomeCheck } from './launch/home-check.ts'
import { Launch } from './launch/launch.ts'
import { LinkFiles } from './launch/link-files.ts'
import { LaunchControl } from '#/containers/launch/launch-control.ts'
import { loadMetrics, type LaunchMetrics, type LoadTimeSeries } from './launch/load-metrics.ts'
import { Spawner } from './launch/spawner.ts'
import type { BeforeImage } from '#/containers/launch/container-starter.ts'
import { Wake } from './launch/wake.ts'
import type { StreamRegistry } from './stream-registry.ts'
import { ContainerReconciler, reconcilerMetrics } from './reconcile/container-reconciler.ts'
import { EngineListCache } from './reconcile/engine-list.ts'
import { prerequisitesTask } from './reconcile/host-check.ts'
import type { Reconciler, Task } from './reconcile/reconciler.ts'
import { finishRemovals, keptHomesTask, removalsTask, removeUnkeptHomes } from './reconcile/removals-task.ts'
import { ContainerPorts } from './ports/container-ports.ts'
import { ContainerIndex } from './routes/container-index.ts'
import { OwnContainers, RestartRequests, StatusLookups } from './routes/own-containers.ts'
import type { ContainerState } from './routes/container-state.ts'
import { RouteSync, routeSyncTask } from './routes/route-sync.ts'
import { UserEventSubscriptions, UserEvents, containerEvent } from './user-events.ts'

export type { ContainerRemoval } from './container-removal.ts'
export type { HomeFault } from './home-folder-watch.ts'
export type { HomeLocks } from './home-locks.ts'
export type { HomeNames, NamedHome } from './home-names.ts'
export type { Activity } from './idle/activity.ts'
export type { ContainerPorts } from './ports/container-ports.ts'
export { askIdleProbe } from './idle/idle-probe.ts'
export type { IdleSuspension } from './idle/idle-suspension.ts'
export type { IdleWarnings } from './idle/idle-warnings.ts'
export type { Prestart } from '#/containers/launch/prestart.ts'
export type { AdmissionControl } from './launch/admission-control.ts'
export type { LaunchProgress, LaunchStage } from './launch/launch-progress.ts'
export type { LoadSample } from './launch/load-metrics.ts'
export type { Spawner } from './launch/spawner.ts'
export { maxParallelStops } from './idle/lifetime-monitor.ts'
export type { EngineListCache } from './reconcile/engine-list.ts'
export { isAddress, type ContainerState } from './routes/container-state.ts'
export type { RouteStatus } from './routes/route-changes.ts'

/**
 * The room of containers: their state and routes, launches, idle suspension, and repair when engine and store differ.
 * Rooms above it subscribe to `routeSync.onChange`, `admission.onRequest` and `subscriptions.addSource`.
 */
export class Containers {
  readonly templates: Templates
  readonly rules: LaunchRules
  /** Streams of pages, which end with the session that opened them. */
  readonly streams: StreamRegistry
  readonly activity: Activity
  readonly events = new UserEvents()
  readonly idleWarnings = new IdleWarnings((userId, event) => this.events.publish(userId, event))
  readonly singleFlight = new SingleFlight()
  readonly restartRequests = new RestartRequests()
  readonly launchMetrics: LaunchMetrics
  readonly engineList: EngineListCache
  readonly capacity: Capacity
  readonly hostResources: HostResources
  readonly launchProgress: LaunchProgress
  readonly admission: AdmissionControl
  readonly history: LoadTimeSeries
  readonly routeSync: RouteSync
  readonly removal: ContainerRemoval
  readonly spawner: Spawner
  readonly launch: Launch
  readonly linkFiles: LinkFiles
  readonly wake: Wake
  readonly idleSuspension: IdleSuspension
  readonly layers: LayerMonitor
  readonly prestart: Prestart
  readonly ownerActions: OwnerActions
  readonly homes: HomeLocks
  readonly ownContainers: OwnContainers
  readonly logs: ContainerLogs
  readonly ports: ContainerPorts
  readonly subscriptions: UserEventSubscriptions
  readonly reconciler: Reconciler
  readonly containerReconciler: ContainerReconciler
  /** Periodic tasks of this room, in the order in which they are to run. */
  readonly tasks: readonly Task[]
  readonly #log: Logger
  readonly #isForOneCommand: boolean
  readonly #settings: InstallationSettings
  readonly #preLaunchHooks: PreLaunchHook[]
  #beforeImage: BeforeImage = async () => undefined
  readonly #stopBlocked: ReturnType<typeof stopJustBlocked>
  readonly #finishRemovals: ReturnType<typeof finishRemovals>
  readonly #routesPublished = Promise.withResolvers<void>()
  readonly #timers: readonly ContainerTimer[]

  constructor(parts: ContainersParts) {
    const { config, database, runtime, gateway, installation, rules, reconciler, log } = parts
    const { streams, revocations } = parts.sessions
    const { templates } = config
    const { capabilities } = runtime
    const { db } = database
    const report = (error: unknown, what: string) => log.warn({ err: error }, `${what} failed`)
    const index = new ContainerIndex(capabilities)
    this.templates = templates
    this.rules = rules
    this.streams = streams
    this.reconciler = reconciler
    this.activity = new Activity(database, parts.pace?.navigation)
    this.engineList = new EngineListCache(runtime, () => reconciler.activate())
    const launchControl = new LaunchControl(parts, this.events, index)
    this.capacity = launchControl.capacity
    this.hostResources = launchControl.hostResources
    this.launchMetrics = launchControl.launchMetrics
    this.launchProgress = launchControl.launchProgress
    this.admission = launchControl.admission
    this.history = launchControl.history
    const { crashLoops, hostResources, launchProgress, launchMetrics, admission } = launchControl
    const { activity, engineList, events, idleWarnings, singleFlight } = this
    this.routeSync = new RouteSync({
      db,
      runtime,
      listAll: () => engineList.listAll(),
      templates,
      gateway,
      index,
      revoked: () => revocations.all(),
      onAccessRevoked: (userId) => streams.endUser(userId),
      report,
    })
    const { routeSync } = this
    this.homes = new HomeLocks(new HomeNames({ database, runtime, templates, installation }))
    this.removal = new ContainerRemoval({ runtime, database, singleFlight, homes: this.homes, installation })
    this.#preLaunchHooks = [(user, template) => rules.refusalFor(user, template, new Date())]
    const preLaunchHooks = new PreLaunchHooks(database, this.#preLaunchHooks)
    this.#settings = installationSettings(parts)
    const starterFiles = starterFilesOf(parts)
    this.spawner = new Spawner({
      runtime,
      database,
      settings: this.#settings,
      singleFlight,
      routeSync,
      removal: this.removal,
      preLaunchHooks,
      rules,
      admission,
      launchProgress,
      crashLoops,
      starterFiles,
      beforeImage: hasSnapshots(config, runtime) ? (owner, signal) => this.#beforeImage(owner, signal) : undefined,
      homeCheck: new HomeCheck({ runtime, database, admission, log }),
      launchMetrics,
      log,
    })
    const { spawner } = this
    this.idleSuspension = new IdleSuspension({ runtime, database, gateway, singleFlight, routeSync, activity })
    const { idleSuspension } = this
    this.layers = new LayerMonitor({
      templates,
      routeSync,
      idleSuspension,
      runtime,
      database,
      publish: (userId, event) => events.publish(userId, event),
      log,
      interval: parts.pace?.measureHomes,
    })
    const timeout = config.launchTimeout * 1_000
    this.launch = new Launch({ database, spawner, templates, rules, launchProgress, activity, timeout, log })
    this.linkFiles = new LinkFiles(config.openGitHosts, {
      runtime,
      database,
      templates,
      rules,
      singleFlight,
      starterFiles,
      homes: this.homes,
      installation,
    })
    this.prestart = prestartOf(parts, { routeSync, idleSuspension, activity, admission, spawner })
    this.ownerActions = new OwnerActions({
      database,
      templates,
      admission,
      routeSync,
      idleSuspension,
      activity,
      log,
      capabilities,
    })
    this.wake = new Wake({
      runtime,
      templates,
      singleFlight,
      routeSync,
      spawner,
      admission,
      crashLoops,
      activity,
      report,
    })
    followChanges(this, launchControl)
    this.subscriptions = new UserEventSubscriptions({
      events,
      streams,
      snapshotOf: (userId) =>
        routeSync
          .statusesOf(userId)
          .map(({ type, status }) => containerEvent(type, status, routeSync.get({ userId, type }))),
      onListener: (userId) => launchProgress.onListener(userId),
    })
    for (const source of [launchProgress, idleWarnings, this.layers]) this.subscriptions.addSource(source)
    const homeFolders = new HomeFolderWatch({
      templates,
      routeSync,
      runtime,
      log,
      onChange: (each) => tellStatus(this, each),
    })
    const idle = new IdleOutlooks(templates, routeSync, activity, capabilities)
    this.ownContainers = new OwnContainers(db, templates, rules, new StatusLookups(runtime), {
      isRestartAsked: (id) => this.restartRequests.has(id),
      idleOf: (owned) => idle.of(owned),
      homeFaultOf: (owned) => homeFolders.faultOf(owned),
    })
    this.ports = new ContainerPorts({ runtime, routeSync, templates, addresses: parts.addresses })
    this.logs = new ContainerLogs({ database, runtime, templates, streams })
    const isSettled = settledDay(parts.pace?.overdue)
    this.containerReconciler = new ContainerReconciler({
      db,
      runtime,
      templates,
      installation,
      singleFlight,
      routeSync,
      admission,
      hostResources,
      spawner,
      engineList,
      findContainer: (id) => routeSync.findByContainerId(id),
      activate: () => reconciler.activate(),
      isDateSettled: () => isSettled(new Date()),
      log,
      graces: { retire: config.retireAfter * 1_000, ...stoppedGraces(capabilities), ...parts.pace },
    })
    const { containerReconciler } = this
    this.tasks = [
      prerequisitesTask(runtime, parts.hostCheck, engineList),
      routeSyncTask(routeSync, engineList),
      // Before removals, which wait for a slow engine: what is blocked stops within 5 s of the engine's return.
      containerReconciler,
      removalsTask(database, this.removal),
      keptHomesTask({ database, runtime, isSettled }),
    ]
    // Before the first event; an activation before the start is noted.
    if (!parts.isForOneCommand) {
      routeSync.listen(containerReconciler)
      admission.onRequest((owned) => containerReconciler.onRequest(owned))
    }
    const activate = () => reconciler.activate()
    this.#stopBlocked = stopJustBlocked((owned) => containerReconciler.reconcileOne(owned), activate, log)
    const removeHomes = (owner: FormerOwner) => removeUnkeptHomes({ database, runtime }, owner, new Date())
    this.#finishRemovals = finishRemovals(this.removal, removeHomes, activate, log)
    this.#timers = [...timersOf(parts, this), homeFolders]
    this.#log = log
    this.#isForOneCommand = parts.isForOneCommand === true
  }

  /** Resolves when the gateway has the routes for the first time. */
  get routesPublished(): Promise<void> {
    return this.#routesPublished.promise
  }

  /** @param hook asked before each launch, behind those that came before it */
  addPreLaunchHook(hook: PreLaunchHook): void {
    this.#preLaunchHooks.push(hook)
  }

  /** @param hook one of them; called only where snapshots are made, see `hasSnapshots` */
  beforeImage(hook: BeforeImage): void {
    this.#beforeImage = hook
  }

  /** Identifies the version of a template with which a launch of this user would create a container now. */
  fingerprintOf(user: SpecUser, template: Template): string {
    return containerSpec(user, template, this.#settings).fingerprint
  }

  /** Starts the container of the first type for a user who signs in, and what else templates ask for then. */
  startPrimary(user: User): Promise<unknown> {
    return this.prestart.afterSignIn(user, () => this.launch.startPrimary(user, new Date()))
  }

  /**
   * Publishes the state of these users to the gateway. When it resolves, connections that are forbidden now are closed.
   * A queued launch of a blocked user is refused at once, so that a stop does not wait for its slot.
   */
  async publishUsers(userIds: readonly number[]): Promise<void> {
    for (const userId of userIds) this.admission.recheck(userId)
    await Promise.all(userIds.map((userId) => this.routeSync.publishUser(userId)))
  }

  /** Stops those of these containers that are blocked; waits 8 s at most, and never throws: see `stopJustBlocked`. */
  stopBlocked(records: readonly UserContainer[]): Promise<void> {
    return this.#stopBlocked(records)
  }

  /**
   * Removes containers whose record was just deleted, and homes that are not kept; never throws: see `finishRemovals`.
   * @returns whether nothing is left
   */
  finishRemovals(containers: readonly RemovedContainer[]): Promise<boolean> {
    return this.#finishRemovals(containers)
  }

  /** Publishes all routes, and follows the engine until the signal. @throws when the store or the gateway fails */
  async publishRoutes(signal: AbortSignal): Promise<void> {
    await this.routeSync.publishAll(signal)
    this.#routesPublished.resolve()
  }

  /** Starts the timers that the present templates need; to be called again when the templates are others. */
  startTimers(): void {
    if (!this.#isForOneCommand) for (const timer of this.#timers) timer.start()
  }

  /** Numbers for `/metrics`, by name. */
  counts(): Readonly<Record<string, number>> {
    return {
      ...reconcilerMetrics(this.reconciler, this.containerReconciler, this.routeSync),
      ...this.launchMetrics.counts(),
      ...loadMetrics(this),
    }
  }

  /** Begins work without a request; tasks of the reconciler are started apart. */
  start(): void {
    this.hostResources.start()
    this.history.start()
  }

  /** Nothing begins afterwards but queued launches. Resolves when the work of the reconciler has ended. */
  async stop(): Promise<void> {
    for (const timer of [...this.#timers, this.prestart, this.hostResources, this.history]) timer.stop()
    await Promise.all([this.reconciler.stop(), this.containerReconciler.stop()])
  }

  /** Writes what is in memory alone. */
  async close(): Promise<void> {
    await tryOrLog(this.#log, 'writing when containers were used last', () => this.activity.writeAll())
  }
}

/** Follows changes of containers for this room; other rooms subscribe for themselves. */
function followChanges(
  { routeSync, activity, idleWarnings, layers, prestart, events }: Containers,
  launchControl: LaunchControl,
): void {
  routeSync.onChange({
    onStatus: (container, status) => {
      if (status === 'running') activity.noteRunning(container)
      if (status !== 'running' && status !== 'paused') activity.forgetTold(container)
      else if (status !== 'paused') idleWarnings.forget(container)
      if (status !== 'running' && status !== 'paused') layers.forget(container)
      launchControl.noteStatus(container, status)
      if (status !== 'running' && status !== 'paused') prestart.noteEnd(container)
      events.publish(container.userId, containerEvent(container.type, status, container))
    },
    onGone: (owned) => {
      activity.forget(owned)
      idleWarnings.forget(owned)
      layers.forget(owned)
      launchControl.noteGone(owned)
      prestart.noteEnd(owned)
      events.publish(owned.userId, containerEvent(owned.type, 'missing'))
    },
  })
}

/** Sends its status once more, by which open pages read their list again. */
function tellStatus({ routeSync, events }: Containers, container: ContainerState): void {
  const { userId, type } = container
  const found = routeSync.statusesOf(userId).find((each) => each.type === type)
  if (found) events.publish(userId, containerEvent(type, found.status, container))
}

/** Where stopped containers are not kept, a record without one is stopped, and never forgotten. */
const stoppedGraces = ({ keepsStopped }: Pick<RuntimeCapabilities, 'keepsStopped'>) =>
  keepsStopped ? {} : { forget: Infinity }

/** Its folder is made when a template has files. */
function starterFilesOf({ config, runtime, log }: ContainersParts): PutStarterFiles {
  const folder = path.join(config.dataDir, 'starter-files')
  const sources = new FileSources({ folder, roots: config.sources.mountRoots })
  return new PutStarterFiles({ files: runtime.containerFiles(), sources, folder, log })
}

/** Values for the environment of containers. */
function installationSettings({ config, installation, key, addresses }: ContainersParts): InstallationSettings {
  const { spawnerUrl, containerOrigin = null, frontendUrl } = addresses
  return {
    installation,
    spawnerUrl,
    containerOrigin,
    jwksUrl: `${frontendUrl}/api/.well-known/jwks.json`,
    get jwks() {
      return JSON.stringify(key.jwks)
    },
    sources: new TemplateSources(config.sources),
    get signingJwks() {
      return JSON.stringify(key.signingJwks)
    },
  }
}
