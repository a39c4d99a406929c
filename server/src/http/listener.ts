import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Gateway } from '#/gateway/gateway.ts'

/** How long a client may take for its head, in ms; the body of an upload may take as long as it moves. */
const headersTimeout = 15_000
/** How long an API client may take for its body, in ms. */
const bodyTimeout = 60_000
/** Longer than the idle time of common proxies in front of us, so that they close first and never lose a race; in ms. */
const keepAliveTimeout = 65_000

/** Anything else that is offered, such as h2c by curl, may be ignored: the request is answered as it is (RFC 9110, 7.8). */
const shouldUpgradeCallback = (request: IncomingMessage) => /^websocket$/i.test(request.headers.upgrade ?? '')

/** Who answers once everything is built. */
export interface Answering {
  readonly gateway: Gateway
  /** API and front end. */
  readonly handle: RequestListener
}

/**
 * The one listener: the first path segment decides whether the gateway or the API and front end answers.
 * It can be bound before there is anybody to answer, because the addresses in links depend on the port that was free;
 * until `serve` is called every request gets 503.
 * @param reserved first parts of the paths that are ours, e.g. `api`, `verify`
 */
export function createListener(reserved: ReadonlySet<string>): {
  server: Server
  serve: (answering: Answering) => void
} {
  let answering: Answering | undefined
  const server = createServer(
    { headersTimeout, requestTimeout: 0, keepAliveTimeout, shouldUpgradeCallback },
    (request, response) => {
      if (!request.url?.startsWith('/')) return refuse(response, 400, 'The request target must be a path.')
      if (!answering) return refuse(response, 503, 'Berth is starting. Try again in a second.')
      if (isContainerPath(request.url, reserved)) return answering.gateway.request(request, response)
      endSlowBody(request)
      answering.handle(request, response)
    },
  )
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const isContainer = isContainerPath(request.url ?? '', reserved)
    if (answering && isContainer) answering.gateway.upgrade(request, socket, head)
    else socket.end(rawAnswer(404, 'Not Found', 'There is nothing to upgrade to here.'))
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (socket.writable) socket.end(answerTo(error))
    else socket.destroy()
  })
  return { server, serve: (parts) => void (answering = parts) }
}

/** Binds the listener. @param port 0 picks a free one @returns the port @throws when it is taken */
export async function listen(server: Server, host: string, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException) => reject(new Error(reasonFor(error, host, port), { cause: error }))
    server.once('error', fail)
    server.listen(port, host, () => {
      server.removeListener('error', fail)
      resolve()
    })
  })
  // A TCP listener's address is never a path.
  return (server.address() as AddressInfo).port
}

function reasonFor({ code }: NodeJS.ErrnoException, host: string, port: number): string {
  if (code === 'EADDRINUSE') return `port ${port} on ${host} is taken; set PORT to another one, or to 0 for a free one`
  if (code === 'EACCES') return `port ${port} may not be used without more rights; set PORT to one above 1023`
  return `cannot listen on ${host}:${port}; HOST must be an address of this machine`
}

/** Takes no more connections and waits for the requests under way, at most so long (ms), before it cuts them. */
export async function drain(server: Server, limit: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeIdleConnections()
  const timer = setTimeout(() => server.closeAllConnections(), limit)
  await closed
  clearTimeout(timer)
}

/** True for `/{slug}` and `/{slug}-{type}`; slugs have no hyphen, so what precedes the first one names us or an owner. */
export function isContainerPath(url: string, reserved: ReadonlySet<string>): boolean {
  const slug = /^\/([a-z0-9]+)(?:[-/?]|$)/.exec(url)?.[1]
  return slug !== undefined && !reserved.has(slug)
}

function endSlowBody(request: IncomingMessage): void {
  if (request.headers['content-length'] === undefined && request.headers['transfer-encoding'] === undefined) return
  const timer = setTimeout(() => request.destroy(), bodyTimeout)
  // After a body that was refused unread neither event comes, and the timer must not keep a stopped process alive.
  timer.unref()
  request.once('close', () => clearTimeout(timer))
  request.once('end', () => clearTimeout(timer))
}

function refuse(response: ServerResponse, status: number, error: string): void {
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' }).end(JSON.stringify({ error }))
}

/** What Node's parser refuses, before there is a request to answer. */
function answerTo({ code }: NodeJS.ErrnoException): string {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return rawAnswer(
      431,
      'Request Header Fields Too Large',
      'Address, headers and cookies are too large together: at most 16 KiB.',
    )
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return rawAnswer(408, 'Request Timeout', 'The request did not arrive in time.')
  return rawAnswer(400, 'Bad Request', 'This is not a valid HTTP request.')
}

function rawAnswer(status: number, reason: string, error: string): string {
  const body = JSON.stringify({ error })
  return `HTTP/1.1 ${status} ${reason}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`
}
