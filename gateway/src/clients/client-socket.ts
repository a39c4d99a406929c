import net, { type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { clock } from '#/basics/clock.ts'
import { ReadBuffer } from '#/basics/read-buffer.ts'
import { framingWork, inTurnOfItsOwn, isMostlyFraming } from '#/http1/framing-work.ts'

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
    const isRoom = typeof bytes === 'string' ? this.socket.write(bytes, 'latin1') : this.socket.write(bytes)
    if (isRoom) return true
    this.deadline = clock.now + this.unreadTimeout
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

/** Called with each read: so many bytes at the beginning of `memory`, which the next read overwrites. */
type OnRead = (length: number, memory: Buffer) => void

/** What Node keeps in a socket beside what its documentation says: the connection itself. */
interface WithHandle {
  _handle: object | null
}

/**
 * Accepted connection as a socket that reads into a reused buffer. Node offers this for sockets that connect (`onread`)
 * and not for those that a server accepts, so the connection is moved to a socket of our own, as Node itself moves it
 * between processes. Should Node change that, connections are used as they are accepted: slower on uploads, otherwise alike.
 * @param accepted from a server with `pauseOnConnect`; it stays with the server, whose count it belongs to, and ends with the other
 * @param memory where the next read goes
 */
function readingInto(accepted: Socket, memory: () => Buffer, onRead: OnRead): Socket {
  // What is read from its handle is what TLS encrypted.
  if (accepted instanceof TLSSocket) return readingAnyhow(accepted, onRead)
  const holder = accepted as unknown as WithHandle
  // oxlint-disable-next-line eslint/no-underscore-dangle -- Node's name
  const handle = holder._handle
  if (!handle) return readingAnyhow(accepted, onRead)
  const callback = (length: number, bytes: Uint8Array) => {
    onRead(length, bytes as Buffer)
    return true
  }
  const options = { handle, onread: { buffer: memory, callback } } as unknown as net.SocketConstructorOpts
  const socket = new net.Socket(options)
  // oxlint-disable-next-line eslint/no-underscore-dangle -- as above
  holder._handle = null
  socket.once('close', () => accepted.destroy())
  return socket
}

/** What Node keeps in a TLS socket beside what its documentation says: the connection that carries it. */
interface WithParent {
  _parent?: Socket | null
}

/**
 * Closes with a reset (RST), which no client takes for the end of an answer. Node's own `resetAndDestroy` refuses a TLS socket
 * (Node 24), and nothing that is documented leads to the connection below it; should Node move that, TLS is closed as usual.
 */
function reset(socket: Socket): void {
  // oxlint-disable-next-line eslint/no-underscore-dangle -- Node's name
  const carrier = socket instanceof TLSSocket ? (socket as unknown as WithParent)._parent : socket
  if (!socket.destroyed) carrier?.resetAndDestroy()
  socket.destroy()
}

function readingAnyhow(accepted: Socket, onRead: OnRead): Socket {
  accepted.on('data', (bytes: Buffer) => onRead(bytes.length, bytes))
  accepted.resume()
  return accepted
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
