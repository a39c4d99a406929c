import { connect, type Socket } from 'node:net'
import { createHash } from 'node:crypto'

/** An open WebSocket as a stream of bytes. @throws {Error} when the status is not 101, or there is none in 10 s */
export function openWebSocket(port: number, head: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => socket.write(head, 'latin1'))
    let answer = ''
    const onData = (chunk: Buffer) => {
      answer += chunk.toString('latin1')
      if (!answer.includes('\r\n\r\n')) return
      socket.off('data', onData)
      socket.setTimeout(0)
      if (answer.startsWith('HTTP/1.1 101 ')) resolve(socket)
      else reject(new Error(`the WebSocket was answered with ${answer.slice(0, 200)}`))
    }
    socket.on('data', onData)
    socket.on('error', reject)
    socket.setTimeout(10_000, () => socket.destroy(new Error('the WebSocket was not answered')))
  })
}

/**
 * RFC 6455 as far as an echo of one text needs it: 64 bytes, plain from the app, with a mask of zeros from the client.
 */
const payload = Buffer.alloc(64, 'x')
const text = 0x81
const isMasked = 0x80

export const frame = Buffer.concat([Buffer.from([text, payload.length]), payload])
export const maskedFrame = Buffer.concat([Buffer.from([text, isMasked | payload.length, 0, 0, 0, 0]), payload])

/** The app's response to the client's `Sec-WebSocket-Key`. */
export function acceptOf(key: string): string {
  return createHash('sha1').update(`${key.trim()}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
}
