import type { Socket } from 'node:net'
import { StringDecoder } from 'node:string_decoder'
import type { Channel } from './channel.ts'

/** Max length of a message in characters; the largest has `maxItemsPerMessage` users, about 300,000. */
const maxLength = 16_000_000

/**
 * A channel over a stream socket, a line of JSON for each message, for processes that do not start each other.
 * A longer message than any of ours, and one that is not JSON, close it.
 */
export function channelOver(socket: Socket): Channel {
  const listeners: ((message: unknown) => void)[] = []
  const deliver = (line: string) => {
    const message: unknown = JSON.parse(line)
    for (const listener of listeners) listener(message)
  }
  const lost = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  // It is lost then, which is all that matters.
  socket.on('error', () => {})
  return {
    send: (message) => {
      if (!socket.writable) return undefined
      const { promise, resolve } = Promise.withResolvers<void>()
      const isRoomy = socket.write(`${JSON.stringify(message)}\n`, () => resolve())
      return isRoomy ? undefined : promise
    },
    onMessage: (listener) => {
      listeners.push(listener)
      if (listeners.length === 1) readLines(socket, deliver)
    },
    lost,
  }
}

/** Nothing is read before: a socket keeps what arrives until it is asked for. */
function readLines(socket: Socket, deliver: (line: string) => void): void {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  socket.on('data', (bytes: Buffer) => {
    const [...lines] = decoder.write(bytes).split('\n')
    lines[0] = rest + (lines[0] ?? '')
    rest = lines.pop() ?? ''
    try {
      for (const line of lines) deliver(line)
    } catch {
      socket.destroy()
    }
    if (rest.length > maxLength) socket.destroy()
  })
}
