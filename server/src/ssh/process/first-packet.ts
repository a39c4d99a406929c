import type { Socket } from 'node:net'

/** Max bytes of a first packet: more, and the library ends the connection. */
const maxPacket = 35_000
/** Bytes of what a client begins with that are kept: its version has at most 255 (RFC 4253, 4.2). */
const maxOpening = maxPacket + 1024
const newline = 0x0a
/** The message that begins a key exchange, and bytes of it in front of its lists. */
const [kexInit, beforeLists] = [20, 17]

/** What a client began with. */
export interface Opening {
  readonly bytes: Buffer
  /** Whether the version and the first packet are there. */
  readonly isWhole: boolean
}

/** Counts the bytes of a client's version and of its first packet, which begins the key exchange (RFC 4253, 4.2 and 7.1). */
class OpeningCounter {
  #start = Buffer.alloc(0)
  #isVersionRead = false
  #length = Buffer.alloc(0)
  #left = 0

  /** Whether it is no opening of SSH. */
  isOther = false

  /** @returns whether it is whole */
  take(bytes: Buffer): boolean {
    let rest = bytes
    if (!this.#isVersionRead) {
      this.#start = Buffer.concat([this.#start, rest.subarray(0, 4 - this.#start.length)])
      this.isOther = !'SSH-'.startsWith(this.#start.toString('latin1'))
      if (this.isOther) return false
      const end = rest.indexOf(newline)
      if (end === -1) return false
      this.#isVersionRead = true
      rest = rest.subarray(end + 1)
    }
    if (this.#length.length < 4) {
      const taken = rest.subarray(0, 4 - this.#length.length)
      this.#length = Buffer.concat([this.#length, taken])
      rest = rest.subarray(taken.length)
      if (this.#length.length < 4) return false
      this.#left = Math.min(this.#length.readUInt32BE(), maxPacket)
    }
    this.#left -= rest.length
    return this.#left <= 0
  }
}

/** Resolves when a client has sent its version and its first packet. It only counts; others read. */
export function firstPacket(socket: Socket): Promise<void> {
  const counter = new OpeningCounter()
  const { promise, resolve } = Promise.withResolvers<void>()
  const look = (bytes: Buffer) => {
    if (!counter.take(bytes)) return
    socket.off('data', look)
    resolve()
  }
  socket.on('data', look)
  return promise
}

/**
 * Reads a client's version and its first packet, and pauses it. Never rejects.
 * @param limit in ms: some clients send no first packet before they have that of the server
 */
export function readOpening(socket: Socket, limit: number): Promise<Opening> {
  const counter = new OpeningCounter()
  const parts: Buffer[] = []
  let size = 0
  const { promise, resolve } = Promise.withResolvers<Opening>()
  const finish = (isWhole: boolean) => {
    clearTimeout(timer)
    socket.off('data', read).off('close', leave).pause()
    resolve({ bytes: Buffer.concat(parts), isWhole })
  }
  const leave = () => finish(false)
  const read = (bytes: Buffer) => {
    parts.push(bytes)
    size += bytes.length
    if (counter.take(bytes)) finish(true)
    else if (counter.isOther || size > maxOpening) finish(false)
  }
  const timer = setTimeout(leave, limit)
  socket.on('data', read).once('close', leave)
  return promise
}

/** The ciphers that a client offers for each direction in its first packet; none when that is another, or not whole. */
export function offeredCiphers({ bytes }: Opening): readonly [string[], string[]] {
  const packet = bytes.subarray(bytes.indexOf(newline) + 1)
  let at = 5
  if (packet[at] !== kexInit) return [[], []]
  at += beforeLists
  const lists = Array.from({ length: 4 }, () => {
    if (at + 4 > packet.length) return []
    const end = at + 4 + packet.readUInt32BE(at)
    const names = packet.toString('latin1', at + 4, end).split(',')
    at = end
    return names
  })
  // Before them: key exchanges, and types of host keys.
  return [lists[2] ?? [], lists[3] ?? []]
}
