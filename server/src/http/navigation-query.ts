import type { Endpoint } from '@berth/api/endpoints.ts'
import type { FastifyRequest } from 'fastify'

/**
 * `preValidation` of an endpoint that redirects: browsers navigate there, and an error would be shown in the place of a page. A
 * parameter of it that is repeated, or longer than it takes, counts as missing.
 */
export async function dropUnfitParameters(request: FastifyRequest): Promise<void> {
  const endpoint = request.routeOptions.config.endpoint as Endpoint | undefined
  const query = request.query as Record<string, unknown>
  for (const [name, maxLength] of limitsOf(endpoint?.query)) {
    const value = query[name]
    if (typeof value !== 'string' || value.length > maxLength) delete query[name]
  }
}

/** Max length of each parameter that a schema has. */
function limitsOf(schema: Endpoint['query']): [name: string, maxLength: number][] {
  const { properties = {} } = Object(schema) as { properties?: Record<string, { maxLength?: number }> }
  return Object.entries(properties).map(([name, { maxLength = Infinity }]) => [name, maxLength])
}

/** The parameters that were sent once, and are left, as a query of their own. */
export function singleParameters(query: object): string {
  const single = Object.entries(query).filter((each): each is [string, string] => typeof each[1] === 'string')
  return `?${new URLSearchParams(single)}`
}
