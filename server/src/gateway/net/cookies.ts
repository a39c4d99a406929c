import { tokenCookie } from '../../token-cookies.ts'

/** Whether a `Cookie` header holds the platform's token. */
export function carriesToken(cookieHeader: string | undefined): boolean {
  if (!cookieHeader?.includes(tokenCookie)) return false
  return pairs(cookieHeader).some((pair) => nameOf(pair) === tokenCookie)
}

/**
 * The `Cookie` header for an app: the platform's cookies taken out, the token's value replaced by `token`, once,
 * because a browser may hold it for the host and for the domain. Other cookies keep their order and bytes.
 * Without `token` (an anonymous visitor) the token's cookie goes too. Undefined when nothing is left.
 * @param holdsOurs whether a text has a token of ours in it; such cookies are taken out, whatever their name
 */
export function cookiesForApp(
  cookieHeader: string | undefined,
  token: string | undefined,
  holdsOurs: (text: string) => boolean = () => false,
): string | undefined {
  const own = pairs(cookieHeader).filter((pair) => !isPlatformName(nameOf(pair)) && !holdsOurs(pair))
  if (token !== undefined && carriesToken(cookieHeader)) own.push(`${tokenCookie}=${token}`)
  return own.length === 0 ? undefined : own.join('; ')
}

/**
 * An app's `Set-Cookie` narrowed to its own prefix: no Domain, and a Path under `/{prefix}/`, which is what keeps apps
 * on one host from overwriting each other's cookies. Undefined when the cookie is the platform's, or has no name:
 * a nameless `=spawner_token=x` would come back from the browser as `spawner_token=x`.
 */
export function narrowedSetCookie(value: string, prefix: string, stripPrefix: boolean): string | undefined {
  const [pair = '', ...attributes] = value.split(';')
  const name = pair.includes('=') ? nameOf(pair) : ''
  if (name === '' || isPlatformName(name)) return undefined
  const kept = attributes.filter((text) => !['domain', 'path'].includes(nameOf(text).toLowerCase()))
  // RFC 6265, 5.3: of several Path attributes the last one counts.
  const path = attributes
    .filter((text) => nameOf(text).toLowerCase() === 'path')
    .map(valueOf)
    .at(-1)
  return [pair, ` Path=${pathUnder(prefix, path, stripPrefix)}`, ...kept].join(';')
}

function pathUnder(prefix: string, path: string | undefined, stripPrefix: boolean): string {
  const root = `/${prefix}/`
  // An app that knows its BASE_PATH names it itself; a second prefix would hide the cookie from it.
  if (path?.startsWith(root)) return path
  // It also answers at the bare prefix. RFC 6265, 5.1.4: `/ann-dev` matches itself and what is below, not `/ann-development`.
  if (!stripPrefix) return `/${prefix}`
  return path?.startsWith('/') && path !== `/${prefix}` ? root + path.slice(1) : root
}

/** `spawner_*`, and the prefixes that no script can set and the platform reserves (case does not count in prefixes). */
function isPlatformName(name: string): boolean {
  return /^(spawner_|__host-http-|__http-)/i.test(name)
}

function pairs(cookieHeader: string | undefined): string[] {
  return (cookieHeader ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair !== '')
}

function nameOf(pair: string): string {
  return (pair.split('=', 1)[0] ?? '').trim()
}

function valueOf(pair: string): string {
  return pair.includes('=') ? pair.slice(pair.indexOf('=') + 1).trim() : ''
}
