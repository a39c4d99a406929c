import type { BodyReader } from '../http1/body-reader.ts'

/** Bodies up to this size are sent in one piece with their head, in bytes. */
const smallBody = 4 * 1024

/** Writes to the client. @returns of each: whether it takes more */
interface Writer {
  write(bytes: Buffer | string): boolean
  writeTogether(head: string, body: Buffer): boolean
}

/**
 * Writes a head and the part of its body that `response` has read last, with as few copies and packets as possible.
 * @param bodyStart where that part begins in `bytes` @returns false when the client reads slower than this is written
 */
export function writeWithHead(
  client: Writer,
  head: string,
  response: BodyReader,
  bytes: Buffer,
  bodyStart: number,
): boolean {
  const { spans, forwardableEnd } = response
  if (spans) return client.writeTogether(head, unchunked(bytes, spans))
  if (forwardableEnd - bodyStart <= smallBody)
    return client.write(head + bytes.toString('latin1', bodyStart, forwardableEnd))
  return client.writeTogether(head, bytes.subarray(bodyStart, forwardableEnd))
}

/** Writes the part of the body that `response` has read last from the beginning of `bytes`. @returns as `writeWithHead` */
export function writeBody(client: Writer, response: BodyReader, bytes: Buffer): boolean {
  const { spans, forwardableEnd } = response
  const part = spans ? unchunked(bytes, spans) : bytes.subarray(0, forwardableEnd)
  return part.length === 0 || client.write(part)
}

/** The data of chunks without their framing. */
function unchunked(bytes: Buffer, spans: readonly number[]): Buffer {
  const parts: Buffer[] = []
  for (let at = 0; at < spans.length; at += 2) parts.push(bytes.subarray(spans[at], spans[at + 1]))
  return Buffer.concat(parts)
}
