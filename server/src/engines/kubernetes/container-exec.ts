import { addAbortSignal, Duplex } from 'node:stream'
import { WebSocket, type RawData } from 'ws'
import type { ExecEnd, ExecProcess } from '#/engines/runtime.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { toRuntimeError } from '#/engines/transport/engine-calls.ts'
import { errorResponseOf } from './cluster-client.ts'
import type { ClusterContext } from './cluster-context.ts'
import { findPod } from './container-lookup.ts'
import { channels, maxErrors, openExec, type ExecResult } from './pod-exec.ts'
import { appContainer, stateOf } from './pod-state.ts'

/** Versions of the protocol. Source: kubernetes, `k8s.io/apimachinery/pkg/util/remotecommand`. */
const [withClose, withoutClose] = ['v5.channel.k8s.io', 'v4.channel.k8s.io']
/** First byte of a message that closes a channel; the second names it. */
const closing = 255

/**
 * Only in pods of this installation. A cluster before 1.30 cannot close a standard input: there the program sees the end
 * of its input with that of the connection, which who called `end` has to close.
 */
export async function execInApp(
  cluster: ClusterContext,
  uid: string,
  command: readonly [string, ...string[]],
  signal: AbortSignal,
): Promise<ExecProcess> {
  const what = `exec ${command[0]} in ${uid}`
  const pod = await findPod(cluster, uid, signal)
  if (!pod) throw new RuntimeError('missing', what)
  if (stateOf(pod) !== 'running') throw new RuntimeError('conflict', what)
  const socket = await openExec(cluster, {
    what,
    pod: pod.metadata.name,
    container: appContainer,
    command,
    hasInput: true,
    protocols: [withClose, withoutClose],
    signal,
  })
  const connection = new ExecConnection(socket, what)
  addAbortSignal(signal, connection)
  await connection.opened
  return { stream: connection, ended: connection.ended }
}

/** One connection of a program, whose messages carry their channel in the first byte. */
class ExecConnection extends Duplex {
  readonly opened: Promise<void>
  readonly ended: Promise<ExecEnd>
  readonly #socket: WebSocket
  #errors = ''
  #result: ExecResult | undefined

  constructor(socket: WebSocket, what: string) {
    super({ allowHalfOpen: true })
    this.#socket = socket
    const opened = Promise.withResolvers<void>()
    const ended = Promise.withResolvers<ExecEnd>()
    this.opened = opened.promise
    this.ended = ended.promise
    const fail = (error: unknown) => {
      const problem = toRuntimeError(error, what, undefined) as Error
      opened.reject(problem)
      this.destroy(problem)
    }
    // The caller hears of this by `opened`, before it can listen.
    this.on('error', () => undefined)
    socket.on('open', () => opened.resolve())
    socket.on('message', (data) => this.#take(data as RawData & Buffer))
    socket.on('error', fail)
    socket.on('unexpected-response', (_, response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => (text = (text + part).slice(0, 10_000)))
      response.on('end', () => {
        fail(errorResponseOf(what, response.statusCode ?? 0, text))
        socket.terminate()
      })
    })
    socket.on('close', () => {
      opened.reject(new RuntimeError('unreachable', what))
      if (this.#result) this.push(null)
      else this.destroy(new RuntimeError('unreachable', what))
      const code = codeOf(this.#result)
      // Where there is no code, the result says why the program did not run.
      ended.resolve({ code, errors: this.#errors || ((code === null && this.#result?.message) || '') })
    })
  }

  override _read(): void {
    if (this.#socket.isPaused) this.#socket.resume()
  }

  override _write(bytes: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    // What cannot be sent any more is told by the end of the connection.
    if (this.#socket.readyState !== WebSocket.OPEN) return done()
    this.#socket.send(Buffer.concat([Buffer.from([channels.input]), bytes]), () => done())
  }

  override _final(done: () => void): void {
    if (this.#socket.readyState === WebSocket.OPEN && this.#socket.protocol === withClose)
      this.#socket.send(Buffer.from([closing, channels.input]))
    done()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.terminate()
    done(error)
  }

  #take(bytes: Buffer): void {
    const [channel, content] = [bytes[0], bytes.subarray(1)]
    if (channel === channels.errors) this.#errors = (this.#errors + content.toString()).slice(-maxErrors)
    if (channel === channels.result) this.#result = JSON.parse(content.toString()) as ExecResult
    if (channel === channels.output && content.length > 0 && !this.push(content)) this.#socket.pause()
  }
}

/** Source: kubernetes, `remotecommand.NonZeroExitCodeReason`. */
function codeOf(result: ExecResult | undefined): number | null {
  if (result?.status === 'Success') return 0
  const code = result?.details?.causes?.find(({ reason }) => reason === 'ExitCode')?.message
  return code !== undefined && /^\d{1,3}$/.test(code) ? Number(code) : null
}
