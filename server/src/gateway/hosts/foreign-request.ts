import { headerValue } from '../http1/header-lines.ts'
import type { RequestHead } from '../http1/request-head.ts'

/**
 * Whether a page of another origin makes this request, so that the cookie in it is not its visitor's will. All containers
 * are one site, and browsers send cookies to a site of theirs from every page of it: `SameSite` does not help. A navigation
 * to a page in a window of its own is none: a link has to work, and who follows it sees where it leads.
 *
 * Source: Fetch Metadata Request Headers, 2.4. Without them, as on plain http away from this machine, `Origin` decides,
 * which browsers send with every change, though not with images, scripts and frames.
 */
export function isForeignRequest(head: RequestHead, scheme: string): boolean {
  const { method, text, fields } = head
  const site = headerValue(text, 'sec-fetch-site')
  const isSafe = method === 'GET' || method === 'HEAD'
  if (site === 'same-origin' || site === 'none') return false
  if (site !== undefined) {
    const isNavigation = headerValue(text, 'sec-fetch-mode') === 'navigate'
    return !(isSafe && isNavigation && headerValue(text, 'sec-fetch-dest') === 'document')
  }
  const origin = headerValue(text, 'origin')
  return origin !== undefined && origin.toLowerCase() !== `${scheme}://${fields.host ?? ''}`.toLowerCase()
}
