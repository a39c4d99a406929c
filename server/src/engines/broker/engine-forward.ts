import type { IncomingMessage, RequestOptions, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { request } from '@berth/gateway/basics/bind.ts'
import type { EngineAddress } from '#/engines/docker/engine-address.ts'

/** Max bytes of an answer that is read whole: a list of the volumes and images of a large host. */
const maxShown = 64 * 1024 * 1024
/**
 * How long the engine may take to answer a question of the broker's own, in ms, and how many bytes the answer may have.
 */
const question = { timeout: 10_000, maxBytes: 4 * 1024 * 1024 }

/** Headers of answers that Berth reads. */
const passedHeaders = ['content-type', 'content-length', 'api-version', 'x-docker-container-path-stat']

/** A request as it is passed on: made anew of parts that were checked. */
export interface Forwarded {
  readonly method: string
  /** With the version of the API and the query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** JSON; undefined: the body of the client's request, as it comes. */
  readonly body: string | undefined
  /** What of the engine's answer, JSON, the client gets; undefined: all of it, as it comes. */
  readonly shown: ((answer: unknown) => unknown) | undefined
  /** Called with the engine's status, before the client has its answer; must not throw. */
  readonly onAnswer: ((status: number) => void) | undefined
  /** Called once the engine's answer has come whole, before the client has its end; a failure of it is not told. */
  readonly onEnd: (() => Promise<void>) | undefined
}

/** An answer of the engine to a question of the broker's own, which the client gets as it is. */
export class EngineFailure extends Error {
  override readonly name = 'EngineFailure'
  readonly status: number
  /** JSON of the engine. */
  readonly body: string

  constructor(status: number, body: string) {
    super(`the engine answered ${status}`)
    this.status = status
    this.body = body
  }
}

/** Speaks to the engine, for clients and for checks of the broker itself. */
export class EngineForward {
  readonly #where: RequestOptions

  constructor({ origin, socketPath }: EngineAddress) {
    const { hostname, port } = new URL(origin)
    this.#where = socketPath === undefined ? { host: hostname, port } : { socketPath }
  }

  /**
   * Passes a request on and its answer back, as both come; either side that goes away ends the other. An engine that
   * does not answer is 502.
   */
  forward(client: IncomingMessage, answer: ServerResponse, forwarded: Forwarded): void {
    const { method, path, headers, body, shown, onAnswer, onEnd } = forwarded
    const asked = request({ ...this.#where, method, path, headers: { host: 'docker', ...headers }, agent: false })
    answer.once('close', () => asked.destroy())
    asked.on('error', (error) => {
      if (answer.headersSent) answer.destroy()
      else refuse(answer, 502, `the engine does not answer: ${error.message}`)
    })
    asked.once('response', (response) => {
      onAnswer?.(response.statusCode ?? 502)
      if (shown && response.statusCode === 200) return void answerShown(response, answer, shown)
      const { headers } = response
      const passed = passedHeaders.flatMap((name) =>
        headers[name] === undefined ? [] : [[name, String(headers[name])]],
      )
      answer.writeHead(response.statusCode ?? 502, Object.fromEntries(passed) as Record<string, string>)
      // Followed logs and events may be silent for hours, and their head is an answer.
      answer.flushHeaders()
      response.on('error', () => answer.destroy()).pipe(answer, { end: onEnd === undefined })
      if (onEnd)
        response.once(
          'end',
          () =>
            void onEnd().then(
              () => answer.end(),
              () => answer.end(),
            ),
        )
    })
    if (body === undefined) client.pipe(asked)
    else asked.end(body)
  }

  /**
   * Asks the engine for a connection, and joins it with a client's: what comes from either side goes to the other, whose
   * end it is told, and either that breaks ends both. What the engine refuses the client gets as it is.
   * @param client everything after its request is still to be read
   */
  hijack(client: Duplex, path: string, body: string): void {
    const headers = { host: 'docker', 'content-type': 'application/json', connection: 'Upgrade', upgrade: 'tcp' }
    const length = { 'content-length': Buffer.byteLength(body) }
    const asked = request({ ...this.#where, method: 'POST', path, headers: { ...headers, ...length }, agent: false })
    client.on('error', () => client.destroy()).once('close', () => asked.destroy())
    asked.on('error', (error) => refuseRaw(client, 502, `the engine does not answer: ${error.message}`))
    asked.once('response', (response) => {
      readAll(response, question.maxBytes)
        .then((said) => refuseRaw(client, response.statusCode ?? 502, '', said))
        .catch(() => client.destroy())
    })
    asked.once('upgrade', (_: IncomingMessage, engine: Duplex, head: Buffer) => {
      engine.on('error', () => client.destroy())
      engine.once('close', () => void (engine.readableEnded || client.destroy()))
      client.once('close', () => engine.destroy())
      if (head.length > 0) engine.unshift(head)
      client.write('HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n')
      engine.pipe(client).pipe(engine)
    })
    asked.end(body)
  }

  /**
   * @returns the engine's answer to a GET; undefined when there is no such thing
   * @throws {EngineFailure} when the engine answers with another status @throws {Error} when it does not answer
   */
  async ask<T>(path: string): Promise<T | undefined> {
    const signal = AbortSignal.timeout(question.timeout)
    const asked = request({ ...this.#where, path, headers: { host: 'docker' }, agent: false, signal }).end()
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      asked.once('response', resolve).once('error', reject)
    })
    const text = await readAll(response, question.maxBytes)
    if (response.statusCode === 404) return undefined
    if (response.statusCode !== 200) throw new EngineFailure(response.statusCode ?? 502, text)
    return JSON.parse(text) as T
  }
}

/** @throws {Error} when it is longer, or ends early */
async function readAll(response: IncomingMessage, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > maxBytes) throw new Error(`an answer of the engine has more than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

/** Answers with a part of what the engine answers; 502 when that cannot be read. */
async function answerShown(
  response: IncomingMessage,
  answer: ServerResponse,
  shown: (answer: unknown) => unknown,
): Promise<void> {
  try {
    const body = JSON.stringify(shown(JSON.parse(await readAll(response, maxShown))))
    answer.writeHead(200, { 'content-type': 'application/json' }).end(body)
  } catch (error) {
    refuse(answer, 502, `the engine's answer cannot be read: ${String(error)}`)
  }
}

/** In the form in which the engine refuses. @param body JSON in place of the message */
export function refuse(
  answer: ServerResponse,
  status: number,
  message: string,
  body = JSON.stringify({ message }),
): void {
  answer.writeHead(status, { 'content-type': 'application/json', connection: 'close' })
  answer.end(body)
}

/** Refuses on a connection that is no server's any more. @param body JSON in place of the message */
export function refuseRaw(client: Duplex, status: number, message: string, body = JSON.stringify({ message })): void {
  if (client.destroyed) return
  const head = ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`, 'Connection: close']
  client.end(`HTTP/1.1 ${status} Refused\r\n${head.join('\r\n')}\r\n\r\n${body}`)
}
