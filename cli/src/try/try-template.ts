import { awaitApp, type Arrival } from './await-app.ts'
import { breaks, hint, works, type Finding } from './finding.ts'
import { lookByHttp, lookForMixedContent, statusOf, type HttpTarget } from './http-look.ts'
import { judgeVisit } from './judge-visit.ts'
import { usualOpenPaths, type Candidate } from './next-fields.ts'
import { AppRefused, type LaunchedApp, type TryInstallation } from './try-installation.ts'
import { visitApp } from './visit-app.ts'
import type { Chromium } from './chromium.ts'
import type { VisitRecord } from './visit-record.ts'

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
