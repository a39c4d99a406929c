import type { AppParts } from '#/app.ts'
import type { Addresses } from '#/config.ts'
import { Activity } from '#/containers/activity.ts'
import { containerEvent } from '#/containers/container-event.ts'
import { DiskLimits } from '#/containers/disk-limits.ts'
import { DiskUse } from '#/containers/disk-use.ts'
import { Events } from '#/containers/events.ts'
import { Flights } from '#/containers/flights.ts'
import { IdleWarnings } from '#/containers/idle-warnings.ts'
import { LaunchChecks } from '#/containers/launch-checks.ts'
import { Launch } from '#/containers/launch.ts'
import { Logs } from '#/containers/logs.ts'
import { OwnContainer } from '#/containers/own-container.ts'
import { Places } from '#/containers/places.ts'
import { Removal } from '#/containers/removal.ts'
import { Rest } from '#/containers/rest.ts'
import { Spawner } from '#/containers/spawner.ts'
import { StatusLookups } from '#/containers/status.ts'
import { Wake } from '#/containers/wake.ts'
import { wireLaunching } from '#/wiring/launching.ts'
import type { Tokens } from '#/wiring/tokens.ts'

/** Everything that is done with containers, and what is known of them. */
export function wireContainers(
  { config, database, runtime, gateway, instance, key, pace, log }: AppParts,
  { spawnerUrl, frontendUrl }: Addresses,
  { streams, revocations }: Tokens,
) {
  const { templates } = config
  const report = (error: unknown, what: string) => log.warn({ err: error }, `${what} failed`)
  const activity = new Activity(database)
  const events = new Events(
    streams,
    (userId) => [
      ...places
        .statusesOf(userId)
        .map(({ type, status }) => containerEvent(type, status, places.get({ userId, type }))),
      ...launching.stages.current(userId),
      ...diskUse.current(userId),
      ...idleWarnings.current(userId),
    ],
    (userId) => launching.stages.watch(userId),
  )
  const places = new Places({
    db: database.db,
    runtime,
    templates,
    gateway,
    revoked: () => revocations.all(),
    onStatus: (container, status) => {
      if (status === 'running') activity.startOver(container)
      else if (status !== 'paused') idleWarnings.forget(container)
      launching.noteStatus(container, status)
      events.tell(container.userId, containerEvent(container.type, status, container))
    },
    onShutOut: (userId) => streams.endUser(userId),
    onGone: (owned) => {
      activity.forget(owned)
      idleWarnings.forget(owned)
      launching.noteGone(owned)
      events.tell(owned.userId, containerEvent(owned.type, 'missing'))
    },
    report,
  })
  const idleWarnings = new IdleWarnings((userId, event) => events.tell(userId, event))
  const launching = wireLaunching({ config, database, runtime, log }, events, (owned) => places.get(owned))
  const { admission, stages, crashLoops, launchCounts } = launching
  const flights = new Flights()
  const settings = {
    instance,
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
    slugOf: (userId) => places.personOf({ userId })?.slug,
    tell: (userId, event) => events.tell(userId, event),
    log,
    ...(pace?.measureHomes === undefined ? {} : { oldAfter: pace.measureHomes }),
  })
  const checks = new LaunchChecks(database, [(user, template) => diskUse.refusalFor(user, template)])
  const removal = new Removal({ runtime, database, flights, instance })
  const shared = { runtime, database, flights, places, checks, admission, stages, crashLoops, launchCounts, log }
  const spawner = new Spawner({ ...shared, settings, removal })
  const rest = new Rest({ runtime, database, gateway, flights, places, activity })
  return {
    ...launching,
    streams,
    events,
    idleWarnings,
    statusLookups: new StatusLookups(runtime),
    logs: new Logs({ database, runtime, templates }),
    activity,
    places,
    spawner,
    diskUse,
    removal,
    flights,
    launch: new Launch({ ...shared, spawner, templates, timeout: config.launchTimeout * 1_000 }),
    wake: new Wake({ ...shared, templates, spawner, activity, report }),
    rest,
    ownContainer: new OwnContainer({ ...shared, templates, rest, activity }),
  }
}

export type Containers = ReturnType<typeof wireContainers>
