import { Duplex } from 'node:stream'
import { WebSocket } from 'ws'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { toRuntimeError } from '#/engines/transport/engine-calls.ts'
import { callTimeouts, errorResponseOf } from './cluster-client.ts'
import type { ClusterContext } from './cluster-context.ts'

/** Characters of the answer to a connection that the cluster refuses. */
const maxRefusal = 10_000

/** A connection that the cluster's API is asked for. */
export interface SocketCall {
  /** What is being done, for the error. */
  readonly what: string
  /** With its query. */
  readonly path: string
  /** Versions of the protocol that are spoken, best first. */
  readonly protocols: string[]
  readonly signal: AbortSignal
}

/** Connects to the cluster's API. An answer that refuses the connection is an `error` of the socket, which ends it. */
export async function openSocket(cluster: ClusterContext, call: SocketCall): Promise<WebSocket> {
  const { what, path, protocols, signal } = call
  const { url, headers, connect } = await cluster.client.connection({ what, path, signal })
  const options = { ...connect, headers, handshakeTimeout: callTimeouts.list, perMessageDeflate: false }
  const socket = new WebSocket(url.replace(/^http/, 'ws'), protocols, options)
  socket.on('unexpected-response', (_, response) => {
    let text = ''
    response.setEncoding('utf8').on('data', (part: string) => (text = (text + part).slice(0, maxRefusal)))
    response.on('end', () => {
      socket.emit('error', errorResponseOf(what, response.statusCode ?? 0, text))
      socket.terminate()
    })
  })
  return socket
}

/** A connection into a pod as a stream. The first byte of each message says which channel it is of. */
export abstract class PodStream extends Duplex {
  /** Rejects when there is no connection to be had. */
  readonly opened: Promise<void>
  protected readonly socket: WebSocket
  readonly #input: number

  /** @param input channel of what is written */
  constructor(socket: WebSocket, what: string, input: number) {
    super({ allowHalfOpen: true })
    this.socket = socket
    this.#input = input
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.opened = promise
    // The caller hears of an error by `opened`, before it can listen.
    this.on('error', () => undefined)
    socket.on('open', () => resolve())
    socket.on('message', (message) => this.takeMessage(message as Buffer))
    socket.on('error', (error) => {
      const problem = toRuntimeError(error, what, undefined) as Error
      reject(problem)
      this.destroy(problem)
    })
    socket.on('close', () => {
      const lost = new RuntimeError('unreachable', what)
      reject(lost)
      this.lose(lost)
    })
  }

  protected abstract takeMessage(message: Buffer): void

  /** Called when the connection has ended. @param lost for a stream that needed it */
  protected abstract lose(lost: RuntimeError): void

  /** Gives bytes to the reader, who sets the pace. */
  protected pass(bytes: Buffer): void {
    if (bytes.length > 0 && !this.push(bytes)) this.socket.pause()
  }

  override _read(): void {
    if (this.socket.isPaused) this.socket.resume()
  }

  override _write(bytes: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    // What cannot be sent any more is told by the end of the connection.
    if (this.socket.readyState !== WebSocket.OPEN) return done()
    this.socket.send(Buffer.concat([Buffer.from([this.#input]), bytes]), () => done())
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.socket.terminate()
    done(error)
  }
}
