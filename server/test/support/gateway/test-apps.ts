import { once } from 'node:events'
import http, { type RequestListener } from 'node:http'
import net from 'node:net'
import type { TestContext } from 'node:test'

/** Where no server listens. */
export { freePort as closedPort } from '../free-port.ts'

/** Starts a server on a free port of the loopback; when the test ends it closes, with all its connections. */
export async function listen(t: TestContext, server: net.Server): Promise<number> {
  await opened(t, server, { host: '127.0.0.1', port: 0 })
  return (server.address() as net.AddressInfo).port
}

export async function opened(t: TestContext, server: net.Server, where: net.ListenOptions): Promise<void> {
  const sockets = new Set<net.Socket>()
  server.on('connection', (socket: net.Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  })
  server.listen(where)
  await once(server, 'listening')
  t.after(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
}

/** What an app has received, as the echo app tells it. */
export interface Echo {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Every line as received: `Name: value`. */
  readonly lines: readonly string[]
  readonly body: string
}

/** An app that answers with what it has received, as JSON. */
export function echoApp(): http.Server {
  return http.createServer({ maxHeaderSize: 65_536 }, async (request, response) => {
    const body = Buffer.concat(await request.toArray().catch(() => [])).toString('latin1')
    const { method, url, headers, rawHeaders } = request
    response.end(JSON.stringify({ method, url, headers, lines: pairs(rawHeaders), body }), 'latin1')
  })
}

export function httpApp(listener: RequestListener): http.Server {
  return http.createServer(listener)
}

/** An app that speaks TCP itself, once per connection: for answers that no library would give. */
export function rawApp(onHead: (socket: net.Socket, head: string) => void): net.Server {
  return net.createServer((socket) => {
    socket.once('data', (bytes) => onHead(socket, bytes.toString('latin1')))
  })
}

/** An app that answers every connection's first bytes with the same ones, then ends. */
export function answering(text: string): net.Server {
  return rawApp((socket) => socket.end(text, 'latin1'))
}

/** An app that takes everything and says `ok`; `seen` holds every byte that reached it. */
export function watchfulApp(): { readonly app: net.Server; readonly seen: () => string } {
  const chunks: Buffer[] = []
  const app = net.createServer((socket) => {
    socket.on('data', (bytes) => {
      chunks.push(bytes)
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
    })
  })
  return { app, seen: () => Buffer.concat(chunks).toString('latin1') }
}

/** Node's flat list (name, value, name, value) as lines. */
export function pairs(flat: readonly string[]): string[] {
  return flat.flatMap((text, index) => (index % 2 === 0 ? [`${text}: ${flat[index + 1]}`] : []))
}

export const okResponse = (body: string) => `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`

/** An app whose every connection answers with what the app was called when the connection was opened. */
export function renamedApp(): { readonly app: net.Server; rename(name: string): void } {
  let name = 'first'
  const app = net.createServer((socket) => {
    const mine = name
    socket.on('data', () => void socket.write(okResponse(mine)))
  })
  return { app, rename: (next) => void (name = next) }
}

export const plainApp = () => httpApp((_, response) => response.end('the app'))
