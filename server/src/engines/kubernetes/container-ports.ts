import { addAbortSignal, Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { linesOfTables, listeningIn, type ListeningProgram } from '#/engines/listening.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { toRuntimeError } from '#/engines/transport/engine-calls.ts'
import { callTimeouts, corePath, errorResponseOf } from './cluster-client.ts'
import type { ClusterContext } from './cluster-context.ts'
import { findPod } from './container-lookup.ts'
import { outputOf } from './pod-exec.ts'
import { appContainer, stateOf } from './pod-state.ts'

/** Bytes of the kernel's tables that are read. */
const maxTables = 4 * 1024 * 1024

/** By `cat` of the image: nothing of ours is in a pod. Needs the right `pods/exec`. */
export async function listListening(
  cluster: ClusterContext,
  uid: string,
  signal: AbortSignal,
): Promise<ListeningProgram[]> {
  const what = `look at the ports of ${uid}`
  const pod = await runningPod(cluster, uid, what, signal)
  // Without IPv6 there is no second table, and `cat` fails after the first.
  const script = ['sh', '-c', 'cat /proc/net/tcp /proc/net/tcp6 2>/dev/null || true']
  const call = { what, pod, container: appContainer, command: script, signal }
  return listeningIn(linesOfTables(await outputOf(cluster, call, maxTables)))
}

/**
 * By the cluster's forwarding of ports. Needs the right `pods/portforward`.
 * Source: kubernetes, `k8s.io/kubelet/pkg/cri/streaming/portforward`, `v4.channel.k8s.io`: a channel for the bytes of a port and one
 * for its errors, each of which begins with the port's number; a connection that is made is not told.
 */
export async function connectToLoopback(
  cluster: ClusterContext,
  uid: string,
  port: number,
  signal: AbortSignal,
): Promise<Duplex | 'refused'> {
  const what = `connect to port ${port} of ${uid}`
  const pod = await runningPod(cluster, uid, what, signal)
  const path = `${corePath(cluster, 'pods', pod)}/portforward`
  const { url, headers, connect } = await cluster.client.connection({ what, path, signal })
  const options = { ...connect, headers, handshakeTimeout: callTimeouts.list, perMessageDeflate: false }
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}?ports=${port}`, ['v4.channel.k8s.io'], options)
  const connection = new ForwardedPort(socket, what)
  addAbortSignal(signal, connection)
  await connection.opened
  if (!(await Promise.race([connection.refused, sleep(refusalTime, false, { ref: false })]))) return connection
  connection.destroy()
  return 'refused'
}

/** How long a refusal takes to come at most, in ms. */
const refusalTime = 250

async function runningPod(cluster: ClusterContext, uid: string, what: string, signal: AbortSignal): Promise<string> {
  const pod = await findPod(cluster, uid, signal)
  if (!pod) throw new RuntimeError('missing', what)
  if (stateOf(pod) !== 'running') throw new RuntimeError('conflict', what)
  return pod.metadata.name
}

const [data, errors] = [0, 1]

/** One forwarded connection. */
class ForwardedPort extends Duplex {
  readonly opened: Promise<void>
  /** Resolves when an error has come, which ends the connection. */
  readonly refused: Promise<true>
  readonly #socket: WebSocket
  /** Bytes of the port's number that are still to come, by channel. */
  readonly #numberLeft = [2, 2]

  constructor(socket: WebSocket, what: string) {
    super({ allowHalfOpen: true })
    this.#socket = socket
    const opened = Promise.withResolvers<void>()
    const refused = Promise.withResolvers<true>()
    this.opened = opened.promise
    this.refused = refused.promise
    const fail = (error: unknown) => {
      const problem = toRuntimeError(error, what, undefined) as Error
      opened.reject(problem)
      this.destroy(problem)
    }
    // Who opens it hears of this by `opened`, before others can listen.
    this.on('error', () => undefined)
    socket.on('open', () => opened.resolve())
    socket.on('message', (message) => {
      if (this.#take(message as Buffer)) refused.resolve(true)
    })
    socket.on('error', fail)
    socket.on('unexpected-response', (_, response) => {
      response.resume()
      fail(errorResponseOf(what, response.statusCode ?? 0, ''))
      socket.terminate()
    })
    socket.on('close', () => {
      opened.reject(new RuntimeError('unreachable', what))
      this.push(null)
    })
  }

  override _read(): void {
    if (this.#socket.isPaused) this.#socket.resume()
  }

  override _write(bytes: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return done()
    this.#socket.send(Buffer.concat([Buffer.from([data]), bytes]), () => done())
  }

  override _final(done: () => void): void {
    done()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.terminate()
    done(error)
  }

  /** @returns whether it was an error */
  #take(message: Buffer): boolean {
    const channel = message[0] ?? data
    const skipped = Math.min(this.#numberLeft[channel] ?? 0, message.length - 1)
    this.#numberLeft[channel] = (this.#numberLeft[channel] ?? 0) - skipped
    const content = message.subarray(1 + skipped)
    if (channel === data && content.length > 0 && !this.push(content)) this.#socket.pause()
    return channel === errors && content.length > 0
  }
}
