import type { Language } from '@berth/api/boot.ts'
import { lstat, chmod, unlink } from 'node:fs/promises'
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { contentLanguage, defaultLanguage } from '#/messages/language.ts'
import { message, type LocalizedMessage } from '#/messages/localized-message.ts'
import { localize } from '#/messages/localize.ts'
import { requestedLanguage } from './localized-reply.ts'

/**
 * Longest head, in bytes: whatever the gateway takes (32 KB) and what it adds. With Node's 16 KB six large cookies, which a
 * container's page may set, made every page of Berth answer 431 to that browser for as long as they lived.
 */
const maxHeaderSize = 64 * 1024
/** How long a client may take for its head, in ms. */
const headersTimeout = 15_000
/** How long a client may take for its body, in ms. */
const defaultBodyTimeout = 60_000
/**
 * Connections that may wait to be accepted. Of a Unix socket's the next one is refused at once (Node asks for 511), so that
 * of a thousand people who launched in one moment a seventh was told that Berth is restarting. The kernel allows 4,096.
 */
const backlog = 4_096
/** Between two looks for connections that a drained server needs no more, in ms. */
const sweepEvery = 20
/** Longer than the gateway keeps idle connections to us, so that it closes first and never loses a race; in ms. */
const keepAliveTimeout = 65_000

/** Anything else that is offered, such as h2c by curl, may be ignored: the request is answered as it is (RFC 9110, 7.8). */
const shouldUpgradeCallback = (request: IncomingMessage) => /^websocket$/i.test(request.headers.upgrade ?? '')

/**
 * The listener of API and front end. Only the gateway reaches it.
 * @param handle answers every request @param bodyTimeout ms that a client may take for its body
 */
export function createListener(handle: RequestListener, bodyTimeout = defaultBodyTimeout): Server {
  const server = createServer(
    { headersTimeout, requestTimeout: 0, keepAliveTimeout, shouldUpgradeCallback, maxHeaderSize },
    (request, response) => {
      endSlowBody(request, bodyTimeout)
      handle(request, response)
    },
  )
  server.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
    socket.on('error', () => socket.destroy())
    socket.end(rawAnswer(404, 'Not Found', message('requests.noUpgrade'), requestedLanguage(request)))
  })
  // Without this Node answers 417 with nothing in it.
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
 * Binds the listener to a Unix socket that its owner alone may use. One that an earlier process left is removed.
 * @throws {Error} when it cannot be had, or when something other than a socket is there
 */
export async function listenOnSocket(server: Server, socketPath: string): Promise<void> {
  await removeStale(socketPath)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ path: socketPath, backlog: backlog }, () => {
      server.removeListener('error', reject)
      resolve()
    })
  })
  // The folder keeps strangers out from the first moment on; this holds should somebody open the folder.
  await chmod(socketPath, 0o600)
}

async function removeStale(socketPath: string): Promise<void> {
  const there = await lstat(socketPath).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (!there) return
  if (!there.isSocket()) throw new Error(`${socketPath} is in the way, and is no socket`)
  await unlink(socketPath)
}

/**
 * Takes no more connections and waits for the requests under way, at most so long (ms), before it cuts them. A connection
 * goes with its last request: Node keeps it, and as long as one page was open every stop, and every change to a new API
 * process, took the whole limit.
 */
export async function drain(server: Server, timeout: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  const sweep = setInterval(() => server.closeIdleConnections(), sweepEvery)
  const timer = setTimeout(() => server.closeAllConnections(), timeout)
  await closed
  clearInterval(sweep)
  clearTimeout(timer)
}

function endSlowBody(request: IncomingMessage, timeout: number): void {
  if (request.headers['content-length'] === undefined && request.headers['transfer-encoding'] === undefined) return
  // A body that is there but that nobody reads, such as one of 0 bytes, never ends: a launch that waited a minute for its
  // turn was cut off for it.
  const timer = setTimeout(() => request.complete || request.destroy(), timeout)
  // After a body that was refused unread neither event comes, and the timer must not keep a stopped process alive.
  timer.unref()
  request.once('close', () => clearTimeout(timer))
  request.once('end', () => clearTimeout(timer))
}

/** What Node's parser refuses, before there is a request to answer. */
function answerTo({ code }: NodeJS.ErrnoException): string {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return rawAnswer(431, 'Request Header Fields Too Large', message('requests.headTooLarge'))
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return rawAnswer(408, 'Request Timeout', message('requests.tooSlow'))
  return rawAnswer(400, 'Bad Request', message('requests.notHttp'))
}

/** As every answer of the API has them. */
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

/** @param language of a request that could be read */
function rawAnswer(status: number, reason: string, error: LocalizedMessage, language = defaultLanguage): string {
  const { body, headers } = errorAnswer(error, language)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${reason}\r\n${lines.join('')}\r\n${body}`
}
