import { headerValue } from '#/http1/header-lines.ts'
import type { RequestHead } from '#/http1/request-head.ts'

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
 * `empty` in the place of `document` and `iframe`. No script can say `navigate`. What says nothing counts as one.
 * @param text of the head
 */
export function isWindowNavigation(text: string): boolean {
  const destination = headerValue(text, 'sec-fetch-dest') ?? 'document'
  return destination === 'document' || (destination === 'empty' && headerValue(text, 'sec-fetch-mode') === 'navigate')
}

/**
 * Whether this is such a navigation that another origin has begun: into a window, or into a frame of that origin's page,
 * which the answer has to forbid then. @param lines of the head, each with its CRLF
 */
export function mayBeForeignFrame(lines: string): boolean {
  const text = `\r\n${lines}`
  const site = headerValue(text, 'sec-fetch-site')
  if (site === undefined || site === 'same-origin' || site === 'none') return false
  return headerValue(text, 'sec-fetch-dest') === 'empty' && headerValue(text, 'sec-fetch-mode') === 'navigate'
}
