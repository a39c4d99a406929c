import { askIdleProbe } from '@berth/server/containers/open-containers.ts'
import type { ImageProgram } from '@berth/server/engines/trial-engine.ts'
import { catalogueEntries } from '@berth/server/templates/catalogue.ts'
import { idleProbeNames, type IdleProbe } from '@berth/server/templates/template.ts'
import type { Chromium } from './chromium.ts'
import {
  awaitApp,
  breaks,
  hint,
  lookByHttp,
  lookForMixedContent,
  works,
  type Arrival,
  type Finding,
  type HttpTarget,
} from './http-look.ts'
import { judgeVisit } from './judge-visit.ts'
import { AppRefused, type Fields, type LaunchedApp, type TryInstallation } from './try-installation.ts'
import { visitApp, type VisitRecord } from './visit-app.ts'

/** Outcome for an image or a template. */
export interface TrialResult {
  /** The first is the template as given. */
  readonly attempts: readonly Attempt[]
  /** The simplest template that was tried and works; null when none does. */
  readonly proposal: Attempt | null
}

/**
 * Tries the template as given; while it breaks, what mends it by what was seen: the template of the catalogue that image or
 * program name, corrections that an attempt names itself, `strip_prefix`, and at last a host of its own, until one works.
 * @param attempt tries one @param onAttempt called after each
 */
export async function findTemplate(
  given: Fields,
  program: ImageProgram,
  attempt: (candidate: Candidate) => Promise<Attempt>,
  onAttempt: (attempt: Attempt) => void,
): Promise<TrialResult> {
  const attempts: Attempt[] = []
  const run = async (candidate: Candidate) => {
    const tried = await attempt(candidate)
    attempts.push(tried)
    onAttempt(tried)
    return tried
  }
  const first = await run({ change: 'as given', fields: given, routing: 'path' })
  const known = first.works ? undefined : catalogueCandidate(given, program)
  if (known && !isSame(known.fields, given)) {
    const asKnown = await run(known)
    if (asKnown.works) return { attempts, proposal: asKnown }
  }
  let last = first
  for (let next; !last.works && (next = correctionOf(last, attempts)); last = await run(next));
  const { fields, startedAfter } = last
  if (startedAfter !== null)
    for (const candidate of prefixCandidates(fields)) if (!last.works) last = await run(candidate)
  return { attempts, proposal: last.works ? last : null }
}

/** What an attempt itself says how to correct; each correction is tried once. */
function correctionOf(last: Attempt, attempts: readonly Attempt[]): Candidate | undefined {
  const { fields, otherPort, findings } = last
  const corrections: (Candidate | false)[] = [
    otherPort !== null && { change: `port: ${otherPort}`, fields: { ...fields, port: otherPort }, routing: 'path' },
    findings.some(({ kind }) => kind === 'isolation') && {
      change: 'allow_headers: [cross-origin-opener-policy]',
      fields: { ...fields, allow_headers: ['cross-origin-opener-policy'] },
      routing: 'path',
    },
  ]
  return corrections.find((each) => each && !attempts.some(({ change }) => change === each.change)) || undefined
}

const isSame = (a: Fields, b: Fields) => JSON.stringify(a) === JSON.stringify(b)

/** What became of a template. */
export interface Attempt extends Candidate {
  readonly works: boolean
  readonly findings: readonly Finding[]
  /** ms from the start of its program to its first answer; null without one. */
  readonly startedAfter: number | null
  readonly seen: { readonly requests: number; readonly sockets: number; readonly clicks: number }
  /** Where it listens instead of the port of the template; null: not known. */
  readonly otherPort: number | null
}

/** Where and how long an application is tried. */
export interface Bench {
  readonly installation: TryInstallation
  /** Null: by HTTP alone. */
  readonly chromium: Chromium | null
  /** For its start, and for clicking around, in ms. */
  readonly startLimit: number
  readonly clickTime: number
}

/** From this on a start is worth a hint, in ms. */
const slowStart = 20_000

/** Launches a container with the template, looks at its application, and removes it. @throws the reason of the signal */
export async function tryTemplate(bench: Bench, candidate: Candidate, signal: AbortSignal): Promise<Attempt> {
  let app: LaunchedApp | undefined
  try {
    app = await bench.installation.launch(candidate.fields)
    return await lookAt(bench, candidate, app, signal)
  } catch (error) {
    if (error instanceof AppRefused) return failed(candidate, [breaks('start', error.message)])
    throw error
  } finally {
    await app?.remove()
  }
}

async function lookAt(bench: Bench, candidate: Candidate, app: LaunchedApp, signal: AbortSignal): Promise<Attempt> {
  const openPath = String(candidate.fields.open_path ?? '').replace(/^\//, '')
  const isRunning = () => app.isRunning()
  const arrival = await awaitApp(app.address, app.pathOf(openPath), bench.startLimit, isRunning, signal)
  if (arrival.answeredAfter === null) {
    const findings = [
      noAnswer(app, arrival),
      ...(await app.lastLines()).map((line) => hint('start', `it wrote: ${line}`)),
    ]
    return { ...failed(candidate, findings), otherPort: arrival.otherPort }
  }
  const token = await bench.installation.token()
  const http: HttpTarget = {
    host: '127.0.0.1',
    port: bench.installation.port,
    headers: { cookie: `spawner_token=${token}` },
  }
  const record = await visit(bench, app, openPath, http, signal)
  const findings = [
    ...judgeVisit(record, { home: app.home, platform: [bench.installation.platformOrigin] }),
    ...(await lookForMixedContent(app.address, app.home, app.pathOf(openPath), signal)),
    ...slowness(arrival),
  ]
  const probe = await idleProbeOf(candidate, app)
  if (probe) findings.push(hint('idle', `it says whether it is used: idle_probe: ${probe}`))
  if (openPath === '' && findings.some(({ kind, what }) => kind === 'page' && / 40\d$/.test(what)))
    findings.push(hint('page', 'its first page may be below another path: set open_path'))
  return {
    ...candidate,
    fields: probe ? { ...candidate.fields, idle_probe: probe } : candidate.fields,
    works: works(findings),
    findings,
    startedAfter: Math.round(arrival.answeredAfter),
    seen: { requests: record.requests.length, sockets: record.sockets.length, clicks: record.clicks },
    otherPort: null,
  }
}

/** The application that it is, of those that Berth can ask whether they are used; undefined where the template says it, or it is none. */
async function idleProbeOf({ fields, routing }: Candidate, app: LaunchedApp): Promise<IdleProbe | undefined> {
  if (fields.idle_probe !== undefined) return undefined
  const prefix = new URL(app.home).pathname.split('/')[1] ?? ''
  for (const idleProbe of idleProbeNames) {
    const template = {
      idleProbe,
      stripPrefix: fields.strip_prefix !== false,
      scheme: fields.scheme === 'https' ? 'https' : 'http',
    } as const
    if (await askIdleProbe(template, { ...app.address, prefix }, routing === 'subdomain')) return idleProbe
  }
  return undefined
}

async function visit(
  { installation, chromium, clickTime }: Bench,
  { home }: LaunchedApp,
  openPath: string,
  http: HttpTarget,
  signal: AbortSignal,
): Promise<VisitRecord> {
  if (!chromium) return lookByHttp(http, home + openPath, signal)
  const target = { home, openPath, token: await installation.token(), cookieDomain: installation.cookieDomain }
  return visitApp(chromium, target, clickTime, signal)
}

/** An attempt that came to nothing. */
export function failed(candidate: Candidate, findings: readonly Finding[]): Attempt {
  const seen = { requests: 0, sockets: 0, clicks: 0 }
  return { ...candidate, works: false, findings, startedAfter: null, seen, otherPort: null }
}

function noAnswer({ address: { port } }: LaunchedApp, { openAfter, otherPort }: Arrival): Finding {
  if (otherPort !== null) return breaks('start', `it listens on port ${otherPort}, not on port ${port}`)
  if (openAfter !== null) return breaks('start', `port ${port} is open, but no request is answered below 500`)
  return breaks('start', `nothing listens on port ${port} that can be reached; a program has to listen on 0.0.0.0`)
}

function slowness({ openAfter, answeredAfter }: Arrival): Finding[] {
  if (openAfter === null || answeredAfter === null) return []
  const seconds = (ms: number) => (ms / 1_000).toFixed(0)
  if (answeredAfter - openAfter > 1_000)
    return [
      hint(
        'slow',
        `its port is open after ${seconds(openAfter)} s, but it answers after ${seconds(answeredAfter)} s: set ready_path`,
      ),
    ]
  return answeredAfter > slowStart ? [hint('slow', `it answers after ${seconds(answeredAfter)} s`)] : []
}

/** A template that may work where another did not. */
export interface Candidate {
  /** What is different, for the report. */
  readonly change: string
  readonly fields: Fields
  readonly routing: 'path' | 'subdomain'
}

/** What may mend addresses outside of the prefix, the simplest first; a host of its own mends all that is left. */
function prefixCandidates(fields: Fields): Candidate[] {
  const flipped = fields.strip_prefix === false
  return [
    { change: `strip_prefix: ${flipped}`, fields: { ...fields, strip_prefix: flipped }, routing: 'path' },
    { change: 'a host of its own (CONTAINER_ROUTING=subdomain)', fields, routing: 'subdomain' },
  ]
}

/** The template of the catalogue whose application the image or its program names, with this image; undefined if there is none. */
function catalogueCandidate(fields: Fields, program: ImageProgram): Candidate | undefined {
  const image = String(fields.image)
  const words = [image.replace(/:[^/]*$/, ''), ...program.entrypoint, ...program.command].join(' ').toLowerCase()
  const isNamed = (name: string) => new RegExp(`\\b${name.replace('-', '.?')}\\b`).test(words)
  const entry = catalogueEntries().find(({ name }) => isNamed(name))
  return entry && { change: `as ${entry.name} of the catalogue`, fields: { ...entry.fields, image }, routing: 'path' }
}
