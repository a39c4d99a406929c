import { createHash, randomBytes } from 'node:crypto'
import { segmentOf } from '#/basics/container-port.ts'
import { entryPath, isContainerLabel, reservedSegment } from '#/basics/host-label.ts'
import { cookieSettingsOf, type GatewayConfig } from './gateway-config.ts'
import { isFetchedAhead, isServiceWorkerScript, isWindowNavigation } from '#/http1/browser-request.ts'
import type { RequestHead } from '#/http1/request-head.ts'
import { isContainerSegment, isPlainPath, type RequestPath } from '#/http1/request-path.ts'
import { gatewayRefusals } from '#/pages/gateway-refusals.ts'
import {
  redirectResponse,
  type EntryRedirect,
  type GatewayResponse,
  type RefusalLinks,
} from '#/pages/gateway-response.ts'
import type { CookieSettings } from '#/tokens/token-selection.ts'
import type { ContainerHost, ContainerHosts } from './container-hosts.ts'

/** A code of ours, and nothing else. */
const queryForm = /^\?code=([\w-]{43})$/

/** Leads to the containers of who asks: real applications have no link back, and there is no page of ours above them. */
const wayBack = `/${reservedSegment}/`

/**
 * Answers the paths of a container's host that are Berth's own. One leads back to the dashboard; the other takes the code that the
 * platform gave to this browser, and sets the cookie that opens this host. Nothing of them reaches the app.
 * @throws {GatewayRefusal} 404 on every other path · 403 without a good code of this browser · 503 while the API is away
 */
export async function entryResponse(
  config: GatewayConfig,
  host: ContainerHost,
  head: RequestHead,
): Promise<GatewayResponse> {
  const [path, query] = splitQuery(head.target)
  if (head.target === wayBack && head.method === 'GET') return redirectResponse(302, config.settings.dashboardUrl)
  if (path !== entryPath) throw gatewayRefusals.nothingHere()
  const code = queryForm.exec(query)?.[1]
  const settings = cookieSettingsOf(config)
  const attempts = attemptsIn(head.fields.cookie, settings)
  if (code === undefined || attempts.length === 0 || !isTopNavigation(head)) throw gatewayRefusals.entryRefused()
  const browsers = attempts.map(({ browser }) => browser)
  const entry = await config.control.enterHost(code, host.prefix, browsers).catch(() => null)
  if (entry === null) throw gatewayRefusals.entryUnavailable()
  const attempt = entry && attempts.find(({ browser }) => browser === entry.browser)
  if (!entry || !attempt) throw gatewayRefusals.entryRefused()
  const { headers, ...response } = redirectResponse(302, `${host.origin}${entry.next}`)
  const setCookie = [...entry.setCookie, endAttempt(attempt, settings)]
  return { ...response, headers: { ...headers, 'set-cookie': setCookie } }
}

/** A person's own navigation, as far as the browser says: no script, no frame, nothing fetched ahead. */
function isTopNavigation({ method, text }: RequestHead): boolean {
  return method === 'GET' && !isFetchedAhead(text) && isWindowNavigation(text)
}

function splitQuery(target: string): [string, string] {
  const mark = target.indexOf('?')
  return mark === -1 ? [target, ''] : [target.slice(0, mark), target.slice(mark)]
}

/**
 * A browser that is led from a container's host to the platform for a code gets a cookie of this host first, and the code
 * is made for the hash of its value alone. So a code of another browser, which a link could bring, opens nothing here
 * (login CSRF, RFC 6749 10.12). One cookie for each attempt: several tabs may begin at once.
 */

/** Seconds for which an attempt lasts: the way to the platform and back, without a sign-in. */
const lifetime = 120
/** Cookies of attempts that are looked at, the last ones: a browser that starts opens all tabs of before at once. */
const maxAttempts = 32

export interface EntryAttempt {
  /** Name of its cookie. */
  readonly name: string
  /** Hash of its value: what the code is made for. */
  readonly browser: string
}

/** With https a name that no script and no other host can set. */
const prefixOf = ({ isSecure }: CookieSettings) => (isSecure ? '__Host-Http-spawner_enter_' : 'spawner_enter_')

/** A new attempt, and the `Set-Cookie` line that gives it to the browser. */
export function beginAttempt(settings: CookieSettings): { readonly attempt: EntryAttempt; readonly setCookie: string } {
  const value = randomBytes(32).toString('base64url')
  const name = prefixOf(settings) + randomBytes(4).toString('hex')
  return { attempt: { name, browser: hashOf(value) }, setCookie: cookieLine(name, value, lifetime, settings) }
}

/** Attempts that the browser has begun here. Of the header one pass is made: a client may send hundreds of such names. */
export function attemptsIn(header: string | undefined, settings: CookieSettings): EntryAttempt[] {
  const form = new RegExp(`(?<![^;\\s])${prefixOf(settings)}[\\da-f]{8}=[^;]+`, 'g')
  const values = new Map<string, Set<string>>()
  for (const pair of (header?.match(form) ?? []).slice(-maxAttempts)) {
    const equals = pair.indexOf('=')
    const name = pair.slice(0, equals)
    values.set(name, (values.get(name) ?? new Set()).add(pair.slice(equals + 1).trimEnd()))
  }
  // Of two values of one name another host has set one.
  return [...values].flatMap(([name, [value, ...more]]) =>
    value === undefined || more.length > 0 ? [] : [{ name, browser: hashOf(value) }],
  )
}

/** The `Set-Cookie` line that ends an attempt. */
const endAttempt = ({ name }: EntryAttempt, settings: CookieSettings) => cookieLine(name, '', 0, settings)

function cookieLine(name: string, value: string, maxAge: number, { isSecure }: CookieSettings): string {
  // `__Host-` requires the path `/`. Lax: the platform leads back from another host.
  const [path, secure] = isSecure ? ['/', '; Secure'] : ['/.berth/', '']
  return `${name}=${value}; Path=${path}; Max-Age=${maxAge}; HttpOnly; SameSite=Lax${secure}`
}

const hashOf = (value: string) => createHash('sha256').update(value).digest('base64url')

/** Max length of the return path, in characters: with it the address stays below `maxPlatformTarget`. A longer one is left out. */
const maxNext = 2_048

/** Where people are led from a refusal of this request. */
export function refusalLinks(config: GatewayConfig | undefined, head: RequestHead | undefined): RefusalLinks {
  if (!config) return { continueUrl: '/', dashboardUrl: '/' }
  const { settings, containerHosts } = config
  const host = head && containerHosts?.containerOf(head.fields.host)
  if (!containerHosts || !host) return settings
  const { continueUrl, dashboardUrl, look } = settings
  // The platform's pages cannot be framed, so a frame could not be led through them.
  const isWindow = isWindowNavigation(head.text)
  const enter = isWindow ? () => entryRedirect(config, containerHosts, host, head.target) : undefined
  const ownHost = { origin: host.origin, platformPath: platformPathOf(config, head), enter }
  return { continueUrl, dashboardUrl, look, ownHost }
}

/** Path and query at which the platform's host leads back to the address of this request. */
export function platformPathOf({ containerHosts }: GatewayConfig, { target, fields }: RequestHead): string {
  const host = containerHosts?.containerOf(fields.host)
  return host ? `/${segmentOf(host.prefix, host.port)}${target}` : target
}

/** To the platform, where a signed-in browser gets a code for this host and this attempt. */
function entryRedirect(
  config: GatewayConfig,
  { entryUrl }: ContainerHosts,
  { prefix, port }: ContainerHost,
  target: string,
): EntryRedirect {
  const { attempt, setCookie } = beginAttempt(cookieSettingsOf(config))
  const next = target.length <= maxNext ? target : '/'
  const query = new URLSearchParams({ container: segmentOf(prefix, port), browser: attempt.browser, next })
  return { location: `${entryUrl}?${query}`, setCookie }
}

/** A request to a container's host, as if it had been sent below the path of the container: all of its path is the app's. */
export function pathOnHost({ prefix, port }: ContainerHost, target: string, { query }: RequestPath): RequestPath {
  const [segment, rest] = [segmentOf(prefix, port), target.slice(0, target.length - query.length)]
  return { segment, prefix, port, rest, query, isPlain: isPlainPath(segment, rest) }
}

/**
 * The answer to `/{slug}-{type}/...` of the platform's host: the same path of the container's host, with or without a
 * sign-in, and whether there is such a container or not. The host is made of the settings and of one label, so it cannot lead elsewhere.
 * @param isRoute whether there is a container with this prefix: its owner's slug may be reserved since then
 * @returns undefined for every other path @throws {GatewayRefusal} 403 for the script of a worker that would have the scope `/`
 */
export function redirectToHost(
  hosts: ContainerHosts,
  { reservedSlugs, isRoute }: { reservedSlugs: ReadonlySet<string>; isRoute: (prefix: string) => boolean },
  head: RequestHead,
  { prefix, port, rest, query }: RequestPath,
): GatewayResponse | undefined {
  if (!isContainerLabel(prefix)) return undefined
  if (!isContainerSegment(prefix, reservedSlugs) && !isRoute(prefix)) return undefined
  const origin = hosts.originOf(prefix, port)
  if (origin === undefined) throw gatewayRefusals.nothingHere()
  // Browsers follow no redirect of a worker's script, so below the prefix none is registered either. One from the time of
  // path routing is ended by the front end, at whose origin it would go on.
  if (rest === '' && isServiceWorkerScript(head)) throw gatewayRefusals.workerOnBarePrefix()
  return redirectResponse(308, `${origin}${rest === '' ? '/' : rest}${query}`)
}
