import type { ContainerRef } from '#/store/user-containers.ts'
import { readinessTargetOf, waitForReadiness } from '#/containers/launch/readiness-probe.ts'
import { Prestart, PrestartTimes, type PrestartParts, type PrestartTimesParts } from '#/containers/idle/prestart.ts'
import { ImageFetches } from '#/containers/idle/image-fetches.ts'
import type { AdmissionControl } from '#/containers/launch/admission-control.ts'
import type { RouteSync } from '#/containers/routes/route-sync.ts'
import { isAddress } from '#/containers/routes/container-state.ts'
import { TemplateSources } from '#/templates/template-sources.ts'
import { listRecentUsersOf } from '#/store/users.ts'
import type { AppParts } from './app-parts.ts'

type Needs = Omit<PrestartParts, 'templates' | 'capabilities' | 'awaitReady' | 'isPaused' | 'log' | 'admission'> & {
  readonly routeSync: RouteSync
  readonly admission: AdmissionControl
}

/** What is done ahead: images are fetched, and containers started at sign-in and at set hours if a template asks for it. */
export function wirePrestart(
  { config, database, runtime, log }: AppParts,
  { routeSync, admission, ...needs }: Needs,
): { prestart: Prestart; prestartTimes: PrestartTimes; imageFetches: ImageFetches } {
  const { templates, sources, timeZone } = config
  const { capabilities } = runtime
  const isPaused = (owned: ContainerRef) => {
    const known = routeSync.get(owned)
    const where = known && routeSync.routeOf(known)?.where
    return where !== undefined && isAddress(where) && where.isPaused
  }
  const awaitReady: PrestartParts['awaitReady'] = async (owned, timeout, signal) => {
    const known = routeSync.get(owned)
    const where = known && routeSync.routeOf(known)?.where
    if (!known || !where || !isAddress(where)) return false
    const hasOwnHost = config.containerRouting === 'subdomain'
    const target = readinessTargetOf(templates.get(owned.type), known.prefix, hasOwnHost)
    return waitForReadiness(where, timeout, signal, target)
  }
  const prestart = new Prestart({ ...needs, templates, capabilities, admission, isPaused, awaitReady, log })
  admission.onShortage((owned, refusal) => prestart.makeRoom(owned, refusal))
  admission.onRequest((owned) => prestart.noteRequest(owned))
  const passwords = new TemplateSources(sources)
  const fetchImage: PrestartTimesParts['fetchImage'] = (template, signal) =>
    runtime.fetchImage(template.image, { signal, credentials: passwords.credentialsOf(template) })
  const imageFetches = new ImageFetches({ templates, isForAll: config.fetchesImages, fetchImage, log })
  const prestartTimes = new PrestartTimes({
    templates,
    prestart,
    usersOf: (type, since, page) => listRecentUsersOf(database.db, type, since, page),
    fetchImage,
    timeZone,
    now: () => Date.now(),
    log,
  })
  return { prestart, prestartTimes, imageFetches }
}
