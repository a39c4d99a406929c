import type { ContainersParts } from './containers-parts.ts'
import type { AdmissionControl } from '#/containers/launch/admission-control.ts'
import { readinessTargetOf, waitForReadiness } from '#/containers/launch/readiness-probe.ts'
import type { Spawner } from '#/containers/launch/spawner.ts'
import { isAddress } from '#/containers/routes/container-state.ts'
import type { RouteSync } from '#/containers/routes/route-sync.ts'
import type { ContainerRef } from '#/store/user-containers.ts'
import { listRecentUsersOf } from '#/store/users.ts'
import { TemplateSources } from '#/templates/template-sources.ts'
import type { Activity } from '#/containers/idle/activity.ts'
import type { IdleSuspension } from '#/containers/idle/idle-suspension.ts'
import { IdleProbes } from '#/containers/idle/idle-probes.ts'
import { IdleTimeoutMonitor } from '#/containers/idle/idle-timeout-monitor.ts'
import type { IdleWarnings } from '#/containers/idle/idle-warnings.ts'
import type { LayerMonitor } from '#/containers/idle/layer-monitor.ts'
import { ImageFetches } from '#/containers/launch/image-fetches.ts'
import { LifetimeMonitor } from '#/containers/idle/lifetime-monitor.ts'
import { Prestart, PrestartTimes, type PrestartParts, type PrestartTimesParts } from '#/containers/launch/prestart.ts'

/** Runs only while a template needs it. */
export interface ContainerTimer {
  start(): void
  stop(): void
}

/** What timers look at, and act by. */
export interface TimedParts {
  readonly routeSync: RouteSync
  readonly idleSuspension: IdleSuspension
  readonly activity: Activity
  readonly idleWarnings: IdleWarnings
  readonly prestart: Prestart
  readonly layers: LayerMonitor
}

/** What suspends and stops containers, starts them at set hours, and fetches images ahead. */
export function timersOf(
  { config, database, runtime, log }: Pick<ContainersParts, 'config' | 'database' | 'runtime' | 'log'>,
  { routeSync, idleSuspension, activity, idleWarnings: warnings, prestart, layers }: TimedParts,
): readonly ContainerTimer[] {
  const { templates, timeZone } = config
  const hasOwnHost = config.containerRouting === 'subdomain'
  const now = () => Date.now()
  const passwords = new TemplateSources(config.sources)
  // Images of environments are built here, and no registry has them.
  const fetchImage: PrestartTimesParts['fetchImage'] = async (template, signal) => {
    if (template.environment !== null) return
    await runtime.fetchImage(template.image, { signal, credentials: passwords.credentialsOf(template) })
  }
  const usersOf: PrestartTimesParts['usersOf'] = (type, since, page) =>
    listRecentUsersOf(database.db, type, since, page)
  return [
    new IdleTimeoutMonitor({
      templates,
      routeSync,
      idleSuspension,
      activity,
      probes: new IdleProbes({ templates, routeSync, activity, hasOwnHost }),
      runtime,
      warnings,
      log,
    }),
    new LifetimeMonitor({ templates, routeSync, idleSuspension, runtime, warnings, timeZone, now, log }),
    layers,
    new PrestartTimes({ templates, prestart, usersOf, fetchImage, timeZone, now, log }),
    new ImageFetches({ templates, isForAll: config.fetchesImages, fetchImage, log }),
  ]
}

/** What starts containers ahead; it follows requests for launches, and makes room for them. */
export function prestartOf(
  { config, runtime, rules, log }: Pick<ContainersParts, 'config' | 'runtime' | 'rules' | 'log'>,
  parts: Omit<TimedParts, 'prestart' | 'idleWarnings' | 'layers'> & {
    readonly admission: AdmissionControl
    readonly spawner: Spawner
  },
): Prestart {
  const { routeSync, idleSuspension, activity, admission, spawner } = parts
  const prestart = new Prestart({
    rules,
    spawner,
    activity,
    idleSuspension,
    templates: config.templates,
    capabilities: runtime.capabilities,
    admission,
    isPaused: (owned) => addressOf(routeSync, owned)?.where.isPaused === true,
    awaitReady: awaitReady(config, routeSync),
    log,
  })
  admission.onShortage((owned, refusal) => prestart.makeRoom(owned, refusal))
  admission.onRequest((owned) => prestart.noteRequest(owned))
  return prestart
}

function addressOf(routeSync: RouteSync, owned: ContainerRef) {
  const known = routeSync.get(owned)
  const where = known && routeSync.routeOf(known)?.where
  return known && where && isAddress(where) ? { known, where } : undefined
}

const awaitReady =
  ({ templates, containerRouting }: ContainersParts['config'], routeSync: RouteSync): PrestartParts['awaitReady'] =>
  async (owned, timeout, signal) => {
    const found = addressOf(routeSync, owned)
    if (!found) return false
    const hasOwnHost = containerRouting === 'subdomain'
    const target = readinessTargetOf(templates.get(owned.type), found.known.prefix, hasOwnHost)
    return waitForReadiness(found.where, timeout, signal, target)
  }
