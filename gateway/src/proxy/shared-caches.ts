import type { NotableLine } from '#/http1/header-lines.ts'

/**
 * Responses of apps with restricted access must not be stored by a shared cache in front of Berth (nginx `proxy_cache`, a CDN),
 * which serves one stored response to all clients; it does not know whose cookie counts.
 */

/** Lines that speak to such caches alone; lower case. */
export const sharedCacheNames: readonly string[] = [
  'cdn-cache-control',
  'cloudflare-cdn-cache-control',
  'surrogate-control',
]

/** `Cache-Control` without what concerns shared caches; undefined when nothing is left. In linear time. */
export function withoutShared(value: string): string | undefined {
  const kept = value.replace(sharedDirectives, '').replace(/^[\t ,]+/, '')
  return kept === '' ? undefined : kept
}

/** Whether these lines keep an answer out of every shared cache already. */
export const isKeptPrivate = (lines: readonly NotableLine[]) =>
  lines.some(({ name, value }) => name === 'cache-control' && privateDirective.test(value))

const sharedDirectives = /(?:^|,)[\t ]*(?:public|s-maxage(?:[\t ]*=[^,]*)?)[\t ]*(?=,|$)/gi
/** `private="name"` concerns single headers; what stands in quotes is no directive. */
const privateDirective = /^(?:[^",]*,)*[\t ]*(?:private|no-store)[\t ]*(?:,|$)/i
