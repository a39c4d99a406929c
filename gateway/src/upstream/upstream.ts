import net from 'node:net'
import { connectTls } from '#/basics/app-tls.ts'
import type { Caller } from '#/tokens/token-verifier.ts'
import type { UseKind } from '#/port/gateway.ts'
import { clock } from '#/basics/clock.ts'
import { framingWork, inTurnOfItsOwn, isMostlyFraming } from '#/http1/framing-work.ts'
import { ReadBuffer } from '#/basics/read-buffer.ts'
import { tunnelProtocol } from '#/port/tunnel.ts'

/** Upstream: a target of requests, either a container's app or the platform itself. */
export interface Upstream {
  /** For logs: never a secret. */
  readonly name: string
  /** Where it is reached now; undefined when it is not. */
  readonly address: SocketAddress | undefined
  /** It has answered at this address: a refused connection means that it ended, not that it is still starting. */
  hasAnswered: boolean
  /** Max bytes that are read of it at once; a client that does not read its answer makes the gateway hold as many. */
  readonly maxRead: number
  /** Whether it speaks TLS. */
  readonly usesTls: boolean
  /** Requests and WebSockets under way. */
  readonly activeRequests: ActiveRequests
  readonly idle: ConnectionPool
  /** Bytes moved. @param use what they count as */
  touch(use: RequestUse): void
}

/** What a request counts as; `none`: its type says that requests like this one are no use. */
export type RequestUse = UseKind | 'none'

type SocketAddress = { readonly host: string; readonly port: number } | { readonly path: string }

/** The API and the front end: one upstream on a Unix socket, which is away while they restart. */
export class PlatformUpstream implements Upstream {
  readonly name = 'the API'
  readonly address: SocketAddress
  readonly idle: ConnectionPool
  readonly activeRequests = new ActiveRequests()
  hasAnswered = true
  readonly usesTls = false
  /** Clients without an account get its answers, too. */
  readonly maxRead = 64 * 1024

  constructor(path: string, idle: Set<ConnectionPool>) {
    this.idle = new ConnectionPool(idle)
    this.address = { path }
  }

  touch(): void {}
}

type Done = (error?: Error | null) => void

/** Receives an upstream's response. */
export interface UpstreamListener {
  /** Bytes from the app: those of `bytes` up to `end`. They may be overwritten once `hasUnsentBytes` is false. */
  onUpstreamData(bytes: Buffer, end: number): void
  /** Some of the bytes given last are still on their way out. */
  hasUnsentBytes(): boolean
  /** Backpressure ends: what was written has left, after `write` returned false. */
  upstreamDrained(): void
  /** The app closed the connection; with an error when it broke. */
  upstreamEnded(error: Error | undefined): void
}

/** TCP keep-alive, in ms: a router may drop an idle connection, and a host that lost power never closes its side. */
const keepAliveDelay = 30_000
/** How long an app may take to read what was sent before its connection ended, in ms. */
const drainTimeout = 10_000

/**
 * Upstream connection: one connection to one address of one container for its whole life; it is never reused for another.
 * Reads into a buffer of its own that is used again and again, instead of one new buffer for each read.
 */
export class UpstreamConnection {
  readonly upstream: Upstream
  readonly #socket: net.Socket
  readonly #buffer: ReadBuffer
  #listener: UpstreamListener | undefined
  #error: Error | undefined
  /** Its listener does not want more now. */
  #isPaused = false
  /** It is read again in a later turn of the event loop. */
  #isYielding = false
  /** It closes once what was written is sent. */
  #isEnding = false
  requests = 0
  /** When its last answer ended, in ms since 1970. */
  idleSince = 0

  private constructor(upstream: Upstream, address: SocketAddress) {
    this.upstream = upstream
    this.#buffer = new ReadBuffer(upstream.maxRead)
    const onread: net.OnReadOpts = {
      buffer: () => this.#buffer.memory,
      callback: (length, bytes) => this.#read(length, bytes as Buffer),
    }
    if (upstream.usesTls && 'host' in address) {
      this.#socket = connectTls(address, { onread }).setNoDelay(true).setKeepAlive(true, keepAliveDelay)
    } else {
      const options = { noDelay: true, keepAlive: true, keepAliveInitialDelay: keepAliveDelay, onread }
      const socket = new UpstreamSocket(options)
      if ('path' in address) socket.connect({ path: address.path })
      else socket.connect(address.port, address.host)
      this.#socket = socket
    }
    this.#socket.on('error', (error) => (this.#error = error))
    this.#socket.on('drain', () => this.#listener?.upstreamDrained())
    this.#socket.on('end', () => this.#ended())
    this.#socket.on('close', () => this.#ended())
  }

  /** Connects. Rejects when the app has not accepted within `timeout` ms. */
  static open(upstream: Upstream, address: SocketAddress, timeout: number): Promise<UpstreamConnection> {
    const connection = new UpstreamConnection(upstream, address)
    return new Promise((resolve, reject) => {
      const socket = connection.#socket
      const timer = setTimeout(() => socket.destroy(new Error(`no connection within ${timeout} ms`)), timeout)
      socket.once(upstream.usesTls && 'host' in address ? 'secureConnect' : 'connect', () => {
        clearTimeout(timer)
        resolve(connection)
      })
      socket.once('close', () => {
        clearTimeout(timer)
        reject(connection.#error ?? new Error('the connection closed at once'))
      })
    })
  }

  /**
   * Connects by way of the API, which gives over a connection to a program that is reached from its container alone.
   * @param path Unix socket of the API @param timeout ms
   * @throws {TunnelRefused} when it does not @throws {Error} when the API cannot be asked
   */
  static async openByTunnel(
    upstream: Upstream,
    path: string,
    target: string,
    timeout: number,
  ): Promise<UpstreamConnection> {
    const begun = performance.now()
    const connection = await UpstreamConnection.open(upstream, { path }, timeout)
    const { promise, resolve, reject } = Promise.withResolvers<UpstreamConnection>()
    const timer = setTimeout(
      () => reject(new Error(`no answer within ${timeout} ms`)),
      timeout - (performance.now() - begun),
    )
    let answer = ''
    const listener: UpstreamListener = {
      onUpstreamData: (bytes, end) => {
        answer += bytes.toString('latin1', 0, end)
        if (!answer.includes('\r\n\r\n')) return
        connection.#listener = undefined
        const isOpen = answer.startsWith('HTTP/1.1 101 ') && answer.endsWith('\r\n\r\n')
        if (isOpen) resolve(connection)
        else reject(new TunnelRefused(Number(answer.slice(9, 12))))
      },
      hasUnsentBytes: () => false,
      upstreamDrained: () => undefined,
      upstreamEnded: (error) => reject(error ?? new Error('the API closed the connection')),
    }
    connection.begin(listener, `GET ${target} HTTP/1.1\r\nHost: localhost\r\n${tunnelUpgrade}\r\n`, undefined)
    // What was sent is no request to the program that it leads to from now on.
    connection.requests = 0
    return promise
      .catch((error: unknown) => {
        connection.destroy()
        throw error
      })
      .finally(() => clearTimeout(timer))
  }

  /** Sends the beginning of a request; its answer, and what becomes of the connection, are the listener's. */
  begin(listener: UpstreamListener, head: string, body: Buffer | undefined): boolean {
    this.requests++
    this.#listener = listener
    if (body === undefined || body.length === 0) return this.#socket.write(head, 'latin1')
    this.#socket.cork()
    this.#socket.write(head, 'latin1')
    const isRoom = this.#socket.write(body)
    this.#socket.uncork()
    return isRoom
  }

  /** @returns false when the app reads slower than we write: wait for `upstreamDrained` (backpressure) */
  write(bytes: Buffer | string): boolean {
    return typeof bytes === 'string' ? this.#socket.write(bytes, 'latin1') : this.#socket.write(bytes)
  }

  /** Some of what was written has not left yet. */
  hasUnsentBytes(): boolean {
    return this.#socket.writableLength > 0
  }

  /** Replaces the listener, which receives all further bytes. */
  handTo(listener: UpstreamListener): void {
    this.#listener = listener
  }

  /** Keeps it for the next request to the same app. */
  release(): void {
    this.#listener = undefined
    this.idleSince = clock.now
    if (this.#socket.destroyed || this.#socket.readyState !== 'open') this.destroy()
    else this.upstream.idle.keep(this)
  }

  pause(): void {
    this.#isPaused = true
    this.#socket.pause()
  }

  resume(): void {
    this.#isPaused = false
    if (!this.#isYielding) this.#socket.resume()
  }

  /**
   * Reads nothing more in this turn of the event loop. Of a full buffer libuv reads up to 32 in one turn, which all other
   * connections wait for.
   */
  #yieldTurn(): void {
    this.#isYielding = true
    this.#socket.pause()
    inTurnOfItsOwn(() => {
      this.#isYielding = false
      if (!this.#isPaused) this.#socket.resume()
    })
  }

  /** Sends what was written, then closes; the listener gets no further events. */
  destroySoon(): void {
    this.#listener = undefined
    if (this.#socket.destroyed) return
    this.#isEnding = true
    this.#socket.destroySoon()
    // An app that never reads them would hold one connection after the other until none is left.
    if (this.#socket.writableLength > 0) setTimeout(() => this.#socket.destroy(), drainTimeout).unref()
  }

  /** Closes at once; the listener gets no further events. */
  destroy(): void {
    this.#listener = undefined
    this.#socket.destroy()
  }

  #read(length: number, bytes: Buffer): boolean {
    const listener = this.#listener
    // What it still sends is dropped, so that it gets what is on its way to it.
    if (!listener && this.#isEnding) return true
    // An app that sends unasked: its bytes would be taken for the response to another user's next request.
    if (!listener) {
      this.upstream.idle.forget(this)
      this.destroy()
      return false
    }
    const before = framingWork.bytes
    try {
      listener.onUpstreamData(bytes, length)
    } catch (error) {
      // The edge: a bug, which costs this request alone.
      this.#error = error as Error
      this.#ended()
      this.#socket.destroy()
      return false
    }
    const isFraming = isMostlyFraming(length, framingWork.bytes - before)
    this.#buffer.settle(length, { isHeld: listener.hasUnsentBytes(), isFraming })
    if (isFraming && !this.#socket.destroyed && !this.#isYielding) this.#yieldTurn()
    return true
  }

  #ended(): void {
    this.upstream.idle.forget(this)
    const listener = this.#listener
    this.#listener = undefined
    listener?.upstreamEnded(this.#error)
    // Not when all is written: an app that ended its side may never read the rest, and hold the connection open.
    this.#socket.destroy()
  }
}

const tunnelUpgrade = `Connection: Upgrade\r\nUpgrade: ${tunnelProtocol}\r\n`

/** The API gives no connection over: 404, nothing listens there; else it cannot reach the container's loopback now. */
export class TunnelRefused extends Error {
  readonly status: number

  constructor(status: number) {
    super(`the API answered ${status}`)
    this.status = status
  }
}

/**
 * An app may refuse a large upload (413) and close while we are still sending. Node ends a socket at the first write that
 * fails, with the app's answer still unread: of 20 such answers 20 were lost. Here a write that fails because the app is
 * gone only stops the sending; what the app said is read to its end, which follows at once, and that closes the socket.
 */
class UpstreamSocket extends net.Socket {
  override _write(chunk: unknown, encoding: BufferEncoding, done: Done): void {
    // oxlint-disable-next-line eslint/no-underscore-dangle -- Node's name for what a stream overrides
    super._write(chunk, encoding, unlessGone(done))
  }

  override _writev(chunks: { chunk: unknown; encoding: BufferEncoding }[], done: Done): void {
    // oxlint-disable-next-line eslint/no-underscore-dangle -- as above
    super._writev?.(chunks, unlessGone(done))
  }
}

function unlessGone(done: Done): Done {
  return (error) => {
    const code = error && 'code' in error ? error.code : undefined
    if (code !== 'EPIPE' && code !== 'ECONNRESET') done(error)
  }
}

/** Max idle connections to one upstream. */
const maxIdleConnections = 64

/** Connection pool: idle connections to one upstream. Last in, first out, so that surplus connections become stale and close. */
export class ConnectionPool {
  readonly #stack: UpstreamConnection[] = []
  readonly #nonEmptyPools: Set<ConnectionPool>

  /** @param nonEmptyPools the index of pools with connections, which this one enters by itself: scanning 10,000 routes takes 5 ms */
  constructor(nonEmptyPools: Set<ConnectionPool>) {
    this.#nonEmptyPools = nonEmptyPools
  }

  take(): UpstreamConnection | undefined {
    return this.#stack.pop()
  }

  keep(connection: UpstreamConnection): void {
    if (this.#stack.length >= maxIdleConnections) return connection.destroy()
    if (this.#stack.push(connection) === 1) this.#nonEmptyPools.add(this)
  }

  forget(connection: UpstreamConnection): void {
    const index = this.#stack.indexOf(connection)
    if (index !== -1) this.#stack.splice(index, 1)
  }

  /** Closes those that were idle since before then (by `clock.now`). */
  closeIdleSince(than: number): void {
    while (this.#stack[0] && this.#stack[0].idleSince < than) this.#stack.shift()?.destroy()
    if (this.#stack.length === 0) this.#nonEmptyPools.delete(this)
  }

  closeAll(): void {
    for (const connection of this.#stack.splice(0)) connection.destroy()
  }
}

/** Something open that can be forbidden at any moment: a request under way or a WebSocket. */
export interface ActiveRequest {
  /** Whose token opened it; undefined for public visitors. */
  readonly caller: Caller | undefined
  /** Its position in `ActiveRequests`, which sets it. */
  index: number
  /** Nothing of it has gone to the app yet, and nothing of the app has come: it may wait for another one. */
  readonly isWaiting: boolean
  /** It asks the app to change nothing: see `isReadRequest`. */
  readonly isRead: boolean
  /** Ends both sides at once, without a word. */
  cut(): void
}

/** Active requests of one upstream. Every request adds and deletes one, so both take constant time. */
export class ActiveRequests {
  readonly #all: ActiveRequest[] = []
  readonly #onFirst: () => void

  /** @param onFirst called when something is opened while nothing is open */
  constructor(onFirst: () => void = () => undefined) {
    this.#onFirst = onFirst
  }

  get size(): number {
    return this.#all.length
  }

  add(stream: ActiveRequest): void {
    if (this.#all.length === 0) this.#onFirst()
    stream.index = this.#all.length
    this.#all.push(stream)
  }

  delete(stream: ActiveRequest): void {
    const { index } = stream
    if (this.#all[index] !== stream) return
    const last = this.#all.pop()
    if (last === undefined || last === stream) return
    this.#all[index] = last
    last.index = index
  }

  [Symbol.iterator](): Iterator<ActiveRequest> {
    return this.#all.slice().values()
  }

  cut(): void {
    for (const stream of this.#all.slice()) stream.cut()
  }

  /** Cuts those that an app has to do with. What waits finds out by itself what has become of the app, and can still say it. */
  cutForwarded(): void {
    for (const stream of this.#all.slice()) if (!stream.isWaiting) stream.cut()
  }
}
