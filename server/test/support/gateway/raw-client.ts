import { once } from 'node:events'
import http, { type IncomingMessage } from 'node:http'
import net from 'node:net'
import type { TestContext } from 'node:test'
import { ann } from './tokens.ts'
import { type Echo, pairs } from './test-apps.ts'
import { waitLimit } from '../extent.ts'

export interface Answer {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  /** Every line as received: `Name: value`. */
  readonly lines: readonly string[]
  readonly trailers: NodeJS.Dict<string>
  readonly body: string
}

export interface Asking {
  readonly method?: string
  readonly headers?: http.OutgoingHttpHeaders
  readonly body?: string | Buffer
  /** Keeps connections; left out: each request has one of its own. */
  readonly agent?: http.Agent
}

/**
 * One request, on a connection of its own without an agent; the path is sent as it is.
 * @throws {Error} after 20 s (on two quick cores) without an answer
 */
export async function get(port: number, path: string, { body, ...options }: Asking = {}): Promise<Answer> {
  const request = http.request({ host: '127.0.0.1', port, path, agent: false, ...options })
  const overdue = setTimeout(() => request.destroy(new Error(`no answer: ${path}`)), waitLimit(20_000))
  try {
    request.end(body)
    const [message] = (await once(request, 'response')) as [IncomingMessage]
    const text = Buffer.concat(await message.toArray()).toString('latin1')
    const { statusCode = 0, headers, rawHeaders, trailers } = message
    return { status: statusCode, headers, lines: pairs(rawHeaders), trailers, body: text }
  } finally {
    clearTimeout(overdue)
  }
}

/** As `get`, read as what the echo app has received. */
export async function echoed(port: number, path: string, asking: Asking = {}): Promise<Echo> {
  const { status, body } = await get(port, path, { ...asking, headers: { ...ann, ...asking.headers } })
  if (status !== 200) throw new Error(`the app was not reached: ${status} ${body}`)
  return JSON.parse(body) as Echo
}

/** Sends bytes as they are and collects all that comes back until the connection ends. @throws {Error} when it stays open */
export async function exchange(port: number, text: string, quietFor = 5_000): Promise<string> {
  const socket = net.connect(port, '127.0.0.1')
  socket.setTimeout(waitLimit(quietFor), () => socket.destroy(new Error('the connection stayed open')))
  socket.write(text, 'latin1')
  return Buffer.concat(await socket.toArray()).toString('latin1')
}

/** A connection that bytes are written to as they are; `text` is what has come back until now. */
export interface RawClient {
  readonly socket: net.Socket
  readonly text: () => string
  write(text: string): void
  /** Resolves with everything received once it matches. @throws {Error} after 5 s */
  expect(pattern: RegExp): Promise<string>
}

/** Ends with the test. */
export async function rawClient(t: TestContext, port: number): Promise<RawClient> {
  const socket = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => {})
  t.after(() => socket.destroy())
  let received = ''
  socket.on('data', (bytes) => void (received += bytes.toString('latin1')))
  await once(socket, 'connect')
  return {
    socket,
    text: () => received,
    write: (text) => void socket.write(text, 'latin1'),
    expect: async (pattern) => {
      await until(`${pattern} in ${JSON.stringify(received.slice(0, 300))}`, () => pattern.test(received))
      return received
    },
  }
}

/** A connection from an address of the loopback network. */
export async function clientFrom(t: TestContext, port: number, address: string): Promise<RawClient> {
  const socket = net.connect({ port, host: '127.0.0.1', localAddress: address }).on('error', () => {})
  t.after(() => socket.destroy())
  let received = ''
  socket.on('data', (bytes) => void (received += bytes.toString('latin1')))
  await once(socket, 'connect')
  const expect = async (pattern: RegExp) => {
    await until(String(pattern), () => pattern.test(received))
    return received
  }
  return { socket, text: () => received, write: (text) => void socket.write(text, 'latin1'), expect }
}

/** Resolves when the condition holds. @throws {Error} naming what was awaited, after `limit` ms on two quick cores */
export async function until(what: string, condition: () => boolean, limit = 10_000): Promise<void> {
  const end = Date.now() + waitLimit(limit)
  while (!condition()) {
    if (Date.now() > end) throw new Error(`waited in vain: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

export const isOver = ({ socket }: RawClient) => socket.destroyed || socket.readableEnded
