import { addAbortSignal } from 'node:stream'
import type { WebSocket } from 'ws'
import type { ExecEnd, ExecProcess } from '#/engines/runtime.ts'
import type { RuntimeError } from '#/engines/runtime-error.ts'
import type { ClusterContext } from './cluster-context.ts'
import { findRunning } from './container-lookup.ts'
import { channels, maxErrors, openExec, type ExecResult } from './pod-exec.ts'
import { appContainer } from './pod-state.ts'
import { PodStream } from './pod-stream.ts'

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
  const socket = await openExec(cluster, {
    what,
    pod: await findRunning(cluster, uid, what, signal),
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

class ExecConnection extends PodStream {
  readonly ended: Promise<ExecEnd>
  readonly #end: (end: ExecEnd) => void
  #errors = ''
  #result: ExecResult | undefined

  constructor(socket: WebSocket, what: string) {
    super(socket, what, channels.input)
    const { promise, resolve } = Promise.withResolvers<ExecEnd>()
    this.ended = promise
    this.#end = resolve
  }

  override _final(done: () => void): void {
    if (this.socket.readyState === this.socket.OPEN && this.socket.protocol === withClose)
      this.socket.send(Buffer.from([closing, channels.input]))
    done()
  }

  protected override takeMessage(message: Buffer): void {
    const [channel, content] = [message[0], message.subarray(1)]
    if (channel === channels.errors) this.#errors = (this.#errors + content.toString()).slice(-maxErrors)
    if (channel === channels.result) this.#result = resultOf(content.toString())
    if (channel === channels.output) this.pass(content)
  }

  protected override lose(lost: RuntimeError): void {
    if (this.#result) this.push(null)
    else this.destroy(lost)
    const code = codeOf(this.#result)
    // Where there is no code, the result says why the program did not run.
    this.#end({ code, errors: this.#errors || (code === null && this.#result?.message) || '' })
  }
}

/** A result that cannot be read is none: a message that a proxy cut must not end the process. */
function resultOf(content: string): ExecResult | undefined {
  try {
    return JSON.parse(content) as ExecResult
  } catch {
    return undefined
  }
}

/** In the words of runc, and of other OCI runtimes, about a program that there is none of. */
const noProgram = /: no such file or directory|executable file not found|ENOENT/

/** Source: kubernetes, `remotecommand.NonZeroExitCodeReason`. A program that there is none of has the code that shells give. */
function codeOf(result: ExecResult | undefined): number | null {
  if (result?.status === 'Success') return 0
  if (noProgram.test(result?.message ?? '')) return 127
  const code = result?.details?.causes?.find(({ reason }) => reason === 'ExitCode')?.message
  return code !== undefined && /^\d{1,3}$/.test(code) ? Number(code) : null
}
