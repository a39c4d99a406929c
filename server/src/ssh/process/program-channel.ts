import type { ServerChannel } from 'ssh2'
import type { ExecProcess } from '#/engines/runtime.ts'
import { PacedWriter, passInput, type ChannelHost } from './exec-pump.ts'
import {
  endOfInputFrame,
  FrameReader,
  inputFrames,
  inputWindow,
  signalFrame,
  terminalSize,
  windowFrame,
  type SessionEvent,
} from './session-frames.ts'

/** Exit code of what could not begin, as OpenSSH's own client has it for its errors. */
const refusedCode = 255
/** How long a program whose connection ended without a word may have its reason told by the API process, in ms. */
const reasonWait = 700
/** Bytes that may wait for a program that does not read before signals to it are dropped. */
const maxUnread = 128 * 1024

/** How a program of a channel ended. */
type End = Extract<SessionEvent, { readonly kind: 'code' | 'signal' | 'failure' }>

/** One program (shell, command, sftp) that a channel of a client is joined with. */
export class ProgramChannel {
  readonly #host: ChannelHost
  readonly #channel: ServerChannel
  readonly #writer: PacedWriter
  #program: ExecProcess | undefined
  #hasEnded = false
  /** Signals and sizes from before the program was there. */
  readonly #early: Buffer[] = []
  /** A size that waits until the program reads again. */
  #lastSize: Buffer | undefined

  constructor(host: ChannelHost, channel: ServerChannel) {
    this.#host = host
    this.#channel = channel
    this.#writer = new PacedWriter(host, channel)
    // Nothing that a client does to its channel may end the process.
    channel.on('error', () => undefined)
    channel.once('close', () => this.leave())
  }

  /**
   * Joins it with the program, until that ends.
   * @param start the first frame
   * @param lost the sentence for a connection to the container that breaks
   */
  async run(program: ExecProcess, start: Buffer, { lost, missing }: { lost: string; missing: string }): Promise<void> {
    this.#program = program
    const { stream, ended } = program
    stream.on('error', () => undefined)
    if (this.#hasEnded) return void stream.destroy()
    stream.write(Buffer.concat([start, ...this.#early]))
    const taken = passInput(this.#host, this.#channel, stream, { wrap: inputFrames, window: inputWindow })
    this.#channel.once('end', () => void (stream.writable && stream.write(endOfInputFrame())))
    const end = await this.#passOutput(program, taken)
    stream.destroy()
    if (this.#hasEnded) return
    if (end) return this.#close(end)
    const { code } = await ended
    // The engine's words for a program that is not there.
    if (code === 126 || code === 127) return this.refuse(missing)
    // A container that stops takes its programs with it, and why it stops is told a moment later.
    setTimeout(() => this.refuse(lost), reasonWait)
  }

  /** The size of the client's window. A program that does not read is told the last of many sizes alone. */
  resize(columns: number, rows: number): void {
    const frame = windowFrame(terminalSize(columns), terminalSize(rows))
    const stream = this.#program?.stream
    if (!stream?.writableNeedDrain) return this.#send(frame)
    const isWaiting = this.#lastSize !== undefined
    this.#lastSize = frame
    if (!isWaiting) stream.once('drain', () => this.#sendLastSize())
  }

  /** Does nothing for a program that does not read while much waits for it. @param name without `SIG` */
  signal(name: string): void {
    const unread = this.#program?.stream.writableLength ?? 0
    if (unread < maxUnread && /^[A-Z0-9]{2,8}$/.test(name)) this.#send(signalFrame(name))
  }

  #sendLastSize(): void {
    const frame = this.#lastSize
    this.#lastSize = undefined
    if (frame) this.#send(frame)
  }

  /** Whether the channel is closed, by either side. */
  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /** The client has closed it: nothing is started or passed on any more. */
  leave(): void {
    this.#hasEnded = true
    this.#writer.close()
    this.#program?.stream.destroy()
    // The library tells of the end of a channel when all input is read, which no program does now.
    this.#channel.resume()
  }

  /** Ends with a sentence on the error output. */
  refuse(sentence: string): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#channel.stderr.write(`\r\nBerth: ${sentence}\r\n`)
    this.#finish(() => this.#channel.exit(refusedCode))
  }

  #send(frame: Buffer): void {
    if (this.#program) void (this.#program.stream.writable && this.#program.stream.write(frame))
    else if (this.#early.length < 16) this.#early.push(frame)
  }

  async #passOutput({ stream }: ExecProcess, taken: (count: number) => void): Promise<End | undefined> {
    const reader = new FrameReader()
    const channel = this.#channel
    try {
      for await (const bytes of stream as AsyncIterable<Buffer>)
        for (const event of reader.read(bytes)) {
          if (event.kind === 'taken') {
            taken(event.count)
            continue
          }
          if (!('bytes' in event)) return event
          const target = event.kind === 'output' ? channel : channel.stderr
          if (!(await this.#writer.write(target, event.bytes))) return undefined
        }
    } catch {
      // The connection broke, or the container sent something else; both end it.
    }
    return undefined
  }

  #close(end: End): void {
    if (end.kind === 'failure') return this.refuse(end.words.replace(/[^\x20-\x7e]/g, ' '))
    this.#hasEnded = true
    this.#finish(() => {
      if (end.kind === 'code') this.#channel.exit(end.code)
      else this.#channel.exit(end.name, false, '')
    })
  }

  #finish(tell: () => void): void {
    tell()
    this.#channel.end()
    this.leave()
  }
}
