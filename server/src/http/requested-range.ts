import type { IncomingHttpHeaders } from 'node:http'

/** First and last byte of a part. */
export interface ByteRange {
  readonly first: number
  readonly last: number
}

/** What is sent, as it is now. */
export interface Representation {
  /** In bytes. */
  readonly size: number
  /** Strong entity tag, with its quotes: another one for other bytes. */
  readonly etag: string
}

/** What of a request decides about the part. */
export interface RangeRequest {
  readonly method: string
  readonly headers: IncomingHttpHeaders
}

/**
 * The part that a request asks for. Source: RFC 9110, 13.1.5 and 14.2.
 * @returns undefined where the whole has to be sent: no range, one of which no byte is there, several, a method other than GET,
 *   or an `If-Range` that does not name exactly these bytes. A weak tag names none, nor does a date: no answer of ours has
 *   `Last-Modified`
 */
export function requestedRange(
  { method, headers }: RangeRequest,
  { size, etag }: Representation,
): ByteRange | undefined {
  const condition = headers['if-range']
  if (method !== 'GET' || (condition !== undefined && condition !== etag)) return undefined
  const [, from = '', to = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/i.exec(headers.range ?? '') ?? []
  if (from === '' && to === '') return undefined
  const first = from === '' ? Math.max(0, size - Number(to)) : Number(from)
  const last = from === '' || to === '' ? size - 1 : Math.min(Number(to), size - 1)
  return first <= last ? { first, last } : undefined
}

/** Value of `Content-Range` (RFC 9110, 14.4). */
export const contentRange = ({ first, last }: ByteRange, size: number) => `bytes ${first}-${last}/${size}`
