import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { clock } from '#/basics/clock.ts'
import { ReadBuffer } from '#/basics/read-buffer.ts'
import { framingWork, inTurnOfItsOwn, isMostlyFraming } from '#/http1/framing-work.ts'
import { readingInto, readingRecords, reset } from './accepted-socket.ts'
import { TlsRecords } from './tls-records.ts'

/** TCP keep-alive, in ms: a router may drop an idle connection, and a client that lost power never closes its side. */
const keepAliveDelay = 30_000
/** Bytes of an answer that may wait for a client without being counted: little, even on all connections together. */
const fewUnread = 16 * 1024

/** For what TLS encrypts at once: of all connections, because nothing of it is read afterwards. */
const scratch = Buffer.allocUnsafeSlow(32 * 1024)

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
  readonly #accepted: Socket
  /** Of an encrypted connection. */
  readonly #records: TlsRecords | undefined
  /** The memory that was written last was not copied, nor encrypted, when it was. */
  #holdsBytes = false
  /** Writes under way without a byte, which the length of what is unsent does not tell. */
  #emptyWrites = 0
  /** It is read again in a later turn of the event loop. */
  #isYielding = false
  /** Larger reads would only wait: upstreams take smaller pieces. */
  readonly #buffer = new ReadBuffer(64 * 1024)

  /** @param accepted from a server with `noDelay` and `pauseOnConnect` */
  constructor(accepted: Socket, timeouts: ClientTimeouts, network: string | undefined) {
    this.network = network
    this.timeouts = timeouts
    this.peer = accepted.remoteAddress ?? ''
    this.#accepted = accepted
    const memory = () => this.#buffer.memory
    const onRead = (length: number, bytes: Buffer) => this.#read(length, bytes)
    if (accepted instanceof TLSSocket) {
      this.#records = new TlsRecords(memory, onRead)
      this.socket = readingRecords(accepted, this.#records)
    } else this.socket = readingInto(accepted, memory, onRead)
    this.deadline = clock.now + timeouts.head
    this.socket.setKeepAlive(true, keepAliveDelay)
    this.socket.on('drain', () => this.drained())
    this.socket.on('end', () => {
      this.#records?.release()
      this.ended()
    })
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
  /** How long the client may read nothing more of its answer, in ms. */
  protected abstract get unreadTimeout(): number
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
    const isRoom = typeof bytes === 'string' ? this.#writeText(bytes) : this.#writeBytes(bytes)
    if (isRoom) return true
    this.deadline = clock.now + this.unreadTimeout
    this.blocked()
    return false
  }

  /** Head and body in as few packets as possible. */
  writeTogether(head: string, body: Buffer): boolean {
    if (this.#isEncryptedAtOnce && head.length + body.length <= scratch.length) {
      const length = scratch.write(head, 'latin1')
      return this.write(scratch.subarray(0, length + body.copy(scratch, length)))
    }
    this.socket.cork()
    this.socket.write(head, 'latin1')
    const isRoom = this.write(body)
    this.socket.uncork()
    return isRoom
  }

  #writeText(text: string): boolean {
    // Node would take new memory for it, and keep that until it has left.
    if (this.#isEncryptedAtOnce && text.length <= scratch.length)
      return this.#writeBytes(scratch.subarray(0, scratch.write(text, 'latin1')))
    return this.socket.write(text, 'latin1')
  }

  #writeBytes(bytes: Buffer): boolean {
    const isEncrypted = this.#isEncryptedAtOnce
    const isRoom = this.socket.write(bytes)
    this.#holdsBytes = !isEncrypted
    return isRoom
  }

  /** TLS encrypts the next write before it returns, although Node says later that it has left: nothing waits before it. */
  get #isEncryptedAtOnce(): boolean {
    if (this.#records === undefined) return false
    const { writableLength, writableCorked } = this.socket
    return writableLength === 0 && writableCorked === 0 && this.#emptyWrites === 0
  }

  hasUnsentBytes(): boolean {
    return this.socket.writableLength > 0
  }

  /** What `write` got is still read from the memory that it got: nothing may be written over it. */
  holdsBytes(): boolean {
    return this.#holdsBytes && this.socket.writableLength > 0
  }

  /** So much of what was written waits for the client that it has to be counted. */
  get hasUnread(): boolean {
    return this.socket.writableLength > fewUnread && !this.socket.destroyed
  }

  /** Calls back when all that was written until now has been sent, or never will be. */
  onceSent(callback: () => void): void {
    this.#emptyWrites++
    this.socket.write('', () => {
      this.#emptyWrites--
      callback()
    })
  }

  pause(): void {
    this.#isPaused = true
    this.#stopReading()
  }

  resume(): void {
    this.#isPaused = false
    if (this.#isYielding) return
    if (this.#records?.isWaiting) this.#yieldTurn()
    else this.#goOnReading()
  }

  #stopReading(): void {
    this.#records?.hold()
    this.socket.pause()
  }

  /** What waits is taken first, which may stop the reading again. */
  #goOnReading(): void {
    this.#records?.release()
    if (!this.#isPaused && !this.#isYielding) this.socket.resume()
  }

  /**
   * Reads nothing more in this turn of the event loop; see `UpstreamConnection`. TLS records that were decrypted meanwhile are
   * taken together: each by itself may cost a write to the app.
   */
  #yieldTurn(): void {
    this.#isYielding = true
    this.#stopReading()
    inTurnOfItsOwn(() => {
      this.#isYielding = false
      if (!this.#isPaused && !this.socket.destroyed) this.#goOnReading()
    })
  }

  /** Closes the connection at once; with a reset where its end would be taken for the end of an answer. */
  cut(): void {
    const isCutShort = this.endsByClose || (this.isLingering && this.hasUnsentBytes())
    if (isCutShort) reset(this.#accepted, this.socket)
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
    if (this.socket.destroyed) return
    const before = this.activeRequest
    const framingBefore = framingWork.bytes
    this.#takeSafely(memory, length)
    const after = this.activeRequest
    const isHeld = before?.hasUnsentRequestBytes === true || after?.hasUnsentRequestBytes === true
    // Without an open request before them they were a head and what follows it, which `take` copies.
    // Outside of a read Node keeps where the next one goes.
    const isCopied = before === undefined && this.#records?.isOutsideRead !== true
    const isFraming = isMostlyFraming(length, framingWork.bytes - framingBefore)
    if (this.isHeadUnfinished) this.#buffer.settleForHead(isCopied)
    else this.#buffer.settle(length, { isHeld, isCopied, isComplete: after?.isRequestDone !== false, isFraming })
    const mustYield = isFraming || this.#records?.areShort === true
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

/** How long a client may take, in ms: one that sends byte by byte (slow loris) keeps no connection. */
export interface ClientTimeouts {
  /** For a whole head, from its first byte or from the connection. */
  readonly head: number
  /** Without a request. Longer than common proxies in front of us wait, so that they close first and never lose a race. */
  readonly idle: number
  /** Without sending anything more of its request, or reading anything more of its answer. */
  readonly stalled: number
  /** Without reading anything more of an app's answer to a person, of which one has a few only: a download may be paused. */
  readonly unread: number
  /** To go on sending after its answer. */
  readonly lingering: number
  /** Without a byte on a WebSocket, pings included. */
  readonly idleWebSocket: number
}

export const defaultClientTimeouts: ClientTimeouts = {
  head: 15_000,
  idle: 65_000,
  stalled: 120_000,
  unread: 3_600_000,
  lingering: 30_000,
  idleWebSocket: 3_600_000,
}
