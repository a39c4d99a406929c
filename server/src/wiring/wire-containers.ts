import type { AppParts } from '#/app.ts'
import type { Addresses } from '#/config/config.ts'
import { Activity } from '#/containers/idle/activity.ts'
import { containerEvent } from '#/containers/events/container-event.ts'
import { DiskLimits } from '#/containers/disk/disk-limits.ts'
import { DiskUse } from '#/containers/disk/disk-use.ts'
import { UserEvents } from '#/containers/events/user-events.ts'
import { SingleFlight } from '#/concurrency/single-flight.ts'
import { IdleWarnings } from '#/containers/idle/idle-warnings.ts'
import { PreLaunchHooks } from '#/containers/queue/pre-launch-hooks.ts'
import { Launch } from '#/containers/launch/launch.ts'
import { ContainerLogs } from '#/containers/events/container-logs.ts'
import { OwnerActions } from '#/containers/owner-actions.ts'
import { RouteSync } from '#/containers/routing/route-sync.ts'
import { ContainerRemoval } from '#/containers/container-removal.ts'
import { IdleSuspension } from '#/containers/idle/idle-suspension.ts'
import { Spawner } from '#/containers/launch/spawner.ts'
import { StatusLookups } from '#/containers/state/status-lookups.ts'
import { Wake } from '#/containers/idle/wake.ts'
import { wireLaunching } from '#/wiring/wire-launching.ts'
import type { Tokens } from '#/wiring/wire-tokens.ts'

/** Everything that is done with containers, and what is known of them. */
export function wireContainers(
  { config, database, runtime, gateway, installation, key, pace, log }: AppParts,
  { spawnerUrl, frontendUrl }: Addresses,
  { streams, revocations }: Tokens,
) {
  const { templates } = config
  const report = (error: unknown, what: string) => log.warn({ err: error }, `${what} failed`)
  const activity = new Activity(database)
  const events = new UserEvents(
    streams,
    (userId) => [
      ...routeSync
        .statusesOf(userId)
        .map(({ type, status }) => containerEvent(type, status, routeSync.get({ userId, type }))),
      ...launching.launchProgress.current(userId),
      ...diskUse.current(userId),
      ...idleWarnings.current(userId),
    ],
    (userId) => launching.launchProgress.onListener(userId),
  )
  const routeSync = new RouteSync({
    db: database.db,
    runtime,
    templates,
    gateway,
    revoked: () => revocations.all(),
    onStatus: (container, status) => {
      if (status === 'running') activity.startOver(container)
      else if (status !== 'paused') idleWarnings.forget(container)
      launching.noteStatus(container, status)
      events.publish(container.userId, containerEvent(container.type, status, container))
    },
    onAccessRevoked: (userId) => streams.endUser(userId),
    onGone: (owned) => {
      activity.forget(owned)
      idleWarnings.forget(owned)
      launching.noteGone(owned)
      events.publish(owned.userId, containerEvent(owned.type, 'missing'))
    },
    report,
  })
  const idleWarnings = new IdleWarnings((userId, event) => events.publish(userId, event))
  const launching = wireLaunching({ config, database, runtime, log }, events, (owned) => routeSync.get(owned))
  const { admission, launchProgress, crashLoops, launchMetrics } = launching
  const singleFlight = new SingleFlight()
  const settings = {
    installation,
    spawnerUrl,
    jwksUrl: `${frontendUrl}/api/.well-known/jwks.json`,
    get jwks() {
      return JSON.stringify(key.jwks)
    },
    get signingJwks() {
      return JSON.stringify(key.signingJwks)
    },
  }
  const diskUse = new DiskUse({
    runtime,
    limits: new DiskLimits(templates, config.maxDiskPerUser),
    slugOf: (userId) => routeSync.personOf({ userId })?.slug,
    publish: (userId, event) => events.publish(userId, event),
    log,
    ...(pace?.measureHomes === undefined ? {} : { maxAge: pace.measureHomes }),
  })
  const preLaunchHooks = new PreLaunchHooks(database, [(user, template) => diskUse.refusalFor(user, template)])
  const removal = new ContainerRemoval({ runtime, database, singleFlight, installation })
  const shared = {
    runtime,
    database,
    singleFlight,
    routeSync,
    preLaunchHooks,
    admission,
    launchProgress,
    crashLoops,
    launchMetrics,
    log,
  }
  const spawner = new Spawner({ ...shared, settings, removal })
  const idleSuspension = new IdleSuspension({ runtime, database, gateway, singleFlight, routeSync, activity })
  return {
    ...launching,
    streams,
    events,
    idleWarnings,
    statusLookups: new StatusLookups(runtime),
    logs: new ContainerLogs({ database, runtime, templates }),
    activity,
    routeSync,
    spawner,
    diskUse,
    removal,
    singleFlight,
    launch: new Launch({ ...shared, spawner, templates, timeout: config.launchTimeout * 1_000 }),
    wake: new Wake({ ...shared, templates, spawner, activity, report }),
    idleSuspension,
    ownerActions: new OwnerActions({ ...shared, templates, idleSuspension, activity }),
  }
}

export type Containers = ReturnType<typeof wireContainers>
