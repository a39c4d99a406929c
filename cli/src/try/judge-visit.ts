import { breaks, hint, type Finding } from './http-look.ts'
import type { SeenCookie, SeenRequest, SeenSocket, SeenWorker, VisitRecord } from './visit-app.ts'

/** Where an application is. */
export interface AppLocation {
  /** With the slash at its end: `http://spawner.berth.localhost:4711/trial-lab/`. */
  readonly home: string
  /** Origins of the platform: what a page asks for there is no fault of the application where it has a host of its own. */
  readonly platform: readonly string[]
}

/** Findings of one kind, and hints of one kind, that are named one by one; the rest is counted. */
const maxNamed = { breaks: 6, hint: 3 }
/** Max length of an error's text, in characters. */
const maxErrorLength = 200
const ownCookies = /^(__Host-)?(spawner|berth)_/
/** What browsers ask for by themselves. */
const unasked = /^\/(favicon\.ico|\.well-known\/.*)$/

/** What is wrong with a visit, the worst first; at most a few of each kind. */
export function judgeVisit(record: VisitRecord, location: AppLocation): Finding[] {
  const findings = [
    ...judgePage(record, location),
    ...record.redirects.flatMap(({ from, to }) =>
      isOutside(to, location)
        ? breaks('redirect', `${pathOf(from, location)} redirects to ${pathOf(to, location)}, outside of the prefix`)
        : [],
    ),
    ...record.requests.flatMap((request) => judgeRequest(request, location)),
    ...record.links.flatMap((url) => judgeLink(url, location)),
    ...judgeSockets(record.sockets, location),
    ...record.workers.flatMap((worker) => judgeWorker(worker, location)),
    ...record.cookies.flatMap((cookie) => judgeCookie(cookie, location)),
    ...record.errors.flatMap(judgeError),
  ]
  const once = [...new Map(findings.map((each) => [`${each.kind} ${each.what}`, each])).values()]
  return shorten(once.toSorted((a, b) => a.level.localeCompare(b.level)))
}

function judgePage({ requests, finalUrl, isEmpty }: VisitRecord, location: AppLocation): Finding[] {
  const first = requests.find(({ type }) => type === 'Document')
  const looped = requests.find(({ failure }) => failure?.includes('TOO_MANY_REDIRECTS'))
  if (looped) return [breaks('redirect', `${pathOf(looped.url, location)} redirects for ever`)]
  const last = requests.findLast(({ type, url }) => type === 'Document' && sameAddress(url, finalUrl)) ?? first
  if (last?.status && last.status >= 400)
    return [breaks('page', `${pathOf(last.url, location)} is answered with ${last.status}`)]
  if (finalUrl !== '' && isOutside(finalUrl, location))
    return [breaks('redirect', `the first page ends at ${pathOf(finalUrl, location)}, outside of the prefix`)]
  return isEmpty ? [breaks('page', 'the first page stays empty')] : []
}

function judgeRequest({ url, type, status, mimeType, failure }: SeenRequest, location: AppLocation): Finding[] {
  const path = pathOf(url, location)
  if (isOtherHost(url, location)) return judgeOtherHost(url)
  if (isOutside(url, location)) {
    if (unasked.test(path)) return []
    // A way back to the front end, which an application that knows Berth offers.
    if (path === '/' && type === 'Document') return [hint('address', 'the page leads to /, which is the front end')]
    return [breaks('address', `${path} is outside of the prefix${status === null ? '' : ` (${status})`}`)]
  }
  if (failure !== null) return judgeFailure(path, failure)
  const isPart = type === 'Script' || type === 'Stylesheet'
  if (isPart && status !== null && status >= 400) return [breaks('page', `${path} is answered with ${status}`)]
  if (isPart && status === 200 && mimeType === 'text/html')
    return [breaks('page', `${path} is answered with a page instead of a ${type.toLowerCase()}`)]
  return status !== null && status >= 400 && type !== 'Document'
    ? [hint('error', `${path} is answered with ${status}`)]
    : []
}

function judgeLink(url: string, location: AppLocation): Finding[] {
  if (!isOutside(url, location)) return []
  const path = pathOf(url, location)
  if (unasked.test(path)) return []
  return [
    path === '/'
      ? hint('address', 'the page leads to /, which is the front end')
      : breaks('address', `the page names ${path}, which is outside of the prefix`),
  ]
}

function judgeFailure(path: string, failure: string): Finding[] {
  if (/ABORTED|NETWORK_CHANGED|TOO_MANY_REDIRECTS/.test(failure)) return []
  if (/mixed/i.test(failure)) return [breaks('mixed content', `${path} is not loaded: ${failure}`)]
  if (/frame|BLOCKED_BY_RESPONSE/i.test(failure))
    return [breaks('frame', `${path} is not shown in a frame: ${failure}`)]
  return [hint('error', `${path} is not loaded: ${failure}`)]
}

/** This machine and private networks are the container itself; other hosts are reached by the user's browser, not here. */
function judgeOtherHost(url: string): Finding[] {
  const { hostname, origin } = new URL(url)
  const isItself = /^(localhost|0\.0\.0\.0|127\.\S+|10\.\S+|192\.168\.\S+|172\.(1[6-9]|2\d|3[01])\.\S+|\[::1?\])$/.test(
    hostname,
  )
  return isItself
    ? [breaks('address', `${origin} is asked for, which is an address inside of the container`)]
    : [hint('other host', `${origin} is asked for; nothing but the application is reached here`)]
}

function judgeSockets(sockets: readonly SeenSocket[], location: AppLocation): Finding[] {
  const opened = new Set(sockets.filter(({ status }) => status === 101).map(({ url }) => pathOf(url, location)))
  return sockets.flatMap(({ url, status, error }) => {
    const path = pathOf(url, location)
    if (isOtherHost(url, location)) return judgeOtherHost(url)
    if (isOutside(url, location)) return [breaks('socket', `the WebSocket ${path} is outside of the prefix`)]
    if (opened.has(path)) return []
    const why = error ?? (status === null ? 'no answer' : `answered with ${status}`)
    return [breaks('socket', `the WebSocket ${path} is not opened: ${why}`)]
  })
}

function judgeWorker({ script, scope, error }: SeenWorker, location: AppLocation): Finding[] {
  const isIn = !isOutside(script, location) && !isOutside(scope, location)
  if (error === null)
    return isIn
      ? []
      : [hint('worker', `the service worker ${pathOf(script, location)} has the scope ${pathOf(scope, location)}`)]
  const what = `the service worker ${pathOf(script, location)} for ${pathOf(scope, location)} is refused: ${error}`
  return [isIn ? hint('worker', what) : breaks('worker', what)]
}

function judgeCookie({ name, domain, path }: SeenCookie, location: AppLocation): Finding[] {
  if (ownCookies.test(name)) return []
  const prefix = new URL(location.home).pathname
  const what = `the cookie ${name} has the path ${path}`
  if (`${path}/`.startsWith(prefix)) {
    if (!domain.startsWith('.')) return []
    return [hint('cookie', `the cookie ${name} is for all hosts of ${domain.slice(1)}`)]
  }
  return path === '/'
    ? [hint('cookie', `${what}: every container of the origin gets it, except with CONTAINER_ROUTING=subdomain`)]
    : [breaks('cookie', `${what}, outside of the prefix: the application never gets it back`)]
}

function judgeError(error: string): Finding[] {
  const text = error.replace(/\?[^\s'"]*/g, '').slice(0, maxErrorLength)
  if (/SharedArrayBuffer|crossOriginIsolated/.test(text)) return [breaks('isolation', text)]
  if (/Refused to (display|frame)|frame-ancestors|X-Frame-Options/i.test(text)) return [breaks('frame', text)]
  if (/mixed content/i.test(text)) return [breaks('mixed content', text)]
  return [hint('error', text)]
}

function shorten(findings: readonly Finding[]): Finding[] {
  const counts = new Map<string, Finding & { count: number }>()
  const shown = findings.filter((finding) => {
    const key = `${finding.level} ${finding.kind}`
    const count = (counts.get(key)?.count ?? 0) + 1
    counts.set(key, { ...finding, count })
    return count <= maxNamed[finding.level]
  })
  const more = [...counts.values()].filter(({ level, count }) => count > maxNamed[level])
  return [...shown, ...more.map(({ level, kind, count }) => hint(kind, `${count - maxNamed[level]} more of this kind`))]
}

/** WebSockets and requests of one host are of one origin. */
const originOf = (url: string) => new URL(url).origin.replace(/^ws/, 'http')

function isOtherHost(url: string, { home, platform }: AppLocation): boolean {
  if (!/^(https?|wss?):/.test(url)) return false
  return originOf(url) !== originOf(home) && !platform.includes(originOf(url))
}

function isOutside(url: string, { home }: AppLocation): boolean {
  if (!/^(https?|wss?):/.test(url) || originOf(url) !== originOf(home)) return false
  return !`${new URL(url).pathname}/`.startsWith(new URL(home).pathname)
}

/** The path on the application's own origin, the origin too on others; without the query, which may hold a token. */
function pathOf(url: string, { home }: AppLocation): string {
  if (!URL.canParse(url)) return url
  const { pathname, origin } = new URL(url)
  return originOf(url) === originOf(home) ? pathname : origin === 'null' ? url.slice(0, 80) : origin + pathname
}

const sameAddress = (a: string, b: string) => a.replace(/#.*/, '') === b.replace(/#.*/, '')
