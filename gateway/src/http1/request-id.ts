import { randomUUID } from 'node:crypto'
import { headerValue } from './header-lines.ts'
import type { RequestHead } from './request-head.ts'

/** UUIDs, hexadecimal ids and ids of traces; nothing that a log, a header or a query of a log could misread. */
const form = /^[\w.-]{8,128}$/

/**
 * Id of a request: the one that a trusted proxy sent in `X-Request-Id`, or a new one. That of any other client is ignored,
 * because it could make its lines in the log look like those of another request (log injection).
 * @param head undefined when it could not be read
 */
export function requestIdOf(head: RequestHead | undefined, isFromTrustedProxy: boolean): string {
  const sent = isFromTrustedProxy && head ? headerValue(head.text, 'x-request-id') : undefined
  return sent !== undefined && form.test(sent) ? sent : randomUUID()
}
