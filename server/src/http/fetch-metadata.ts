import type { IncomingHttpHeaders } from 'node:http'

/** Whether a browser or a scanner prefetches, and says so. */
export function isPrefetch(headers: IncomingHttpHeaders): boolean {
  const { 'sec-purpose': secPurpose, purpose, 'x-purpose': xPurpose, 'x-moz': xMoz } = headers
  return [secPurpose, purpose, xPurpose, xMoz].some((value) => /prefetch|preview|prerender/i.test(String(value ?? '')))
}

/**
 * Whether a browser says that this is no navigation: a script, an image, a `fetch` of a page. A frame navigates, too. What
 * sends no `Sec-Fetch-Dest` is an older browser, plain http or a program; `Sec-Fetch-Mode` alone says nothing, since the
 * `fetch` of Node.js sends it as well. Source: Fetch Metadata Request Headers, 2.
 */
export function isSubresource(headers: IncomingHttpHeaders): boolean {
  return headers['sec-fetch-dest'] !== undefined && headers['sec-fetch-mode'] !== 'navigate'
}

/** Whether a browser says that this is the navigation of a frame within a page. */
export function isFrame(headers: IncomingHttpHeaders): boolean {
  return ['iframe', 'frame'].includes(String(headers['sec-fetch-dest']))
}

/**
 * Only the browser itself sends "navigate" and "document": a script, frame or popup of a container's page on our origin
 * cannot, and frames are refused, so such a page never reads the CSRF token. Browsers without these headers, and plain
 * http except on localhost, get a page that requires a sign-in before it changes anything.
 * The response to a navigation preload is read by a service worker, which a container's page may have registered.
 */
export function isDocumentNavigation(headers: IncomingHttpHeaders): boolean {
  const isPreload = headers['service-worker-navigation-preload'] !== undefined
  return headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document' && !isPreload
}
