import type { Duplex } from 'node:stream'
import type { Socket } from 'node:net'
import type { ServerChannel } from 'ssh2'

/** Bytes that may wait for the client's connection: with none, each packet would wait for the one before. */
const maxUnsent = 1024 * 1024
/** Packets that may wait for the end of a key exchange. */
const maxQueued = 64
/** How often a client is looked at that has not ended a key exchange, in ms. */
const queuePause = 20

/** What a channel needs of its connection. */
export interface ChannelHost {
  readonly socket: Socket
  /** Packets that wait for the end of a key exchange. */
  queued(): number
  /** Bytes moved. @param isFromClient a paused container is woken by them */
  touch(isFromClient: boolean): void
}

/**
 * Sends to a channel at the pace of the client: not only of its window, which it may make as large as it likes, but of
 * its connection. The library writes without waiting for that, and would keep in memory what a client does not read.
 */
export class PacedWriter {
  readonly #host: ChannelHost
  #isClosed = false
  #wake: (() => void) | undefined

  constructor(host: ChannelHost, channel: ServerChannel) {
    this.#host = host
    const close = () => this.close()
    host.socket.once('close', close)
    // One connection may have any number of channels, one after another.
    channel.once('close', close).once('close', () => void host.socket.off('close', close))
  }

  /** Resolves when more may be written, or nothing can be written any more. @returns whether it can */
  async write(target: { write(bytes: Buffer, done: () => void): boolean }, bytes: Buffer): Promise<boolean> {
    if (this.#isClosed) return false
    this.#host.touch(false)
    await this.#until((resolve) => void target.write(bytes, resolve))
    const { socket } = this.#host
    if (!this.#isClosed && socket.writableLength > maxUnsent)
      await this.#until((resolve) => void socket.once('drain', resolve))
    while (!this.#isClosed && this.#host.queued() > maxQueued)
      await this.#until((resolve) => void setTimeout(resolve, queuePause))
    return !this.#isClosed
  }

  /** Ends every wait. */
  close(): void {
    this.#isClosed = true
    this.#wake?.()
  }

  #until(begin: (resolve: () => void) => void): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
      begin(resolve)
    })
  }
}

/** How input is passed to a program that is told in frames. */
export interface InputFrames {
  readonly wrap: (bytes: Buffer) => Buffer
  /** Bytes that may be sent ahead of what the program has taken. */
  readonly window: number
}

/**
 * Passes what a client sends on to a program, at the program's pace; what comes after its end is dropped.
 * @param frames without them the bytes are sent as they are
 * @returns to be called when the program has taken so many bytes; without a window never
 */
export function passInput(
  host: ChannelHost,
  channel: ServerChannel,
  program: Duplex,
  { wrap, window }: InputFrames = { wrap: (bytes) => bytes, window: Infinity },
): (count: number) => void {
  let room = window
  const look = () => {
    // What no program reads any more is dropped: the library tells of the end of a channel when all is read.
    if (program.destroyed || (room > 0 && !program.writableNeedDrain)) channel.resume()
    else channel.pause()
  }
  channel.on('data', (bytes: Buffer) => {
    host.touch(true)
    if (program.destroyed) return
    room -= bytes.length
    program.write(wrap(bytes))
    look()
  })
  program.on('drain', look).once('close', () => channel.resume())
  return (count) => {
    room += count
    look()
  }
}
