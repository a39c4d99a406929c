import type { ImageProgram } from '@berth/server/engines/trial-engine.ts'
import { catalogueEntries } from '@berth/server/templates/catalogue.ts'
import type { Chromium } from './chromium.ts'
import {
  awaitApp,
  breaks,
  hint,
  lookByHttp,
  lookForMixedContent,
  statusOf,
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

/** Corrections of port, address, first page and headers that may be needed one after the other. */
const maxCorrections = 4

/**
 * Tries the template as given; while it breaks, others that may mend what was found, until one works.
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
  const asKnown = known && !isSame(known.fields, given) ? await run(known) : undefined
  if (asKnown?.works) return { attempts, proposal: asKnown }
  let last = first
  for (let count = 0; count < maxCorrections && !last.works; count += 1) {
    const correction = correctionOf(last, attempts)
    if (!correction) break
    last = await run(correction)
  }
  if (last.works) return { attempts, proposal: last }
  if (last.startedAfter === null) return { attempts, proposal: null }
  for (const candidate of candidatesForPrefix(last.fields, program)) {
    const tried = await run(candidate)
    if (tried.works) return { attempts, proposal: await simplest(tried, last.fields, program, run) }
  }
  return { attempts, proposal: null }
}

/** What an attempt itself says how to correct; each correction is tried once. */
function correctionOf(last: Attempt, attempts: readonly Attempt[]): Candidate | undefined {
  const { fields, otherPort, otherOpenPath, startedAfter, findings } = last
  const corrections: (Candidate | false)[] = [
    otherPort !== null && { change: `port: ${otherPort}`, fields: { ...fields, port: otherPort }, routing: 'path' },
    startedAfter === null && listeningEverywhere(fields),
    otherOpenPath !== null && {
      change: `open_path: ${otherOpenPath}`,
      fields: { ...fields, open_path: otherOpenPath },
      routing: 'path',
    },
    findings.some(({ kind }) => kind === 'isolation') && {
      change: 'allow_headers: [cross-origin-opener-policy]',
      fields: { ...fields, allow_headers: ['cross-origin-opener-policy'] },
      routing: 'path',
    },
  ]
  return corrections.find((each) => each && !attempts.some(({ change }) => change === each.change)) || undefined
}

const isSame = (a: Fields, b: Fields) => JSON.stringify(a) === JSON.stringify(b)

/** Of several variables one may be enough. */
async function simplest(
  found: Attempt,
  given: Fields,
  program: ImageProgram,
  run: (candidate: Candidate) => Promise<Attempt>,
): Promise<Attempt> {
  for (const candidate of withFewerVariables(found, given, program)) {
    const tried = await run(candidate)
    if (tried.works) return tried
  }
  return found
}

/** What became of a template. */
export interface Attempt extends Candidate {
  readonly works: boolean
  readonly findings: readonly Finding[]
  /** ms from the start of its program to its first answer; null without one. */
  readonly startedAfter: number | null
  readonly seen: { readonly requests: number; readonly sockets: number; readonly clicks: number }
  /** Where it listens instead of the port of the template; null: not known. */
  readonly otherPort: number | null
  /** Path of a first page that was found while the one of the template has none. */
  readonly otherOpenPath: string | null
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
  const isMissing =
    candidate.routing === 'path' &&
    openPath === '' &&
    findings.some(({ kind, what }) => kind === 'page' && / 40\d$/.test(what))
  return {
    ...candidate,
    works: works(findings),
    findings,
    startedAfter: Math.round(arrival.answeredAfter),
    seen: { requests: record.requests.length, sockets: record.sockets.length, clicks: record.clicks },
    otherPort: null,
    otherOpenPath: isMissing ? await findOpenPath(http, app.home, signal) : null,
  }
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
  return { ...candidate, works: false, findings, startedAfter: null, seen, otherPort: null, otherOpenPath: null }
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

async function findOpenPath(http: HttpTarget, home: string, signal: AbortSignal): Promise<string | null> {
  for (const path of usualOpenPaths) {
    const { status, mimeType } = await statusOf(http, home + path, signal)
    if (status === 200 && mimeType === 'text/html') return path
  }
  return null
}

/** A template that may work where another did not. */
export interface Candidate {
  /** What is different, for the report. */
  readonly change: string
  readonly fields: Fields
  readonly routing: 'path' | 'subdomain'
}

/** Variables from which frameworks and images take their base path. */
const baseVariables = [
  'ROOT_PATH',
  'BASE_URL',
  'BASEURL',
  'URL_PREFIX',
  'SCRIPT_NAME',
  'CONTEXT_PATH',
  'PUBLIC_URL',
  'UVICORN_ROOT_PATH',
  'GRADIO_ROOT_PATH',
  'STREAMLIT_SERVER_BASE_URL_PATH',
  'SERVER_SERVLET_CONTEXT_PATH',
]

/** Variables from which programs take the address that they listen on. */
const hostVariables = {
  HOST: '0.0.0.0',
  HOSTNAME: '0.0.0.0',
  GRADIO_SERVER_NAME: '0.0.0.0',
  STREAMLIT_SERVER_ADDRESS: '0.0.0.0',
}

/** Where applications have their first page, if not at the root. */
const usualOpenPaths = [
  'vnc.html?autoconnect=1',
  'lab',
  'tree',
  'ui/',
  'app/',
  'web/',
  'admin/',
  'index.html',
  'index.php',
]

/** With the variables that have programs listen on all addresses. */
function listeningEverywhere(fields: Fields): Candidate {
  const env = { ...hostVariables, ...(fields.env as Record<string, string> | undefined) }
  return {
    change: 'variables for an address that can be reached, such as HOST=0.0.0.0',
    fields: { ...fields, env },
    routing: 'path',
  }
}

/** What may mend addresses outside of the prefix, the simplest first; hosts of their own mend all that is left. */
function* candidatesForPrefix(fields: Fields, program: ImageProgram): Generator<Candidate> {
  const path = { routing: 'path' } as const
  const flipped = fields.strip_prefix === false
  yield { change: `strip_prefix: ${flipped}`, fields: { ...fields, strip_prefix: flipped }, ...path }
  for (const stripPrefix of [true, false]) {
    const command = withVariables(fields, program, baseVariables)
    if (command) {
      const change = `strip_prefix: ${stripPrefix}, and the prefix in variables such as BASE_URL`
      yield { change, fields: { ...fields, strip_prefix: stripPrefix, command }, ...path }
    }
  }
  yield { change: 'a host of its own (CONTAINER_ROUTING=subdomain)', fields, routing: 'subdomain' }
}

/** The same with one of its variables alone, for each of them; nothing for other fields. */
function* withFewerVariables(
  { fields, routing }: Candidate,
  given: Fields,
  program: ImageProgram,
): Generator<Candidate> {
  if (JSON.stringify(fields.command) !== JSON.stringify(withVariables(given, program, baseVariables))) return
  for (const name of baseVariables) {
    const command = withVariables(given, program, [name])
    if (command) yield { change: `of the variables ${name} alone`, fields: { ...fields, command }, routing }
  }
}

/** The program of the template or image, started by a shell that sets variables to the prefix; undefined without a known program. */
function withVariables({ command }: Fields, program: ImageProgram, names: readonly string[]): string[] | undefined {
  const own = Array.isArray(command) ? (command as string[]) : program.command
  if (own.length === 0) return undefined
  const assignments = names.map((name) => `${name}="$BASE_PATH"`).join(' ')
  return ['sh', '-c', `export ${assignments}; exec "$@"`, 'sh', ...own]
}

/** The template of the catalogue whose application the image or its program names, with this image; undefined if there is none. */
function catalogueCandidate(fields: Fields, program: ImageProgram): Candidate | undefined {
  const image = String(fields.image)
  const words = [image.replace(/:[^/]*$/, ''), ...program.entrypoint, ...program.command].join(' ').toLowerCase()
  const isNamed = (name: string) => new RegExp(`\\b${name.replace('-', '.?')}\\b`).test(words)
  const entry = catalogueEntries().find(({ name }) => isNamed(name))
  return entry && { change: `as ${entry.name} of the catalogue`, fields: { ...entry.fields, image }, routing: 'path' }
}
