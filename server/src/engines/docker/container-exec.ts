import { addAbortSignal, Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ExecEnd, ExecProcess } from '#/engines/runtime.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { toRuntimeError } from '#/engines/transport/engine-calls.ts'
import { findOwn } from './container-lookup.ts'
import { callTimeouts } from './engine-client.ts'
import type { EngineContext } from './engine-context.ts'

/** Characters of the error output that are kept. */
const maxErrors = 2_000
/** How often the engine is asked for the exit code, which it may know some ms after the end of the output; and the wait. */
const [codeAttempts, codePause] = [40, 50]

/** How long a program counts as being started that prints nothing, in ms. */
const startLimit = 5_000

/** What is taken from the engine's answer. */
interface ExecInspection {
  readonly Running: boolean
  readonly ExitCode: number | null
}

/**
 * Only in what carries our labels. The engine's terminals are not used: with them it takes a sequence of keys for a
 * wish to leave, and holds the first of them back.
 */
export async function execInContainer(
  engine: EngineContext,
  id: string,
  command: readonly [string, ...string[]],
  signal: AbortSignal,
): Promise<ExecProcess> {
  const { client } = engine
  const what = `exec ${command[0]} in ${id}`
  if (!(await findOwn(engine, id, signal))) throw new RuntimeError('missing', what)
  const body = { AttachStdin: true, AttachStdout: true, AttachStderr: true, Tty: false, Cmd: command }
  const call = { what, method: 'POST', timeout: callTimeouts.start, signal } as const
  const { Id } = await client.ask<{ Id: string }>({ ...call, path: `/containers/${id}/exec`, body })
  const begun = engine.execs.begin(id)
  // A start that is given up goes on in the engine.
  void sleep(startLimit, undefined, { ref: false }).then(begun)
  const start = { Detach: false, Tty: false }
  const connection = new ExecConnection(await client.hijack({ ...call, path: `/exec/${Id}/start`, body: start }), what)
  void connection.begun.then(begun)
  addAbortSignal(signal, connection)
  return { stream: connection, ended: connection.over.then(() => endOf(engine, Id, connection)) }
}

async function endOf({ client }: EngineContext, exec: string, { isWhole, errors }: ExecConnection): Promise<ExecEnd> {
  const call = { what: `exec ${exec}: ask for its end`, method: 'GET', path: `/exec/${exec}/json` } as const
  for (let left = isWhole ? codeAttempts : 0; left > 0; left--) {
    const found = await client.ask<ExecInspection>({ ...call, timeout: callTimeouts.read }).catch(() => undefined)
    if (!found) break
    if (!found.Running) return { code: found.ExitCode, errors }
    await sleep(codePause)
  }
  return { code: null, errors }
}

/**
 * One connection that the engine gave over. Before each piece of output come 8 bytes: which stream it is of (2 is the
 * error output), nothing (3), and its length (4).
 */
class ExecConnection extends Duplex {
  /** Resolves with its first output, or when the engine ends it. */
  readonly begun: Promise<void>
  /** Resolves after the end of the output, or of the connection. */
  readonly over: Promise<void>
  errors = ''
  /** Whether the engine ended the output, and not the connection. */
  isWhole = false
  readonly #socket: Duplex
  readonly #what: string
  #header = Buffer.alloc(0)
  #stream = 1
  /** Bytes of the present piece that are still to come. */
  #left = 0

  constructor(socket: Duplex, what: string) {
    super({ allowHalfOpen: true })
    this.#socket = socket
    this.#what = what
    const { promise, resolve } = Promise.withResolvers<void>()
    this.over = promise
    const first = Promise.withResolvers<void>()
    this.begun = first.promise
    socket.once('data', () => first.resolve()).once('end', () => first.resolve())
    socket.on('data', (bytes: Buffer) => {
      if (!this.#take(bytes)) socket.pause()
    })
    socket.once('end', () => {
      this.isWhole = this.#left === 0 && this.#header.length === 0
      this.push(null)
      resolve()
    })
    socket.on('error', (error) => this.destroy(toRuntimeError(error, what, undefined) as Error))
    socket.once('close', () => {
      if (!socket.readableEnded) this.destroy(new RuntimeError('unreachable', what))
      resolve()
    })
  }

  override _read(): void {
    this.#socket.resume()
  }

  override _write(bytes: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    // The program may have closed its input, or ended: what it printed and its code are told all the same.
    if (this.#socket.writable) this.#socket.write(bytes, () => done())
    else done()
  }

  override _final(done: () => void): void {
    this.#socket.end()
    done()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy()
    done(error)
  }

  /** @returns whether more is wanted */
  #take(bytes: Buffer): boolean {
    let isWanted = true
    for (let at = 0; at < bytes.length;) {
      if (this.#left === 0) {
        at += this.#readHeader(bytes.subarray(at))
        continue
      }
      const piece = bytes.subarray(at, at + this.#left)
      at += piece.length
      this.#left -= piece.length
      if (this.#stream === 2) this.errors = (this.errors + piece.toString()).slice(-maxErrors)
      else isWanted = this.push(piece)
    }
    return isWanted
  }

  /** @returns how many of the bytes it took */
  #readHeader(bytes: Buffer): number {
    const taken = Math.min(bytes.length, 8 - this.#header.length)
    this.#header = Buffer.concat([this.#header, bytes.subarray(0, taken)])
    if (this.#header.length < 8) return taken
    this.#stream = this.#header.readUInt8(0)
    this.#left = this.#header.readUInt32BE(4)
    this.#header = Buffer.alloc(0)
    if (this.#stream > 2)
      this.destroy(new RuntimeError('unreachable', this.#what, new Error('its output has no frames')))
    return taken
  }
}
