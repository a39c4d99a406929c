import type { Language } from '@berth/api/boot.ts'
import { lstatSync, unlinkSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { acceptErrors, connectionsCheckingInterval, createServer } from '@berth/gateway/basics/bind.ts'
import { tunnelProtocol } from '@berth/gateway/port/tunnel.ts'
import { contentLanguage, defaultLanguage } from '@berth/texts/language.ts'
import { message, type LocalizedMessage } from '@berth/texts/localized-message.ts'
import { localize } from '@berth/texts/localize.ts'
import { requestedLanguage } from './localized-reply.ts'

/**
 * Max size of a request head, in bytes: what the gateway accepts (32 KB) and what it adds. With Node's 16 KB six large
 * cookies, which a container's page may set, made every page of Berth answer 431 to that browser for as long as they
 * lived.
 */
export const maxHeaderSize = 64 * 1024
/** Timeout of a request head, in ms. */
const headersTimeout = 15_000
/** Timeout of a request body, in ms. */
const defaultBodyTimeout = 60_000
/**
 * Max connections that wait to be accepted. A Unix socket refuses further ones at once; with Node's 511 a seventh of a
 * thousand simultaneous launches was answered "restarting". The kernel allows 4,096.
 */
const backlog = 4_096
/** Interval at which a draining server closes idle connections, in ms. */
const sweepEvery = 20
/**
 * Longer than the gateway keeps idle connections, so that it closes first and no request meets a closing connection; in
 * ms.
 */
const keepAliveTimeout = 65_000

/** Other upgrades, such as h2c by curl, may be ignored: the request is answered without (RFC 9110, 7.8). */
const shouldUpgradeCallback = (request: IncomingMessage) =>
  /^websocket$/i.test(request.headers.upgrade ?? '') || isTunnel(request)

const isTunnel = ({ headers }: IncomingMessage) => headers.upgrade === tunnelProtocol

/** Emitted with request and socket when the gateway asks for a connection from inside of a container. */
export const tunnelEvent = 'berth tunnel'

/**
 * Listener of API and front end. Only the gateway reaches it.
 * @param handle answers every request @param bodyTimeout timeout of a request body, in ms
 */
export function createListener(handle: RequestListener, bodyTimeout = defaultBodyTimeout): Server {
  const server = createServer(
    {
      headersTimeout,
      requestTimeout: 0,
      keepAliveTimeout,
      shouldUpgradeCallback,
      maxHeaderSize,
      connectionsCheckingInterval,
    },
    (request, response) => {
      endSlowBody(request, bodyTimeout)
      handle(request, response)
    },
  )
  server.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
    if (isTunnel(request) && server.emit(tunnelEvent, request, socket)) return
    socket.on('error', () => socket.destroy())
    socket.end(rawAnswer(404, 'Not Found', message('requests.noUpgrade'), requestedLanguage(request)))
  })
  // Without this Node answers 417 without a body.
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    const { headers, body } = errorAnswer(message('requests.badExpectation'), requestedLanguage(request))
    response.writeHead(417, headers).end(body)
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (socket.writable) socket.end(answerTo(error))
    else socket.destroy()
  })
  return server
}

/**
 * Binds the listener to a Unix socket that its owner alone may use. A socket that an earlier process left, or that
 * another listener of this process still has, is replaced.
 * @param report as of `acceptErrors` @throws {Error} when it cannot be bound, or when the path is not a socket
 */
export async function listenOnSocket(
  server: Server,
  socketPath: string,
  report: (problem: string) => void,
): Promise<void> {
  // Without a pause before the path is bound: what connects in between would find nothing.
  removeStale(socketPath)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ path: socketPath, backlog: backlog }, () => {
      server.removeListener('error', reject).on('error', acceptErrors(report))
      resolve()
    })
  })
  // The folder's mode excludes other users from the start; this holds if the folder is opened.
  await chmod(socketPath, 0o600)
}

function removeStale(socketPath: string): void {
  const there = lstatSync(socketPath, { throwIfNoEntry: false })
  if (!there) return
  if (!there.isSocket()) throw new Error(`${socketPath} exists and is not a socket`)
  unlinkSync(socketPath)
}

/**
 * Graceful shutdown of a listener: accepts no more connections, drains the requests in flight up to the timeout (ms),
 * then cuts them. A connection is closed with its last request: Node would keep it, and with one open page every stop,
 * and every replacement of the API process, took the whole timeout.
 */
export async function drain(server: Server, timeout: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  const sweep = setInterval(() => server.closeIdleConnections(), sweepEvery)
  const timer = setTimeout(() => server.closeAllConnections(), timeout)
  await closed
  clearInterval(sweep)
  clearTimeout(timer)
}

/** Begins the time of a body anew. */
const bodyTimers = new WeakMap<IncomingMessage, { begin(): void; end(): void }>()

/**
 * For a body that may take longer than others, whose reader limits the time.
 * @returns begins the time of the body anew: what is left unread may not keep a connection for ever
 */
export function suspendBodyTimeout(request: IncomingMessage): () => void {
  const timer = bodyTimers.get(request)
  timer?.end()
  return () => {
    if (!request.readableEnded && !request.destroyed) timer?.begin()
  }
}

function endSlowBody(request: IncomingMessage, timeout: number): void {
  const { 'content-length': length = '0', 'transfer-encoding': coding } = request.headers
  // One of 0 bytes has come with its head.
  if (length === '0' && coding === undefined) return
  let running: NodeJS.Timeout | undefined
  const end = () => clearTimeout(running)
  const begin = () => {
    end()
    // A body that is never read never ends: a queued launch of a minute was cut off because of that.
    running = setTimeout(() => request.complete || request.destroy(), timeout)
    // After a body that was refused unread neither event comes, and the timer must not keep the process running.
    running.unref()
  }
  begin()
  bodyTimers.set(request, { begin, end })
  request.once('close', end)
  request.once('end', end)
}

/** Response to what Node's parser refuses, before there is a request. */
function answerTo({ code }: NodeJS.ErrnoException): string {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return rawAnswer(431, 'Request Header Fields Too Large', message('requests.headTooLarge'))
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return rawAnswer(408, 'Request Timeout', message('requests.tooSlow'))
  return rawAnswer(400, 'Bad Request', message('requests.notHttp'))
}

/** As in every response of the API. */
const rawHeaders = {
  'Content-Type': 'application/json; charset=utf-8',
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
}

function errorAnswer(error: LocalizedMessage, language: Language) {
  const body = JSON.stringify({ error: localize(language, error) })
  const length = { 'Content-Length': Buffer.byteLength(body), Connection: 'close' }
  return { body, headers: { ...rawHeaders, ...contentLanguage(language), ...length } }
}

/** @param language of a request that could be parsed */
function rawAnswer(status: number, reason: string, error: LocalizedMessage, language = defaultLanguage): string {
  const { body, headers } = errorAnswer(error, language)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${reason}\r\n${lines.join('')}\r\n${body}`
}
