import http, { type ClientRequest, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { connectToApp } from './app-socket.ts'
import type { HeaderLine } from './hop-by-hop.ts'

/** A request on its way to an app. */
export interface Question {
  readonly host: string
  readonly port: number
  readonly method: string
  /** Sent byte for byte. */
  readonly path: string
  readonly headers: readonly HeaderLine[]
}

/** What an app says first: an answer, or that it changes the protocol. `head` holds the first bytes after the change. */
export type Reply =
  | { readonly kind: 'answer'; readonly message: IncomingMessage }
  | { readonly kind: 'upgrade'; readonly message: IncomingMessage; readonly socket: Socket; readonly head: Buffer }

/**
 * Begins a request on a connection of its own, which nobody has used before and nobody will use again. Engines give an
 * address to the next container as soon as one is gone, so a kept connection could reach somebody else's app; and a kept
 * connection that the app is just closing fails a request that must not be sent twice. One handshake inside the host is the price.
 * @param connectTimeout ms until the app must have accepted; after that it may take its time (long polls do)
 */
export function ask(question: Question, connectTimeout: number): ClientRequest {
  const { headers, method, path } = question
  const appRequest = http.request({
    method,
    path,
    headers: headers.flat(),
    setHost: false,
    // Instead of an agent, which would keep connections.
    createConnection: () => connectToApp(question, connectTimeout),
    // Apps may send larger heads than we accept from clients: 64 KiB holds what nginx and Caddy pass in practice.
    maxHeaderSize: 65_536,
  })
  // Failures are told by replyTo. After the answer has begun they come a second time, and would end the process here.
  return appRequest.on('error', () => {})
}

/** Resolves with the app's first word. Rejects when the connection ends without one, or with one that is not HTTP. */
export function replyTo(appRequest: ClientRequest): Promise<Reply> {
  return new Promise((resolve, reject) => {
    appRequest.once('response', (message) => resolve({ kind: 'answer', message }))
    // Node hands over a socket only where somebody listens, so a 101 that nobody asked for is seen here too.
    appRequest.once('upgrade', (message, socket, head) => resolve({ kind: 'upgrade', message, socket, head }))
    appRequest.on('error', reject)
    appRequest.once('close', () => reject(new Error('the connection closed without an answer')))
  })
}
