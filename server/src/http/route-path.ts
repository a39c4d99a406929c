import { endpoints, type Endpoint } from '@berth/api/endpoints.ts'
import type { FastifyRequest } from 'fastify'
import { refusals } from '#/refusals/errors.ts'

/** Whether the fixed parts of the route's path are in the address literally, not percent-encoded. */
export function isSpelledAsRoute({ url, routeOptions }: FastifyRequest): boolean {
  const pattern = routeOptions.url
  if (pattern === undefined || !url.includes('%')) return true
  const sent = sentParts(url)
  return pattern.split('/').every((part, at) => part.startsWith(':') || part === '*' || part === sent[at])
}

/** Puts ids into the request's parameters as they were sent: `%31` is no id, though the router has decoded it to one. */
export function keepIdsAsSent({ url, routeOptions, params }: FastifyRequest): void {
  const pattern = routeOptions.url
  if (pattern === undefined || !url.includes('%')) return
  const sent = sentParts(url)
  for (const [at, part] of pattern.split('/').entries())
    if (/^:(?:\w+_)?id$/.test(part)) (params as Record<string, unknown>)[part.slice(1)] = sent[at]
}

const sentParts = (url: string) => (url.split('?', 1)[0] ?? '').split('/')

/** For a known path with another method the response lists its methods; the operator's endpoints are not listed. */
export function notFound(request: FastifyRequest): Error {
  const path = request.url.split('?', 1)[0] ?? ''
  const allowed =
    path.length > maxPathLength
      ? []
      : knownPaths.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method)
  return allowed.length > 0 ? refusals.wrongMethod([...new Set(allowed)]) : refusals.notFound('address')
}

/** Max characters of a path that is compared with those of the endpoints. */
const maxPathLength = 2_048

const patternOf = (path: string) => new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`)

/** Created once: dozens of patterns are too much work for a request to an unknown address. */
const knownPaths = Object.values<Endpoint>(endpoints)
  .filter(({ access }) => access !== 'operator')
  .map(({ method, path }) => ({ method, pattern: patternOf(path) }))
