import { request } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { newRecord, type VisitRecord } from './visit-app.ts'

/** An answer of the application, as the gateway passes it on. */
interface Answer {
  readonly status: number
  readonly location: string | null
  readonly mimeType: string
  /** Of text; cut at two megabytes. */
  readonly body: string
}

/** Where HTTP is asked: the gateway, or an application itself. */
export interface HttpTarget {
  readonly host: string
  readonly port: number
  /** Beside `Host`: the cookie of the gateway. */
  readonly headers: Readonly<Record<string, string>>
}

/** Timeout of a request in ms, bytes of a page that are read, redirects that are followed, and parts that are asked for. */
const [requestTimeout, maxBody, maxRedirects, maxParts] = [30_000, 2_000_000, 10, 15]

/**
 * Looks at an application by HTTP alone: its first page with redirects, and the parts that its text names. Scripts do not run,
 * so sockets, service workers and what scripts ask for are not seen.
 * @throws {Error} when the gateway does not answer
 */
export async function lookByHttp(target: HttpTarget, start: string, signal: AbortSignal): Promise<VisitRecord> {
  const record = newRecord()
  const page = await followRedirects(target, start, record, signal)
  if (!page) return record
  const parts = partsOf(page.body, record.finalUrl)
  record.links.push(...parts.map(({ url }) => url))
  const loaded = parts.filter(({ type, url }) => type !== null && sameOrigin(url, start))
  for (const { url, type } of loaded.slice(0, maxParts)) {
    const { status, mimeType } = await ask(target, url, signal)
    record.requests.push({ url, type: type ?? '', status, mimeType, failure: null })
  }
  return record
}

/**
 * Whether the application writes addresses with `http:` where its users come by https, which browsers refuse as mixed content.
 * It is asked as the gateway would behind TLS.
 * @param app the application itself @param home with its slash @param path as the application sees it
 */
export async function lookForMixedContent(
  app: Pick<HttpTarget, 'host' | 'port'>,
  home: string,
  path: string,
  signal: AbortSignal,
): Promise<Finding[]> {
  const { host, origin, pathname } = new URL(home)
  const prefix = pathname.slice(0, -1)
  const headers = {
    'x-forwarded-proto': 'https',
    'x-forwarded-host': host,
    ...(prefix && { 'x-forwarded-prefix': prefix }),
  }
  const { body, location } = await ask({ ...app, headers }, origin + path, signal)
  const found = [location ?? '', ...body.split(/["'\s]/)].find((text) => text.startsWith(`${origin}/`))
  if (found === undefined) return []
  return [breaks('mixed content', `it writes ${found.replace(/[?#].*/, '')} although its visitor came by https`)]
}

async function followRedirects(
  target: HttpTarget,
  start: string,
  record: VisitRecord,
  signal: AbortSignal,
): Promise<Answer | undefined> {
  let url = start
  for (let count = 0; count <= maxRedirects; count += 1) {
    record.finalUrl = url
    const answer = await ask(target, url, signal)
    const { status, mimeType, location } = answer
    record.requests.push({ url, type: 'Document', status, mimeType, failure: null })
    if (location === null) return answer
    const to = new URL(location, url).href
    record.redirects.push({ from: url, to })
    if (!sameOrigin(to, start)) return undefined
    url = to
  }
  record.requests.push({ url, type: 'Document', status: null, mimeType: '', failure: 'ERR_TOO_MANY_REDIRECTS' })
  return undefined
}

async function ask({ host, port, headers: own }: HttpTarget, url: string, signal: AbortSignal): Promise<Answer> {
  const { host: named, pathname, search } = new URL(url)
  const headers = { host: named, accept: 'text/html,*/*', 'accept-encoding': 'identity', ...own }
  const until = AbortSignal.any([signal, AbortSignal.timeout(requestTimeout)])
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const asked = request({ host, port, path: pathname + search, headers, signal: until }, (response) => {
    const { statusCode: status = 0, headers } = response
    const location = status >= 300 && status < 400 ? (headers.location ?? null) : null
    const mimeType = (headers['content-type'] ?? '').replace(/;.*/, '').trim()
    let body = ''
    const end = () => resolve({ status, location, mimeType, body })
    response.setEncoding('utf8').on('data', (text: string) => {
      body += text
      // An endless answer, such as an event stream, is not read to its end.
      if (body.length > maxBody || mimeType === 'text/event-stream') response.destroy()
    })
    response.on('end', end).on('close', end).on('error', end)
  })
  asked.on('error', reject).end()
  return promise
}

/** Addresses in the attributes of a page; `type` of those that a browser loads with it. */
function partsOf(html: string, page: string): { url: string; type: string | null }[] {
  const base = /<base\b[^>]*\bhref\s*=\s*["']?([^"'\s>]+)/i.exec(html)?.[1] ?? page
  const tags = html.matchAll(/<(a|area|script|link|img|iframe|form|source)\b([^>]*)>/gi)
  return [...tags].flatMap(([, tag = '', attributes = '']) => {
    const [, , , quoted, plain] =
      /(^|\s)(src|href|action)\s*=\s*(?:["']([^"']*)["']|([^\s"'>]+))/i.exec(attributes) ?? []
    const address = quoted ?? plain
    if (address === undefined || !URL.canParse(address, new URL(base, page).href)) return []
    const { href: url, protocol } = new URL(address, new URL(base, page))
    return protocol.startsWith('http') ? [{ url, type: typeOf(tag.toLowerCase(), attributes) }] : []
  })
}

function typeOf(tag: string, attributes: string): string | null {
  if (tag === 'script') return 'Script'
  if (tag === 'img') return 'Image'
  return tag === 'link' && /\bstylesheet\b/i.test(attributes) ? 'Stylesheet' : null
}

const sameOrigin = (url: string, other: string) => new URL(url).origin === new URL(other).origin

/** Where an application is expected, on the network of the engine. */
export interface AppAddress {
  readonly host: string
  readonly port: number
}

/** How an application came up. */
export interface Arrival {
  /** ms until its port was open; null when it never was. */
  readonly openAfter: number | null
  /** ms until it answered below 500; null when it did not. */
  readonly answeredAfter: number | null
  /** A port that is open instead of the expected one. */
  readonly otherPort: number | null
}

/** Ports that web applications listen on by default. */
const usualPorts = [
  80, 1880, 2718, 3000, 3001, 3838, 4000, 4200, 4321, 5000, 5001, 5173, 5601, 6006, 6080, 6901, 7681, 7860, 8000, 8001,
  8080, 8081, 8088, 8090, 8443, 8501, 8787, 8888, 9000, 9090,
]
/** When other ports are looked at first, how often anything is, and how long a connection may take, in ms. */
const [otherPortsAfter, pause, connectTimeout] = [4_000, 250, 1_000]

/**
 * Waits until an application answers, or listens elsewhere, or ends.
 * @param limit ms @param path of the request, as the application sees it @param isRunning asked now and then
 * @throws the reason of the signal
 */
export async function awaitApp(
  { host, port }: AppAddress,
  path: string,
  limit: number,
  isRunning: () => Promise<boolean>,
  signal: AbortSignal,
): Promise<Arrival> {
  const begin = performance.now()
  let openAfter: number | null = null
  for (let round = 0; performance.now() - begin < limit; round += 1) {
    const now = performance.now() - begin
    if (await isOpen(host, port)) {
      openAfter ??= performance.now() - begin
      if (await answers(host, port, path))
        return { openAfter, answeredAfter: performance.now() - begin, otherPort: null }
    } else if (now > otherPortsAfter && round % 8 === 0) {
      const otherPort = await openPort(host, port)
      if (otherPort !== null) return { openAfter, answeredAfter: null, otherPort }
    }
    if (round % 8 === 7 && !(await isRunning())) break
    await wait(pause, undefined, { signal })
  }
  return { openAfter, answeredAfter: null, otherPort: null }
}

async function openPort(host: string, expected: number): Promise<number | null> {
  const others = usualPorts.filter((port) => port !== expected)
  const open = await Promise.all(others.map((port) => isOpen(host, port)))
  return others.find((_, at) => open[at]) ?? null
}

function isOpen(host: string, port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect({ host, port, timeout: connectTimeout })
  const end = (isThere: boolean) => {
    socket.destroy()
    resolve(isThere)
  }
  socket
    .once('connect', () => end(true))
    .once('error', () => end(false))
    .once('timeout', () => end(false))
  return promise
}

function answers(host: string, port: number, path: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const asked = request({ host, port, path, timeout: 5_000, headers: { host: `${host}:${port}` } }, (response) => {
    response.destroy()
    resolve((response.statusCode ?? 500) < 500)
  })
  asked
    .on('timeout', () => asked.destroy())
    .on('error', () => resolve(false))
    .end()
  return promise
}

/** What a finding is about. */
export type FindingKind =
  | 'start'
  | 'slow'
  | 'page'
  | 'address'
  | 'redirect'
  | 'socket'
  | 'cookie'
  | 'worker'
  | 'mixed content'
  | 'frame'
  | 'isolation'
  | 'error'
  | 'other host'
  | 'idle'

/** One thing that was seen of an application behind the prefix. */
export interface Finding {
  /** `breaks`: a user would see it. `hint`: worth knowing. */
  readonly level: 'breaks' | 'hint'
  readonly kind: FindingKind
  /** One sentence. Addresses in it are without queries, which hold tokens. */
  readonly what: string
}

export const breaks = (kind: FindingKind, what: string): Finding => ({ level: 'breaks', kind, what })
export const hint = (kind: FindingKind, what: string): Finding => ({ level: 'hint', kind, what })

/** Whether a user would see nothing wrong. */
export const works = (findings: readonly Finding[]): boolean => findings.every(({ level }) => level === 'hint')
