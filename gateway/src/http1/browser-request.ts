import { languageCookie, type Language } from '@berth/api/boot.ts'
import { defaultLanguage, languageOf } from '@berth/texts/language.ts'
import { cookieValues } from '#/tokens/cookie-values.ts'
import { headerValue } from './header-lines.ts'
import type { RequestHead } from './request-head.ts'

/**
 * Whether a browser navigates, so that a person sees the response: an HTML page or a redirect to login instead of JSON.
 * Browsers leave `Sec-Fetch-Mode` out on plain http outside loopback, so its absence means nothing.
 */
export function isHtmlNavigation({ method, text }: RequestHead): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false
  if (!headerValue(text, 'accept')?.toLowerCase().includes('text/html')) return false
  const mode = headerValue(text, 'sec-fetch-mode')
  return mode === undefined || mode === 'navigate' || isPassedOn(text)
}

/**
 * Whether a service worker of the app in Firefox passes a navigation on: Firefox (153) says `same-origin` of it in the place of
 * `navigate`, and keeps the other headers of the navigation. A script of this origin can send the same; it gets no more than by
 * a navigation of its own.
 */
function isPassedOn(text: string): boolean {
  return (
    headerValue(text, 'upgrade-insecure-requests') === '1' &&
    headerValue(text, 'sec-fetch-mode') === 'same-origin' &&
    headerValue(text, 'sec-fetch-site') === 'same-origin' &&
    headerValue(text, 'sec-fetch-dest') === 'empty' &&
    headerValue(text, 'accept')?.startsWith('text/html') === true
  )
}

/** Whether a browser says that it sends this: no script can leave the header out, and programs send `Sec-Fetch-Mode` at most. */
export const isBrowser = ({ text }: RequestHead): boolean => headerValue(text, 'sec-fetch-site') !== undefined

/**
 * Whether a browser sends this, as far as can be seen: on plain http away from this machine browsers leave `Sec-Fetch-Site`
 * out, but say what page they ask for, and who they are.
 */
export const isOfBrowser = (head: RequestHead): boolean =>
  isBrowser(head) ||
  headerValue(head.text, 'origin') !== undefined ||
  headerValue(head.text, 'referer') !== undefined ||
  headerValue(head.text, 'user-agent')?.startsWith('Mozilla/') === true

/** Whether a request says that its answer does not end by itself: a WebSocket, or server-sent events (HTML standard, 9.2). */
export function opensStream({ fields, text }: RequestHead): boolean {
  return fields.opensWebSocket || headerValue(text, 'accept')?.toLowerCase().includes('text/event-stream') === true
}

/** Whether a browser fetches the script of a service worker. Served at `/ann-dev` its scope would be `/`: the pages of all users. */
export function isServiceWorkerScript({ text }: RequestHead): boolean {
  return headerValue(text, 'service-worker') === 'script' || headerValue(text, 'sec-fetch-dest') === 'serviceworker'
}

/** The language to answer a request in. @param head undefined when it could not be read */
export function requestLanguage(head: RequestHead | undefined): Language {
  if (!head) return defaultLanguage
  return languageOf(cookieValues(head.fields.cookie, languageCookie), headerValue(head.text, 'accept-language'))
}

/**
 * Whether a request asks to change nothing, as far as HTTP says: a safe method (RFC 9110, 9.2.1) that nothing in it overrides,
 * no body, of which a framework may take fields for another method and which has no meaning in these (9.3.1), and no WebSocket,
 * which carries data both ways. What an app does on a GET is its own affair.
 */
export function isReadRequest({ method, target, fields, text }: RequestHead): boolean {
  if (method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS') return false
  if (fields.opensWebSocket || fields.bodyLength !== 0) return false
  return !overridesMethod(target, text)
}

/**
 * Ways in which a request may ask a framework for another method than that of its first line: a header (Rack, Express, Django,
 * OData), or a parameter of its address (WordPress takes `_method` from that of a GET). Names are compared by their letters,
 * because CGI-like apps take every other character for the same, and by what they say: each framework has spellings of its own.
 */

/** Says what a page of another origin wants to send (Fetch standard, 3.3.2); browsers send it themselves. */
const ofBrowsers = 'accesscontrolrequestmethod'

/** Names of headers, by their letters. */
const headerForms = /method|override|verb$/

/** `_method`, `$httpMethod`, `.method`, which PHP takes for the first; Gerrit's `$m`. */
const parameterForms = /^(?:[^a-z0-9]+(?:x[^a-z]*)?(?:http[^a-z]*)?(?:method|verb)|\$m)$/

/** `X-HTTP-Method-Override`, `x_method`, `methodOverride` and the like, by their letters. */
const parameterLetters = /^x(?:http)?method$|methodoverride|overridemethod/

/** Whether a header line or the query asks for another method than that of the request line. @param text of the head, from its request line on */
function overridesMethod(target: string, text: string): boolean {
  return linesOverrideMethod(text) || queryOverridesMethod(target)
}

function linesOverrideMethod(text: string): boolean {
  for (let at = text.indexOf('\r\n'); at !== -1; at = text.indexOf('\r\n', at + 2)) {
    const letters = lettersOf(text.slice(at + 2, text.indexOf(':', at)))
    if (headerForms.test(letters) && letters !== ofBrowsers) return true
  }
  return false
}

function queryOverridesMethod(target: string): boolean {
  const mark = target.indexOf('?')
  if (mark === -1) return false
  // Servers of many languages end a parameter at a semicolon, too.
  return target
    .slice(mark + 1)
    .split(/[&;]/)
    .some((parameter) => {
      const name = nameOf(parameter)
      return parameterForms.test(name) || parameterLetters.test(lettersOf(name))
    })
}

/** As lenient servers read it: without blanks before it, up to a NUL or, as PHP reads lists, a bracket; `%u005f` is ASP.NET's. */
function nameOf(parameter: string): string {
  const [encoded = ''] = parameter.split('=', 1)
  const name = encoded
    .replaceAll('+', ' ')
    .replace(/%(?:u00)?([0-9a-f]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
  return name
    .replace(/[\0[].*$/s, '')
    .trim()
    .toLowerCase()
}

const lettersOf = (name: string) => name.toLowerCase().replace(/[^a-z]/g, '')

/**
 * Whether a page of another origin makes this request, so that the cookie in it is not its visitor's will. All containers
 * are one site, and browsers send cookies to a site of theirs from every page of it: `SameSite` does not help. A navigation
 * of a whole window is none: a link has to work, and who follows it sees where it leads.
 *
 * Source: Fetch Metadata Request Headers, 2.4. Without them, as on plain http away from this machine, `Origin` decides,
 * which browsers send with every change, though not with images, scripts and frames.
 */
export function isForeignRequest({ method, text, fields }: RequestHead, scheme: string): boolean {
  const site = headerValue(text, 'sec-fetch-site')
  if (site === 'same-origin' || site === 'none') return false
  if (site !== undefined) {
    const isSafe = method === 'GET' || method === 'HEAD'
    return !(isSafe && headerValue(text, 'sec-fetch-mode') === 'navigate' && isWindowNavigation(text))
  }
  const origin = headerValue(text, 'origin')
  return origin !== undefined && origin.toLowerCase() !== `${scheme}://${fields.host ?? ''}`.toLowerCase()
}

/**
 * Whether a navigation is one of a whole window, or may be: when a service worker of the app passes it on, the browser says
 * `empty` in the place of `document` and `iframe`. No script can say `navigate`; what Firefox says is `isPassedOn`. What says
 * nothing counts as one.
 * @param text of the head
 */
export function isWindowNavigation(text: string): boolean {
  const destination = headerValue(text, 'sec-fetch-dest') ?? 'document'
  if (destination === 'document') return true
  return destination === 'empty' && (headerValue(text, 'sec-fetch-mode') === 'navigate' || isPassedOn(text))
}

/** Whether a browser fetches this ahead, in case it is wanted, and says so: no person has asked for it yet. @param text of the head */
export const isFetchedAhead = (text: string): boolean =>
  ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'].some((name) => headerValue(text, name) !== undefined)

/** Whether a browser asks for the page of a window with this, for now or ahead. */
export const isPageNavigation = (head: RequestHead): boolean => isHtmlNavigation(head) && isWindowNavigation(head.text)

/** Whether a browser opens a page in a window with this, because a person wants it now. */
export const opensPage = (head: RequestHead): boolean => isPageNavigation(head) && !isFetchedAhead(head.text)

/**
 * Whether this is such a navigation that another origin has begun: into a window, or into a frame of that origin's page,
 * which the answer has to forbid then. @param lines of the head, each with its CRLF
 */
export function mayBeForeignFrame(lines: string): boolean {
  const text = `\r\n${lines}`
  // Firefox does not say who has begun it.
  if (isPassedOn(text)) return true
  const site = headerValue(text, 'sec-fetch-site')
  if (site === undefined || site === 'same-origin' || site === 'none') return false
  return headerValue(text, 'sec-fetch-dest') === 'empty' && headerValue(text, 'sec-fetch-mode') === 'navigate'
}
