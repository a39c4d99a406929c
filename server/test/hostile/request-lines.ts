import type { Endpoint } from '@berth/api/endpoints.ts'
import type { Bytes } from './send.ts'

/** The caller; a token is added to the head where there is one. */
export type Caller = 'nobody' | 'user' | 'administrator'

export interface HostileRequest extends Bytes {
  /** What is wrong with it. */
  readonly why: string
  /** It must be refused to every caller. */
  readonly isBad?: boolean
}

/** A value for the parameters of a valid path: an id without a user, so that nothing that passes harms the callers. */
const nobodysId = '999999999'

export const pathOf = ({ path }: Endpoint, value = nobodysId) =>
  path.replace('{container_type}', value === nobodysId ? 'nowhere' : value).replace(/\{\w+\}/g, value)
export const lineOf = (endpoint: Endpoint, path = pathOf(endpoint), method: string = endpoint.method) =>
  `${method} ${path} HTTP/1.1`

export function withBody(
  endpoint: Endpoint,
  own: readonly string[],
  why: string,
  body: string | Buffer,
): HostileRequest {
  const lines = ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`]
  return { why, head: [lineOf(endpoint), ...own, ...lines], body }
}
