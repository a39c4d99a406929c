import type { IncomingHttpHeaders } from 'node:http'

/** Whether a browser or a scanner prefetches, and says so. */
export function isPrefetch(headers: IncomingHttpHeaders): boolean {
  const { 'sec-purpose': secPurpose, purpose, 'x-purpose': xPurpose, 'x-moz': xMoz } = headers
  return [secPurpose, purpose, xPurpose, xMoz].some((value) => /prefetch|preview|prerender/i.test(String(value ?? '')))
}
