import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { clock } from '#/coarse-clock.ts'
import { framingWork, isMostlyFraming } from '#/http1/framing-work.ts'
import { ReadBuffer } from '#/proxy/read-buffer.ts'
import { inTurnOfItsOwn } from '#/proxy/turn-queue.ts'
import { readingInto, reset } from './accepted-socket.ts'
import type { ClientTimeouts } from './client-timeouts.ts'

/** TCP keep-alive, in ms: a router may drop an idle connection, and a client that lost power never closes its side. */
const keepAliveDelay = 30_000
/** Bytes of an answer that may wait for a client without being counted: little, even on all connections together. */
const fewUnread = 16 * 1024

/** TLS records below this length are short, in bytes; so many of them in a row end the reading in a turn. */
const [shortRecord, shortRecords] = [1_024, 16]

/** Downstream socket: reads into a reused buffer, writes with backpressure, and carries the deadline of its connection. */
export abstract class ClientSocket {
  /** Address of the peer: the client, or a proxy in front of the gateway. */
  readonly peer: string
  /** The network that its connections are counted by; undefined for trusted proxies, which carry many clients. */
  readonly network: string | undefined
  protected readonly timeouts: ClientTimeouts
  protected readonly socket: Socket
  /** When `sweep` ends the connection, by `clock.now`. */
  protected deadline: number
  /** The response is complete; further input is dropped. */
  protected isLingering = false
  #isPaused = false
  /** It is read again in a later turn of the event loop. */
  #isYielding = false
  /** TLS records in a row that were short. */
  #shortRecords = 0
  /** Larger reads would only wait: upstreams take smaller pieces. */
  readonly #buffer = new ReadBuffer(64 * 1024)

  /** @param accepted from a server with `noDelay` and `pauseOnConnect` */
  constructor(accepted: Socket, timeouts: ClientTimeouts, network: string | undefined) {
    this.network = network
    this.timeouts = timeouts
    this.peer = accepted.remoteAddress ?? ''
    this.socket = readingInto(
      accepted,
      () => this.#buffer.memory,
      (length, memory) => this.#read(length, memory),
    )
    this.deadline = clock.now + timeouts.head
    this.socket.setKeepAlive(true, keepAliveDelay)
    this.socket.on('drain', () => this.drained())
    this.socket.on('end', () => this.ended())
    this.socket.on('error', () => {})
    this.socket.on('close', () => this.closed())
  }

  /** What is open on it now and takes the bytes that are read; its unsent ones are being written from the read buffer. */
  abstract get activeRequest(): { readonly hasUnsentRequestBytes: boolean; readonly isRequestDone: boolean } | undefined
  /** @param bytes up to `end`, valid only until this returns: what is kept is copied */
  protected abstract take(bytes: Buffer, end: number): void
  /** A request head is incomplete: the read buffer stays small. */
  protected abstract get isHeadUnfinished(): boolean
  /** An answer is being sent whose end only the end of the connection tells. */
  protected abstract get endsByClose(): boolean
  /** The client reads slower than the gateway writes. */
  protected abstract blocked(): void
  protected abstract drained(): void
  protected abstract ended(): void
  protected abstract closed(): void
  protected abstract report(cause: unknown): void

  /** The client disconnected while its request was being processed. */
  get isGone(): boolean {
    return this.socket.destroyed
  }

  /** @returns false when the client reads slower than the gateway writes: wait for `drained` */
  write(bytes: Buffer | string): boolean {
    const isRoom = typeof bytes === 'string' ? this.socket.write(bytes, 'latin1') : this.socket.write(bytes)
    if (isRoom) return true
    this.deadline = clock.now + this.timeouts.stalled
    this.blocked()
    return false
  }

  /** Head and body in as few packets as possible. */
  writeTogether(head: string, body: Buffer): boolean {
    this.socket.cork()
    this.socket.write(head, 'latin1')
    const isRoom = this.write(body)
    this.socket.uncork()
    return isRoom
  }

  hasUnsentBytes(): boolean {
    return this.socket.writableLength > 0
  }

  /** So much of what was written waits for the client that it has to be counted. */
  get hasUnread(): boolean {
    return this.socket.writableLength > fewUnread && !this.socket.destroyed
  }

  /** Calls back when all that was written until now has been sent, or never will be. */
  onceSent(callback: () => void): void {
    this.socket.write('', callback)
  }

  pause(): void {
    this.#isPaused = true
    this.socket.pause()
  }

  resume(): void {
    this.#isPaused = false
    if (this.#isYielding) return
    if (this.socket.readableLength > 0) this.#yieldTurn()
    else this.socket.resume()
  }

  /**
   * Reads nothing more in this turn of the event loop; see `UpstreamConnection`. Records that TLS has decrypted meanwhile are
   * read as one: a resumed socket would give them one by one, each of which may cost a write to the app.
   */
  #yieldTurn(): void {
    this.#isYielding = true
    this.socket.pause()
    inTurnOfItsOwn(() => {
      this.#isYielding = false
      if (this.#isPaused) return
      // It emits `data`, which may pause it, too.
      if (this.socket.readableLength > 0) this.socket.read()
      if (!this.#isPaused && !this.#isYielding) this.socket.resume()
    })
  }

  /** Node hands over each record by itself, and thousands of one byte may come in one turn. */
  #areRecordsShort(length: number): boolean {
    if (!(this.socket instanceof TLSSocket)) return false
    this.#shortRecords = length < shortRecord ? this.#shortRecords + 1 : 0
    return this.#shortRecords > 0 && this.#shortRecords % shortRecords === 0
  }

  /** Closes the connection at once; with a reset where its end would be taken for the end of an answer. */
  cut(): void {
    const isCutShort = this.endsByClose || (this.isLingering && this.hasUnsentBytes())
    if (isCutShort) reset(this.socket)
    else this.socket.destroy()
  }

  /**
   * Lingering close: sends what was written, then closes. Input is read and dropped for a while: closing at once would reset
   * the connection, and a client that is still sending would lose the response (a 413, say).
   */
  protected lingeringClose(): void {
    this.isLingering = true
    // The end of a large response may still wait for a slow reader, who must not lose it.
    const { lingering, stalled } = this.timeouts
    this.deadline = clock.now + (this.socket.writableLength > 0 ? stalled : lingering)
    this.socket.end()
    this.resume()
  }

  #read(length: number, memory: Buffer): void {
    const before = this.activeRequest
    const framingBefore = framingWork.bytes
    this.#takeSafely(memory, length)
    const after = this.activeRequest
    const isHeld = before?.hasUnsentRequestBytes === true || after?.hasUnsentRequestBytes === true
    // Without an open request before them they were a head and what follows it, which `take` copies.
    const isCopied = before === undefined
    const isFraming = isMostlyFraming(length, framingWork.bytes - framingBefore)
    if (this.isHeadUnfinished) this.#buffer.settleForHead(isCopied)
    else this.#buffer.settle(length, { isHeld, isCopied, isComplete: after?.isRequestDone !== false, isFraming })
    const mustYield = isFraming || this.#areRecordsShort(length)
    if (mustYield && !this.socket.destroyed && !this.#isYielding) this.#yieldTurn()
  }

  /** The edge: an exception in here is a bug, and costs this connection alone. */
  #takeSafely(bytes: Buffer, end: number): void {
    if (this.isLingering) return
    try {
      this.take(bytes, end)
    } catch (error) {
      this.report(error)
      this.cut()
    }
  }
}
