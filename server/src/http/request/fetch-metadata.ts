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
