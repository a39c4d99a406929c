import { request, type IncomingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'
import { webSocketHeaders } from '../../support/web-socket-headers.ts'

export interface Question {
  readonly token?: string | undefined
  /** Of a container with a host of its own. */
  readonly host?: string | undefined
  /** Sent as JSON. */
  readonly body?: unknown
  /** In ms; who waits longer than this gets no answer. */
  readonly limit?: number
}

/** Where an app is. */
export interface Place {
  readonly target: string
  /** Undefined: below the path of the platform's own host. */
  readonly host: string | undefined
}

export type Routing = 'path' | 'subdomain'

/** Where the app with a prefix is, by path or by host. */
export const placeOf = (routing: Routing, port: number, prefix: string): Place =>
  routing === 'path'
    ? { target: `/${prefix}/`, host: undefined }
    : { target: '/', host: `${prefix}.spawner.berth.localhost:${port}` }

export interface Answer {
  /** 0: none came. */
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  // Looked at key by key, as a client does.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any
  readonly took: number
  /** Why no answer came. */
  readonly failure?: string
}

/** How long a client waits, in ms: longer than a launch may take. */
const timeout = 200_000

/**
 * One request on a connection of its own: on one that is kept, the death of the program would be seen at the next request.
 * Never rejects.
 */
export async function ask(port: number, method: string, path: string, question: Question = {}): Promise<Answer> {
  const { token, host, body, limit = timeout } = question
  const text = body === undefined ? undefined : JSON.stringify(body)
  const headers = {
    ...(host === undefined ? {} : { host }),
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(text === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
  }
  const begun = performance.now()
  const took = () => performance.now() - begun
  return new Promise((resolve) => {
    const none = (failure: string) =>
      resolve({ status: 0, headers: {}, text: '', body: undefined, took: took(), failure })
    const asked = request({ host: '127.0.0.1', port, method, path, headers, agent: false }, (answer) => {
      let got = ''
      answer.setEncoding('utf8').on('data', (chunk: string) => (got += chunk))
      answer.on('error', (error) => none(error.message))
      answer.on('close', () => {
        if (!answer.complete) return none('the answer was broken off')
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text: got, body: parse(got), took: took() })
      })
    })
    asked.setTimeout(limit, () => asked.destroy(new Error(`no answer in ${limit} ms`)))
    asked.on('error', (error) => none(error.message)).end(text)
  })
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Opens a WebSocket, as far as the handshake; frames are up to the caller.
 * @returns undefined when it is refused
 */
export async function openWebSocket(port: number, { target, host }: Place, token: string): Promise<Socket | undefined> {
  const headers = { ...webSocketHeaders(token), ...(host === undefined ? {} : { host }) }
  return new Promise((resolve) => {
    const asked = request({ host: '127.0.0.1', port, path: target, headers, agent: false }, (answer) => {
      answer.resume()
      resolve(undefined)
    })
    asked.on('upgrade', (_answer, socket: Socket) => resolve(socket.on('error', () => socket.destroy())))
    asked.setTimeout(20_000, () => asked.destroy())
    asked.on('error', () => resolve(undefined)).end()
  })
}
