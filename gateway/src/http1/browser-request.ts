import { headerValue } from './header-lines.ts'
import { overridesMethod } from './method-override.ts'
import type { RequestHead } from './request-head.ts'
import { languageCookie, type Language } from '@berth/api/boot.ts'
import { cookieValues } from '#/tokens/cookie-values.ts'
import { languageOf, defaultLanguage } from '@berth/texts/language.ts'

/**
 * Whether a browser navigates, so that a person sees the response: an HTML page or a redirect to login instead of JSON.
 * Browsers leave `Sec-Fetch-Mode` out on plain http outside loopback, so its absence means nothing.
 */
export function isHtmlNavigation({ method, text }: RequestHead): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false
  if (!headerValue(text, 'accept')?.toLowerCase().includes('text/html')) return false
  const mode = headerValue(text, 'sec-fetch-mode')
  return mode === undefined || mode === 'navigate'
}

/** Whether a browser says that it sends this: no script can leave the header out, and programs send `Sec-Fetch-Mode` at most. */
export const isBrowser = ({ text }: RequestHead): boolean => headerValue(text, 'sec-fetch-site') !== undefined

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
