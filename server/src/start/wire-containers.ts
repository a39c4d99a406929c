import path from 'node:path'
import { SingleFlight } from '#/machine/single-flight.ts'
import type { Addresses } from '#/config/config.ts'
import { ContainerRemoval } from '#/containers/container-removal.ts'
import { DiskLimits } from '#/homes/disk-limits.ts'
import { DiskUse } from '#/homes/disk-use.ts'
import { UserEventSubscriptions, UserEvents, containerEvent, type UserEvent } from '#/containers/user-events.ts'
import { ContainerLogs } from '#/containers/container-logs.ts'
import { Activity } from '#/containers/idle/activity.ts'
import { IdleSuspension } from '#/containers/idle/idle-suspension.ts'
import { IdleWarnings } from '#/containers/idle/idle-warnings.ts'
import { Wake } from '#/containers/launch/wake.ts'
import type { LaunchProgress } from '#/containers/launch/launch-progress.ts'
import { Launch } from '#/containers/launch/launch.ts'
import { FileSources } from '#/templates/starter-files/file-sources.ts'
import { PutStarterFiles } from '#/templates/starter-files/put-starter-files.ts'
import type { LaunchRules } from '#/templates/launch-rules.ts'
import { PreLaunchHooks, Spawner } from '#/containers/launch/spawner.ts'
import { OwnerActions } from '#/containers/idle/owner-actions.ts'
import type { Prestart } from '#/containers/idle/prestart.ts'
import { RouteSync, type RouteSyncParts } from '#/containers/routes/route-sync.ts'
import { ContainerIndex } from '#/containers/routes/container-index.ts'
import { OwnContainers, RestartRequests, StatusLookups } from '#/containers/routes/own-containers.ts'
import type { SpecUser } from '#/containers/launch/build-container-spec.ts'
import type { Template } from '#/templates/template.ts'
import { LookRequests } from '#/sharing/look-requests.ts'
import { Visitors } from '#/sharing/visitors.ts'
import { TemplateSources } from '#/templates/template-sources.ts'
import type { AppParts } from './app-parts.ts'
import { wireSnapshots } from './wire-snapshots.ts'
import { wireLaunching } from './wire-launching.ts'
import { wirePrestart } from './wire-prestart.ts'
import type { Tokens } from './wire-tokens.ts'

/** Container state, routing, launch, idle suspension and events. @param listAll a list of all containers, asked for now @param rules of groups */
export function wireContainers(
  parts: AppParts,
  addresses: Addresses,
  { streams, revocations }: Tokens,
  listAll: RouteSyncParts['listAll'],
  rules: LaunchRules,
) {
  const { config, database, runtime, gateway, installation, pace, log } = parts
  const { templates } = config
  const { capabilities } = runtime
  const report = (error: unknown, what: string) => log.warn({ err: error }, `${what} failed`)
  const activity = new Activity(database)
  const events = new UserEvents()
  const idleWarnings = new IdleWarnings((userId, event) => events.publish(userId, event))
  const index = new ContainerIndex(capabilities)
  const launching = wireLaunching(parts, events, index, rules)
  const { admission, launchProgress, crashLoops, launchMetrics } = launching
  const routeSync = new RouteSync({
    db: database.db,
    runtime,
    listAll,
    templates,
    gateway,
    index,
    revoked: () => revocations.all(),
    onAccessRevoked: (userId) => streams.endUser(userId),
    // Visitors and prestart are made below, from the routes: no route changes before this function returns.
    ...routeEvents({ activity, events, idleWarnings, launching }, () => ({ visitors, prestart: ahead.prestart })),
    report,
  })
  const diskUse = new DiskUse({
    runtime,
    limits: new DiskLimits(templates, config.maxDiskPerUser),
    rules,
    templates,
    slugOf: (userId) => routeSync.gatewayUserOf({ userId })?.slug,
    publish: (userId, event) => events.publish(userId, event),
    log,
    ...(pace?.measureHomes === undefined ? {} : { maxAge: pace.measureHomes }),
  })
  const singleFlight = new SingleFlight()
  const preLaunchHooks = new PreLaunchHooks(database, [
    (user, template) => rules.refusalFor(user, template, new Date()),
    (user, template) => diskUse.refusalFor(user, template),
  ])
  const removal = new ContainerRemoval({ runtime, database, singleFlight, installation })
  const snapshots = wireSnapshots(parts, singleFlight, removal, diskUse, streams)
  const spawner = new Spawner({
    runtime,
    database,
    settings: installationSettings(parts, addresses),
    singleFlight,
    routeSync,
    removal,
    preLaunchHooks,
    admission,
    launchProgress,
    crashLoops,
    starterFiles: starterFilesOf(parts),
    beforeImage: snapshots.beforeImage,
    launchMetrics,
    log,
  })
  const idleSuspension = new IdleSuspension({ runtime, database, gateway, singleFlight, routeSync, activity })
  const timeout = config.launchTimeout * 1_000
  const launch = new Launch({ database, spawner, templates, rules, launchProgress, activity, timeout, log })
  const ahead = wirePrestart(parts, { routeSync, admission, rules, spawner, activity, idleSuspension })
  const ownerActions = new OwnerActions({
    database,
    templates,
    admission,
    routeSync,
    idleSuspension,
    activity,
    log,
    capabilities,
  })
  const wake = new Wake({
    runtime,
    database,
    templates,
    singleFlight,
    routeSync,
    spawner,
    preLaunchHooks,
    admission,
    launchProgress,
    crashLoops,
    activity,
    report,
  })
  const visitors = new Visitors({
    containerAt: (prefix) => routeSync.findByPrefix(prefix),
    emailOf: (userId) => routeSync.gatewayUserOf({ userId })?.email,
    onChange: (userId, event) => events.publish(userId, event),
  })
  const lookRequests = new LookRequests({ onChange: (userId, event) => events.publish(userId, event) })
  const sources = [launchProgress, diskUse, idleWarnings, visitors, lookRequests]
  const subscriptions = subscriptionsOf({ events, streams, routeSync, launchProgress, sources })
  const restartRequests = new RestartRequests()
  return {
    activity,
    restartRequests,
    events,
    subscriptions,
    idleWarnings,
    capacity: launching.capacity,
    hostResources: launching.hostResources,
    history: launching.history,
    admission,
    launchMetrics,
    launchProgress,
    routeSync,
    ...snapshots,
    visitors,
    lookRequests,
    diskUse,
    singleFlight,
    removal,
    spawner,
    ...ahead,
    idleSuspension,
    launch,
    ownerActions,
    wake,
    templates,
    fingerprintOf: (user: SpecUser, template: Template) => spawner.fingerprintOf(user, template, {}),
    ownContainers: new OwnContainers(database.db, templates, rules, new StatusLookups(runtime), restartRequests),
    logs: new ContainerLogs({ database, runtime, templates, streams }),
  }
}

export type Containers = ReturnType<typeof wireContainers>

interface RouteEventsParts {
  readonly activity: Activity
  readonly events: UserEvents
  readonly idleWarnings: IdleWarnings
  readonly launching: Pick<ReturnType<typeof wireLaunching>, 'noteStatus' | 'noteGone'>
}

/** What follows from changes of containers. @param made parts that are made from the routes, called with a change */
function routeEvents(
  { activity, events, idleWarnings, launching }: RouteEventsParts,
  made: () => { readonly visitors: Visitors; readonly prestart: Prestart },
): Pick<RouteSyncParts, 'onStatus' | 'onGone'> {
  return {
    onStatus: (container, status) => {
      if (status === 'running') activity.startOver(container)
      else if (status !== 'paused') idleWarnings.forget(container)
      launching.noteStatus(container, status)
      if (status !== 'running' && status !== 'paused') made().prestart.noteEnd(container)
      events.publish(container.userId, containerEvent(container.type, status, container))
    },
    onGone: (owned) => {
      activity.forget(owned)
      idleWarnings.forget(owned)
      launching.noteGone(owned)
      made().visitors.forget(owned)
      made().prestart.noteEnd(owned)
      events.publish(owned.userId, containerEvent(owned.type, 'missing'))
    },
  }
}

interface SubscriptionSources {
  readonly events: UserEvents
  readonly streams: Tokens['streams']
  readonly routeSync: RouteSync
  readonly launchProgress: LaunchProgress
  /** Each tells its present state of a user's containers, in this order. */
  readonly sources: readonly { current(userId: number): readonly UserEvent[] }[]
}

/** Events for pages; each page begins with the present state. */
function subscriptionsOf({ events, streams, routeSync, launchProgress, sources }: SubscriptionSources) {
  return new UserEventSubscriptions({
    events,
    streams,
    snapshotOf: (userId) => [
      ...routeSync
        .statusesOf(userId)
        .map(({ type, status }) => containerEvent(type, status, routeSync.get({ userId, type }))),
      ...sources.flatMap((each) => each.current(userId)),
    ],
    onListener: (userId) => launchProgress.onListener(userId),
  })
}

/** Its folder is made when a template has files. */
function starterFilesOf({ config, runtime, log }: AppParts): PutStarterFiles {
  const folder = path.join(config.dataDir, 'starter-files')
  const sources = new FileSources({ folder, roots: config.sources.mountRoots })
  return new PutStarterFiles({ files: runtime.containerFiles(), sources, folder, log })
}

/** Values for the environment of containers; the keys are read at each launch, because they rotate. */
function installationSettings(
  { config, installation, key }: AppParts,
  { spawnerUrl, containerOrigin, frontendUrl }: Addresses,
) {
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
