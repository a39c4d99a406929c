import type { BodyReader } from '#/http1/body-reader.ts'

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
  const end = passableEnd(response)
  if (end - bodyStart <= smallBody) return client.write(head + bytes.toString('latin1', bodyStart, end))
  return client.writeTogether(head, bytes.subarray(bodyStart, end))
}

/** Writes the part of the body that `response` has read last from the beginning of `bytes`. @returns as `writeWithHead` */
export function writeBody(client: Writer, response: BodyReader, bytes: Buffer): boolean {
  const part = bytes.subarray(0, passableEnd(response))
  return part.length === 0 || client.write(part)
}

/** Where the bytes end that the client gets: the body as it came, or the data of its chunks. */
const passableEnd = ({ isUnchunking, dataEnd, forwardableEnd }: BodyReader) => (isUnchunking ? dataEnd : forwardableEnd)
