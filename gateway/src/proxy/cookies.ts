import { languageCookie } from '@berth/api/boot.ts'
import { attemptCookieNames, cookieValues } from '#/tokens/cookie-values.ts'
import { bindingCookie, carriesToken, sessionCookie, tokenCookie } from '#/tokens/token-selection.ts'

/**
 * The `Cookie` header for an app: the platform's cookies taken out, the token's value replaced by `token`, once,
 * because a browser may hold it for the host and for the domain. Other cookies keep their order and bytes.
 * Without `token` (an anonymous visitor) the token's cookie goes too. Undefined when nothing is left.
 * @param containsOwnToken whether a text has a token of ours in it; such cookies are taken out, whatever their name
 */
export function upstreamCookies(
  cookieHeader: string | undefined,
  token: string | undefined,
  containsOwnToken: (text: string) => boolean = () => false,
): string | undefined {
  if (cookieHeader === undefined) return undefined
  const foreign = mayHavePlatformPairs.test(cookieHeader) ? cookieHeader.replace(platformPairs, '') : cookieHeader
  const others = foreign.replace(/^[;\s]+/, '')
  const own = containsOwnToken(others) ? withoutOwnTokens(others, containsOwnToken) : others
  if (token === undefined || !carriesToken(cookieHeader)) return own === '' ? undefined : own
  return `${own}${own === '' ? '' : '; '}${tokenCookie}=${token}`
}

/** Pairs that are looked at one by one, for tokens in cookies of other names; the rest of so many is left out. */
const maxPairs = 64

const withoutOwnTokens = (cookies: string, containsOwnToken: (text: string) => boolean) =>
  cookies
    .split(';', maxPairs)
    .map((pair) => pair.trim())
    .filter((pair) => pair !== '' && !containsOwnToken(pair))
    .join('; ')

/** Browsers take cookies of 4 KB, and know nine attributes; longer lines and further attributes are left out. */
const [maxSetCookie, maxAttributes] = [8 * 1024, 16]
const confined = /^\s*(?:domain|path)\s*(?:=|$)/i
const domainAttribute = /^\s*domain\s*(?:=|$)/i

/**
 * An app's `Set-Cookie` narrowed to its own prefix: no Domain, and a Path under `/{prefix}/`, which is what keeps apps
 * on one host from overwriting each other's cookies. Undefined when the cookie is too long, the platform's, or has no name:
 * a nameless `=spawner_token=x` would come back from the browser as `spawner_token=x`.
 */
export function confineSetCookie(value: string, prefix: string, stripPrefix: boolean): string | undefined {
  const parts = partsOf(value)
  if (parts === undefined) return undefined
  const [pair, ...attributes] = parts
  const kept = attributes.filter((text) => !confined.test(text))
  const renamed = pair.replace(hostPrefix, confinedHostPrefix)
  // RFC 6265, 5.3: of several Path attributes the last one counts.
  const last = attributes.findLast((text) => nameOf(text).toLowerCase() === 'path')
  const path = last === undefined ? undefined : valueOf(last)
  return [renamed, ` Path=${pathUnder(prefix, path, stripPrefix)}`, ...kept].join(';')
}

/**
 * Browsers take a name with `__Host-` for the path `/` alone. Below a prefix it is replaced, and put back in requests, by one that
 * demands https as well.
 */
const [hostPrefix, confinedHostPrefix] = [/^\s*__host-/i, '__Secure-Host-']
const confinedHostNames = /((?:^|;)\s*)__Secure-Host-(?!http-)/gi

/** The `Cookie` header for an app below a prefix, with the names that `confineSetCookie` replaced. */
export const withOwnNames = (cookies: string | undefined): string | undefined =>
  cookies?.includes(confinedHostPrefix) ? cookies.replace(confinedHostNames, '$1__Host-') : cookies

/**
 * An app's `Set-Cookie` on a host of its own: no Domain, which would give the cookie to the platform and to all other
 * containers. Undefined as in `confineSetCookie`.
 */
export const hostOnlySetCookie = (value: string): string | undefined =>
  partsOf(value)
    ?.filter((text) => !domainAttribute.test(text))
    .join(';')

/** Pair and attributes; undefined when the cookie is too long, the platform's, or has no name. */
function partsOf(value: string): [string, ...string[]] | undefined {
  if (value.length > maxSetCookie) return undefined
  const [pair = '', ...attributes] = value.split(';', maxAttributes + 1)
  const name = pair.includes('=') ? nameOf(pair) : ''
  return name === '' || isPlatformName(name) ? undefined : [pair, ...attributes]
}

function pathUnder(prefix: string, path: string | undefined, stripPrefix: boolean): string {
  const root = `/${prefix}/`
  // An app that knows its BASE_PATH names it itself; a second prefix would hide the cookie from it.
  if (path?.startsWith(root)) return path
  // It also answers at the bare prefix. RFC 6265, 5.1.4: `/ann-dev` matches itself and what is below, not `/ann-development`.
  if (!stripPrefix) return `/${prefix}`
  return path?.startsWith('/') && path !== `/${prefix}` ? root + path.slice(1) : root
}

/** `spawner_*`, `berth_session`, and the prefixes that no script can set and the platform reserves (case does not count in prefixes). */
const isPlatformName = (name: string) => /^(spawner_|berth_session$|__host-http-|__http-)/i.test(name)
/** A cheap check for pairs with such a name: in ten thousand other pairs it finds none in half the time of a replacement. */
const mayHavePlatformPairs = /(?:^|[;\s])(?:spawner_|berth_session|__h)/i
/** Pairs of a `Cookie` header with such a name, each with the semicolon before it. In one pass: there may be thousands. */
const platformPairs = /(?:^|;)\s*(?:spawner_|berth_session\s*=|__host-http-|__http-)[^;]*/gi

function nameOf(pair: string): string {
  return (pair.split('=', 1)[0] ?? '').trim()
}

function valueOf(pair: string): string {
  return pair.includes('=') ? pair.slice(pair.indexOf('=') + 1).trim() : ''
}

/** Max length of a `Cookie` header that the API receives as it was sent; a shorter one costs it less than the search. */
const maxWhole = 4 * 1024

/** Cookies that the API and the front end read; those of https have prefixes. */
export const platformCookieNames: readonly string[] = [
  tokenCookie,
  bindingCookie,
  sessionCookie,
  languageCookie,
  'berth_device',
  'spawner_visit',
  '__Host-Http-spawner_visit',
  'spawner_asked',
  '__Host-Http-spawner_asked',
  'spawner_return',
  '__Http-spawner_return',
]

/** Of sign-ins at providers, one cookie for each attempt; of links whose secret the address no longer has, one for each. */
const attemptPrefixes = ['spawner_oidc_', '__Http-spawner_oidc_', 'spawner_link_', '__Http-spawner_link_']

/**
 * The `Cookie` header for the API; undefined when nothing is left. A long one is reduced to the cookies that the API reads, and of
 * each name to the last values, of which it reads no more: ten thousand others cost it a third of a request.
 */
export function platformCookies(header: string | undefined): string | undefined {
  if (header === undefined || header.length <= maxWhole) return header
  const attempts = attemptPrefixes.flatMap((prefix) => attemptCookieNames(header, prefix))
  const names = [...platformCookieNames, ...attempts]
  const pairs = names.flatMap((name) => cookieValues(header, name).map((value) => `${name}=${value}`))
  return pairs.length > 0 ? pairs.join('; ') : undefined
}
