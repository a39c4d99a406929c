import { WebSocket, type RawData } from 'ws'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { callTimeouts } from './cluster-client.ts'
import { errorResponseOf, toRuntimeError } from './cluster-errors.ts'
import { corePath, type ClusterContext } from './cluster-context.ts'

/** A command in a container of a pod; its output is read as it comes. */
export interface ExecCall {
  /** What is being done, for the error. */
  readonly what: string
  readonly pod: string
  readonly container: string
  readonly command: readonly string[]
  /** The command has to know its end by itself, as `unpack` does: this protocol cannot close a standard input. */
  readonly input?: AsyncIterable<Uint8Array> | undefined
  readonly signal: AbortSignal
}

/** Of each message the first byte. Source: kubernetes, `v4.channel.k8s.io`. */
const channels = { input: 0, output: 1, errors: 2, result: 3 } as const
/** Bytes that are kept before the connection waits for the reader, and those of one message. */
const [maxKept, maxMessage] = [1024 * 1024, 32 * 1024]
/** Of the error output. */
const maxErrors = 2_000

/** How a command ended: a `Status` of the API. */
interface ExecResult {
  readonly status?: string
  readonly message?: string
}

/**
 * Runs a command, and yields its standard output.
 * @throws {RuntimeError} `failed` with its error output when it ends with another code than 0 or cannot be run; `missing` without
 * the pod; `unreachable` when the connection breaks; the reason of the signal
 */
export async function* execInPod(cluster: ClusterContext, call: ExecCall): AsyncGenerator<Buffer> {
  const { signal, what, input } = call
  signal.throwIfAborted()
  const session = new ExecSession(await open(cluster, call), what)
  const onAbort = () => session.end(signal.reason as Error)
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    await session.opened
    // A command may end before it has read all of its input.
    const sending = input && session.send(input).catch((error: unknown) => session.end(error as Error))
    yield* session.output()
    await sending
  } catch (error) {
    throw toRuntimeError(error, what, signal)
  } finally {
    signal.removeEventListener('abort', onAbort)
    session.close()
  }
}

/** All of the output, as text; of at most so many bytes. @throws as `execInPod` */
export async function outputOf(cluster: ClusterContext, call: ExecCall, maxBytes = 64 * 1024): Promise<string> {
  const parts: Buffer[] = []
  let length = 0
  for await (const part of execInPod(cluster, call)) {
    parts.push(part)
    length += part.length
    if (length > maxBytes) throw new RuntimeError('failed', `${call.what}: its output is too long`)
  }
  return Buffer.concat(parts).toString()
}

async function open(cluster: ClusterContext, call: ExecCall): Promise<WebSocket> {
  const { what, pod, container, command, input, signal } = call
  const path = `${corePath(cluster, 'pods', pod)}/exec`
  const { url, headers, connect } = await cluster.client.connection({ what, path, signal })
  const query = new URLSearchParams([
    ['container', container],
    ['stdout', 'true'],
    ['stderr', 'true'],
    ...(input ? [['stdin', 'true']] : []),
    ...command.map((word) => ['command', word]),
  ] as [string, string][])
  const options = { ...connect, headers, handshakeTimeout: callTimeouts.list, perMessageDeflate: false }
  return new WebSocket(`${url.replace(/^http/, 'ws')}?${query.toString()}`, ['v4.channel.k8s.io'], options)
}

/** One connection of a command: output waits for its reader, and input for the connection. */
class ExecSession {
  readonly opened: Promise<void>
  readonly #socket: WebSocket
  readonly #what: string
  readonly #kept: Buffer[] = []
  #keptBytes = 0
  #errors = ''
  #result: ExecResult | undefined
  #failure: Error | undefined
  #isClosed = false
  #wake: () => void = () => undefined

  constructor(socket: WebSocket, what: string) {
    this.#socket = socket
    this.#what = what
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.opened = promise
    // Its reader may have gone by then.
    promise.catch(() => undefined)
    socket.on('open', resolve)
    socket.on('message', (data) => this.#take(data))
    socket.on('error', (error) => this.end(error))
    socket.on('unexpected-response', (_, response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => (text = (text + part).slice(0, 10_000)))
      response.on('end', () => this.end(errorResponseOf(what, response.statusCode ?? 0, text)))
    })
    socket.on('close', () => {
      this.#isClosed = true
      reject(this.#failure ?? new Error('the connection was closed'))
      this.#wake()
    })
  }

  async send(input: AsyncIterable<Uint8Array>): Promise<void> {
    for await (const bytes of input)
      for (let at = 0; at < bytes.length; at += maxMessage) {
        // A connection that is ending takes each message at once, so that an archive in memory would never let its end be seen.
        if (this.#result || this.#socket.readyState !== WebSocket.OPEN) return
        await this.#sendOne(bytes.subarray(at, at + maxMessage))
      }
  }

  async #sendOne(bytes: Uint8Array): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    // What cannot be sent any more is told by the end of the connection.
    this.#socket.send(Buffer.concat([Buffer.from([channels.input]), bytes]), () => resolve())
    return promise
  }

  async *output(): AsyncGenerator<Buffer> {
    for (;;) {
      const next = this.#kept.shift()
      if (next) {
        this.#keptBytes -= next.length
        if (this.#socket.isPaused && this.#keptBytes < maxKept / 2) this.#socket.resume()
        yield next
      } else if (this.#result ?? this.#failure ?? this.#isClosed) {
        return this.#requireSuccess()
      } else {
        const { promise, resolve } = Promise.withResolvers<void>()
        this.#wake = resolve
        await promise
      }
    }
  }

  /** @param reason what its reader gets */
  end(reason: Error): void {
    this.#failure ??= reason
    this.#socket.terminate()
    this.#wake()
  }

  close(): void {
    this.#socket.terminate()
  }

  #take(data: RawData): void {
    const bytes = data as Buffer
    const [channel, content] = [bytes[0], bytes.subarray(1)]
    if (channel === channels.errors) this.#errors = (this.#errors + content.toString()).slice(-maxErrors)
    if (channel === channels.result) this.#result = JSON.parse(content.toString()) as ExecResult
    if (channel === channels.output && content.length > 0) {
      this.#kept.push(content)
      this.#keptBytes += content.length
      if (this.#keptBytes > maxKept) this.#socket.pause()
    }
    this.#wake()
  }

  #requireSuccess(): void {
    if (this.#result?.status === 'Success') return
    if (this.#failure && !this.#result) throw this.#failure
    if (!this.#result) throw new RuntimeError('unreachable', this.#what, new Error('the connection ended too early'))
    const words = this.#errors.trim() || this.#result.message
    throw new RuntimeError('failed', this.#what, new Error(words))
  }
}
