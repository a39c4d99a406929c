import { request } from 'node:http'
import { breaks, type Finding } from './finding.ts'
import { newRecord, type VisitRecord } from './visit-record.ts'

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

/** Status of an address below the home; what it is, is its content's type. */
export async function statusOf(target: HttpTarget, url: string, signal: AbortSignal): Promise<Answer> {
  return ask(target, url, signal)
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
