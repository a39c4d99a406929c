import type { Endpoint } from '@berth/api/endpoints.ts'

/**
 * Whether the endpoint needs no account and concerns accounts or mailed links: an attacker would try many addresses or links
 * with it.
 */
export const isRateLimited = ({ access, path }: Endpoint) =>
  access === 'public' && (path.startsWith('/api/auth/') || path.startsWith('/api/archives'))

/** What a request asks for. Each kind has its own limit, so that one that is used up leaves the others. */
export type RateLimitedKind = 'mail' | 'link' | 'provider' | 'session'

const sessionPaths: ReadonlySet<string> = new Set(['/api/auth/refresh', '/api/auth/continue', '/api/auth/enter'])

/** The kind of a rate-limited endpoint; `mail` requests a link, `link` uses one up. */
export function kindOf({ path }: Endpoint): RateLimitedKind {
  if (path.startsWith('/api/auth/verify-') || path.startsWith('/api/archives')) return 'link'
  if (path.startsWith('/api/auth/oidc/') || path === '/api/auth/providers') return 'provider'
  return sessionPaths.has(path) ? 'session' : 'mail'
}
