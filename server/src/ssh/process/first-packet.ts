import type { Socket } from 'node:net'

/** Max bytes of a first packet: more, and the library ends the connection. */
const maxPacket = 35_000
const newline = 0x0a

/**
 * Resolves when a client has sent its version and its first packet, which begins the key exchange (RFC 4253, 4.2 and
 * 7.1). It only counts; the library reads.
 */
export function firstPacket(socket: Socket): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let isVersionRead = false
  let length = Buffer.alloc(0)
  let left = 0
  const done = () => {
    socket.off('data', look)
    resolve()
  }
  const look = (bytes: Buffer) => {
    let rest = bytes
    if (!isVersionRead) {
      const end = rest.indexOf(newline)
      if (end === -1) return
      isVersionRead = true
      rest = rest.subarray(end + 1)
    }
    if (length.length < 4) {
      const taken = rest.subarray(0, 4 - length.length)
      length = Buffer.concat([length, taken])
      rest = rest.subarray(taken.length)
      if (length.length < 4) return
      left = Math.min(length.readUInt32BE(), maxPacket)
    }
    left -= rest.length
    if (left <= 0) done()
  }
  socket.on('data', look)
  return promise
}
