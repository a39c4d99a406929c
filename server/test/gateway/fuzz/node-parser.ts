import http, { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { linesOf, type Reading, type StreamReading } from './parsed-message.ts'

/** Collects a body at once instead of by events, so that a stream is read to its end before anything else happens. */
class CollectedMessage extends IncomingMessage {
  readonly collected: Buffer[] = []
  isComplete = false

  override push(chunk: Buffer | null): boolean {
    if (chunk === null) this.isComplete = true
    else this.collected.push(chunk)
    return true
  }
}

/** A connection in memory that says nothing back. */
class SilentConnection extends Duplex {
  override _read(): void {}
  override _write(_chunk: unknown, _encoding: unknown, done: () => void): void {
    done()
  }
  // What node:http asks of a socket.
  setTimeout(): this {
    return this
  }
  setNoDelay(): this {
    return this
  }
  setKeepAlive(): this {
    return this
  }
}

let requests: CollectedMessage[] = []
let problem: string | undefined

const server = http.createServer({
  IncomingMessage: CollectedMessage,
  maxHeaderSize: 32 * 1024,
  insecureHTTPParser: false,
  requireHostHeader: true,
  keepAliveTimeout: 0,
  headersTimeout: 0,
  requestTimeout: 0,
})
server.maxHeadersCount = 0
for (const event of ['request', 'checkContinue', 'checkExpectation'])
  server.on(event, (request: CollectedMessage) => void requests.push(request))
server.on('clientError', (error: NodeJS.ErrnoException) => void (problem = error.code ?? error.message))

/** What Node's own server, as strict as it is by default, makes of bytes from a client. */
export function readRequestsAsNode(bytes: Buffer): StreamReading {
  requests = []
  problem = undefined
  const connection = new SilentConnection()
  server.emit('connection', connection)
  // Not `push`: the event reaches the parser within this call.
  connection.emit('data', bytes)
  connection.destroy()
  return {
    messages: requests.map((request) => reading(`${request.method} ${request.url} ${request.httpVersion}`, request)),
    end: problem === undefined ? 'open' : 'refused',
    ...(problem === undefined ? {} : { why: problem }),
  }
}

function reading(first: string, message: CollectedMessage): Reading {
  return {
    first,
    lines: linesOf(message.rawHeaders),
    body: Buffer.concat(message.collected).toString('latin1'),
    trailers: linesOf(message.rawTrailers),
    isComplete: message.isComplete,
  }
}

/** What Node's own client makes of an app's bytes, after which the app ends the connection. */
export function readAnswerAsNode(bytes: Buffer, method: string): Promise<StreamReading> {
  return new Promise((resolve) => {
    const messages: Reading[] = []
    let answer: IncomingMessage | undefined
    let problem: string | undefined
    const body: Buffer[] = []
    let isComplete = false
    const connection = new SilentConnection()
    const request = http.request({
      method,
      createConnection: () => connection as unknown as Socket,
      maxHeaderSize: 64 * 1024,
    })
    request.maxHeadersCount = 0
    request.on('information', (info) => void messages.push(interim(info)))
    request.on('error', (error: NodeJS.ErrnoException) => void (problem ??= error.code ?? error.message))
    request.on('upgrade', (message) => {
      answer = message
      isComplete = true
    })
    request.on('response', (message) => {
      answer = message
      message.on('error', () => {})
      message.push = (chunk: Buffer | null) => {
        if (chunk === null) isComplete = true
        else body.push(chunk)
        return true
      }
    })
    request.once('socket', () =>
      setImmediate(() => {
        connection.emit('data', bytes)
        connection.emit('end')
        connection.destroy()
        if (answer)
          messages.push({
            first: `${answer.statusCode} ${answer.statusMessage}`,
            lines: linesOf(answer.rawHeaders),
            body: Buffer.concat(body).toString('latin1'),
            trailers: linesOf(answer.rawTrailers),
            isComplete,
          })
        resolve({ messages, end: problem === undefined ? 'closed' : 'refused', ...(problem ? { why: problem } : {}) })
      }),
    )
    request.end()
  })
}

function interim({ statusCode, statusMessage, rawHeaders }: http.InformationEvent): Reading {
  return {
    first: `${statusCode} ${statusMessage}`,
    lines: linesOf(rawHeaders),
    body: '',
    trailers: [],
    isComplete: true,
  }
}
