import { createHash } from 'node:crypto'

/** RFC 6455 as far as an echo of one text needs it: 64 bytes, from the app plain, from the client with a mask of zeros. */
const payload = Buffer.alloc(64, 'x')
const text = 0x81
const isMasked = 0x80

export const frame = Buffer.concat([Buffer.from([text, payload.length]), payload])
export const maskedFrame = Buffer.concat([Buffer.from([text, isMasked | payload.length, 0, 0, 0, 0]), payload])

/** What an app answers to the client's `Sec-WebSocket-Key`. */
export function acceptOf(key: string): string {
  return createHash('sha1').update(`${key.trim()}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
}
