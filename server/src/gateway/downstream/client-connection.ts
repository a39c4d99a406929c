import type { Socket } from 'node:net'
import { readingInto } from './accepted-socket.ts'
import {
  serializeResponse,
  streamedResponseHead,
  refusalResponse,
  type GatewayResponse,
} from '../responses/gateway-response.ts'
import type { UpstreamConnection } from '../upstream/upstream-connection.ts'
import { UpstreamRequestHeaders } from '../headers/upstream-request-headers.ts'
import { clock } from '../coarse-clock.ts'
import type { GatewayContext } from '../gateway-context.ts'
import type { Exchange } from '../proxy/exchange.ts'
import type { ExchangeClient } from '../proxy/exchange-client.ts'
import { isFault } from '../http1/http-fault.ts'
import { Authenticator } from '../auth/request-authenticator.ts'
import { dropLargestCookies, readOversizedHead } from '../http1/oversized-head.ts'
import { mediumBuffer, ReadBuffer } from '../proxy/read-buffer.ts'
import { gatewayRefusals, type GatewayRefusal } from '../responses/gateway-refusals.ts'
import { maxRequestHead, readRequestHead, type RequestHead } from '../http1/request-head.ts'
import { PlatformUpstream } from '../upstream/platform-upstream.ts'
import { retryOnNewConnection, serveRequest, wakeUpstream } from '../proxy/serve-request.ts'
import type { ActiveRequest } from '../proxy/active-requests.ts'
import { Tunnel, type TunnelClient } from '../proxy/tunnel.ts'
import type { ActiveCount } from './connection-limiter.ts'
import type { ClientTimeouts } from './client-timeouts.ts'

/** A router on the way may forget a silent connection; an unplugged client never says that it left. */
const keepAliveDelay = 30_000

const nothing = Buffer.alloc(0)

/** Heads up to this length are remembered for the next request of their connection, in characters. */
const maxRememberedHead = 4_096

/**
 * One client's connection: reads heads, has each request served in turn, and carries bytes. It is in one of four states:
 * reading a head, busy with a request (`#head`), a tunnel, or leaving (what still comes is dropped).
 */
export class ClientConnection implements ExchangeClient, TunnelClient {
  readonly authenticator: Authenticator
  readonly upstreamHeaders: UpstreamRequestHeaders
  /** Address of whoever connected; a proxy in front of us, perhaps. */
  readonly peer: string
  /** What its connections are counted by; undefined for proxies that speak for many. */
  readonly network: string | undefined
  readonly #context: GatewayContext
  readonly #timeouts: ClientTimeouts
  readonly #socket: Socket
  /** What is sent has to be taken by an app, which does so in smaller pieces. */
  readonly #buffer = new ReadBuffer(64 * 1024)
  /** Bytes that came in and belong to no request yet. */
  #stash: Buffer | undefined
  /** The request that is being served. */
  #head: RequestHead | undefined
  /** The request before it, or itself. */
  #before: RequestHead | undefined
  #exchange: Exchange | undefined
  /** The beginning of its body. */
  #first: Buffer = nothing
  #tunnel: Tunnel | undefined
  /** Where its tunnel is counted. */
  #tunnelActive: ActiveCount | undefined
  #isLingering = false
  #idleSince = clock.now
  /** Its bytes are counted among those of unfinished heads. */
  #isUnfinished = false
  #isWaking = false
  /** Deadline by `clock.now`. */
  #deadline: number

  /** @param accepted from a server with `noDelay` and `pauseOnConnect` */
  constructor(accepted: Socket, context: GatewayContext, timeouts: ClientTimeouts, network: string | undefined) {
    this.network = network
    this.#context = context
    this.#timeouts = timeouts
    this.peer = accepted.remoteAddress ?? ''
    this.#socket = readingInto(
      accepted,
      () => this.#buffer.memory,
      (length, memory) => this.#read(length, memory),
    )
    this.#deadline = clock.now + timeouts.head
    this.authenticator = new Authenticator(context.tokens)
    this.upstreamHeaders = new UpstreamRequestHeaders(context.tokens)
    this.#socket.setKeepAlive(true, keepAliveDelay)
    this.#socket.on('drain', () => this.#drained())
    this.#socket.on('end', () => this.#ended())
    this.#socket.on('error', () => {})
    this.#socket.on('close', () => this.#closed())
  }

  /** What is open on it now. */
  get activeRequest(): ActiveRequest | undefined {
    return this.#tunnel ?? this.#exchange
  }

  get isIdle(): boolean {
    return this.#head === undefined && this.#tunnel === undefined && !this.#isLingering
  }

  /** The client left while its request was being looked into. */
  get isGone(): boolean {
    return this.#socket.destroyed
  }

  /** Since when it has had no request, by `clock.now`: since its last answer, or since it was opened. */
  get idleSince(): number {
    return this.#idleSince
  }

  /** A request is being served, or it carries a WebSocket. */
  get isWorking(): boolean {
    return this.#head !== undefined || this.#tunnel !== undefined
  }

  /** Somebody without an account has not sent all of a request yet. */
  get isAnonymousUpload(): boolean {
    return this.#exchange !== undefined && this.#exchange.caller === undefined && !this.#exchange.isRequestDone
  }

  /** An app's answer is on its way, or awaited, for somebody without an account, or they have a WebSocket open. */
  get isAnonymous(): boolean {
    const { activeRequest } = this
    return (
      activeRequest !== undefined &&
      activeRequest.caller === undefined &&
      !(this.#exchange?.parts.upstream instanceof PlatformUpstream)
    )
  }

  get isTunnel(): boolean {
    return this.#tunnel !== undefined
  }

  /** What is open on it would not end by itself: waiting for it is of no use. */
  get isEndless(): boolean {
    return this.isTunnel || this.#exchange?.isEndless === true
  }

  // For the request that is being served

  /** Begins an exchange for it. @throws {GatewayRefusal} 400 when what has come of its body is malformed */
  begin(exchange: Exchange): void {
    this.#exchange = exchange
    const rest = this.#stash
    if (rest) {
      const stop = exchange.readFirst(rest)
      this.#first = rest.subarray(0, exchange.passable)
      this.#stash = stop < rest.length ? rest.subarray(stop) : undefined
    }
    // Until the app can take it, the rest of the body stays where it is.
    if (!exchange.isRequestDone) this.pause()
  }

  /** Sends it to the app. */
  send(connection: UpstreamConnection): void {
    const exchange = this.#exchange
    if (!exchange || exchange.isOver) return connection.destroy()
    exchange.send(connection, this.#first)
    this.#first = nothing
    this.#deadline = exchange.isRequestDone ? Number.POSITIVE_INFINITY : clock.now + this.#timeouts.stalled
    if (!exchange.isRequestDone && !exchange.isClientPaused) this.resume()
  }

  /** Answers it in the gateway's own words. */
  respond(response: GatewayResponse): void {
    const head = this.#head
    const isLast =
      head === undefined ||
      head.fields.isLast ||
      head.fields.bodyLength !== 0 ||
      response.headers.connection === 'close'
    this.#exchange?.clientGone()
    if (response.status >= 400) this.#context.limiter.refusals++
    this.#socket.write(serializeResponse(response, head?.method === 'HEAD', isLast))
    this.responseEnded(isLast)
  }

  refuse(refusal: GatewayRefusal): void {
    const links = this.#context.config?.settings ?? { loginUrl: '/', dashboardUrl: '/' }
    if (refusal.status >= 500 && refusal.cause !== undefined) this.#report(refusal.cause)
    this.respond(refusalResponse(this.#head, refusal, links))
  }

  /** Begins an answer that is said bit by bit; `finishAnswer` ends it. */
  beginResponse(status: number, headers: Readonly<Record<string, string>>, beginning: string): void {
    this.#socket.write(streamedResponseHead(status, headers) + beginning)
  }

  continueResponse(text: string): void {
    this.#socket.write(text)
  }

  finishResponse(text: string): void {
    this.#socket.write(text)
    this.#exchange?.clientGone()
    this.responseEnded(true)
  }

  // For its exchange

  write(bytes: Buffer | string): boolean {
    const isRoom = typeof bytes === 'string' ? this.#socket.write(bytes, 'latin1') : this.#socket.write(bytes)
    if (!isRoom) this.#deadline = clock.now + this.#timeouts.stalled
    return isRoom
  }

  writeTogether(head: string, body: Buffer): boolean {
    this.#socket.cork()
    this.#socket.write(head, 'latin1')
    const isRoom = this.write(body)
    this.#socket.uncork()
    return isRoom
  }

  hasUnsentBytes(): boolean {
    return this.#socket.writableLength > 0
  }

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  responseEnded(isLast: boolean): void {
    this.#endRequest()
    if (isLast || this.#context.isClosing) return this.#closeLingering()
    this.#idleSince = clock.now
    this.#deadline = clock.now + this.#timeouts.idle
    // A client that asks and asks without reading gets no further answer before it has read some.
    if (this.#socket.writableNeedDrain) this.#waitForReader()
    // Not at once: a thousand requests sent together must not be served a thousand calls deep.
    else if (this.#stash) setImmediate(() => this.#readNext())
  }

  failed(cause: Error, hasBegun: boolean): void {
    // A process that is being killed still accepts connections for some milliseconds.
    const isPlatform = this.#exchange?.parts.upstream instanceof PlatformUpstream
    if (!hasBegun) return this.refuse(isPlatform ? gatewayRefusals.platformDown() : gatewayRefusals.appFailed(cause))
    this.#report(cause)
    this.cut()
  }

  wakeUpstream(): void {
    const upstream = this.#exchange?.parts.upstream
    if (!upstream || this.#isWaking) return
    this.#isWaking = true
    void wakeUpstream(this.#context, upstream).then(() => (this.#isWaking = false))
  }

  retry(): void {
    const exchange = this.#exchange
    if (exchange) retryOnNewConnection(this.#context, this, exchange)
  }

  tunnel(connection: UpstreamConnection, first: Buffer): void {
    const exchange = this.#exchange
    const caller = exchange?.caller
    this.#tunnelActive = exchange?.parts.active
    this.#context.limiter.beginWebSocket(this.#tunnelActive)
    this.#endRequest()
    this.#socket.setNoDelay(true)
    const tunnel = new Tunnel(caller, connection, this, () => wakeUpstream(this.#context, tunnel.upstream))
    this.#tunnel = tunnel
    this.#deadline = clock.now + this.#timeouts.idleWebSocket
    if (first.length > 0) tunnel.onUpstreamData(first, first.length)
    // Bytes that came together with the two heads have been read already and would be lost.
    if (this.#stash) tunnel.takeBytes(this.#stash)
    this.#stash = undefined
    this.resume()
  }

  // For its tunnel

  end(): void {
    this.#closeLingering()
  }

  cut(): void {
    this.#socket.destroy()
  }

  /** Called every now and then: ends what takes too long. */
  sweep(): void {
    if (this.#tunnel && !this.#isLingering) this.#deadline = this.#tunnel.lastByteAt + this.#timeouts.idleWebSocket
    if (clock.now < this.#deadline) return
    this.#deadline = Number.POSITIVE_INFINITY
    if (this.isIdle && this.#stash && this.#stash.length > 0) this.#refuseUnread(gatewayRefusals.tooSlow())
    else if (this.#tunnel) this.#tunnel.cut()
    else this.cut()
  }

  #read(length: number, memory: Buffer): void {
    const before = this.#tunnel ?? this.#exchange
    this.#takeSafely(memory, length)
    const after = this.#tunnel ?? this.#exchange
    if (this.#isUnfinished) this.#buffer.settleForHead()
    else this.#buffer.settle(length, before?.hasUnsentRequestBytes === true || after?.hasUnsentRequestBytes === true)
  }

  /** The edge: what is thrown in here is a bug, and costs this connection alone. */
  #takeSafely(bytes: Buffer, end: number): void {
    try {
      this.#take(bytes, end)
    } catch (error) {
      this.#report(error)
      this.cut()
    }
  }

  /** @param bytes up to `end`, and good only until this returns: what is kept is copied */
  #take(bytes: Buffer, end: number): void {
    if (this.#isLingering) return
    if (this.#stash === undefined && this.isIdle) this.#readHead(bytes, end)
    else this.#takeMore(bytes.subarray(0, end))
  }

  #takeMore(bytes: Buffer): void {
    if (this.#tunnel) return this.#tunnel.takeBytes(bytes)
    if (this.#head === undefined) return this.#continueHead(this.#stash ?? nothing, bytes)
    const exchange = this.#exchange
    const stop = exchange && !exchange.isRequestDone ? exchange.takeBody(bytes) : 0
    if (exchange?.isRequestDone === false) this.#deadline = clock.now + this.#timeouts.stalled
    else if (stop > 0) this.#deadline = Number.POSITIVE_INFINITY
    if (stop < bytes.length && !this.#isLingering) this.#keep(bytes.subarray(stop))
  }

  #waitForReader(): void {
    this.#deadline = clock.now + this.#timeouts.stalled
    this.#stash ??= nothing
    this.pause()
  }

  #readNext(): void {
    const stash = this.#stash
    if (!stash || !this.isIdle || this.#socket.destroyed) return
    this.#stash = undefined
    this.resume()
    if (stash.length > 0) this.#readHead(stash)
  }

  /** What comes before its turn waits, and nothing more is read. */
  #keep(bytes: Buffer): void {
    this.#stash = this.#stash ? Buffer.concat([this.#stash, bytes]) : Buffer.from(bytes)
    this.pause()
  }

  /** Looks for the end in what is new, so that a head in a thousand pieces is not read a thousand times. */
  #continueHead(before: Buffer, bytes: Buffer): void {
    const all = Buffer.concat([before, bytes])
    // Requests that were sent ahead of their turn have not been looked at yet.
    const searched = this.#isUnfinished ? Math.max(0, before.length - 3) : 0
    if (all.includes('\r\n\r\n', searched, 'latin1')) this.#readHead(all)
    else this.#waitForHead(all, all.length)
  }

  #readHead(bytes: Buffer, length = bytes.length): void {
    const text = bytes.toString('latin1', 0, Math.min(length, maxRequestHead + 4))
    const end = text.indexOf('\r\n\r\n')
    if (end === -1 || end > maxRequestHead) return this.#waitForHead(bytes, length)
    const head = readRequestHead(end + 4 === text.length ? text : text.slice(0, end + 4), this.#before)
    if (isFault(head)) return this.#refuseUnread(gatewayRefusals.badMessage(head))
    this.#finishHead()
    this.#stash = end + 4 === length ? undefined : Buffer.from(bytes.subarray(end + 4, length))
    this.#head = head
    // Thousands of idle connections must not hold on to what was long.
    this.#before = head.text.length <= maxRememberedHead ? head : undefined
    this.#deadline = Number.POSITIVE_INFINITY
    serveRequest(this.#context, this, head)
  }

  #waitForHead(bytes: Buffer, length: number): void {
    if (length > maxRequestHead) return this.#refuseOversize(bytes.toString('latin1', 0, length))
    if (this.#stash === undefined) this.#deadline = Math.min(this.#deadline, clock.now + this.#timeouts.head)
    this.#stash = Buffer.from(bytes.subarray(0, length))
    this.#isUnfinished = true
    this.#context.connections.trackUnfinishedHead(this, length + mediumBuffer)
  }

  #finishHead(): void {
    if (this.#isUnfinished) this.#context.connections.untrackUnfinishedHead(this)
    this.#isUnfinished = false
  }

  #refuseOversize(text: string): void {
    const head = readOversizedHead(text)
    const settings = this.#context.config?.settings
    const cookies = { domain: settings?.cookieDomain ?? '', isSecure: settings?.scheme === 'https' }
    // For the language, and whether it is a page that a person looks at.
    this.#head = head
    this.#refuseUnread(gatewayRefusals.headTooLarge(maxRequestHead, head && dropLargestCookies(text, head, cookies)))
  }

  /** Nobody knows where a next request would begin: the connection ends with the answer. */
  #refuseUnread(refusal: GatewayRefusal): void {
    this.#stash = undefined
    this.#finishHead()
    this.refuse(refusal)
  }

  #endRequest(): void {
    if (this.#head) this.#context.limiter.endRequest(this.#exchange?.parts.active)
    this.#head = undefined
    this.#exchange = undefined
    this.#first = nothing
  }

  /**
   * Sends what was written, then closes. What the client still sends is read and dropped for a while: closing at once
   * would reset the connection, and the client would lose the answer (a 413, say) while it is still sending.
   */
  #closeLingering(): void {
    this.#isLingering = true
    this.#stash = undefined
    // The end of a large answer may still wait for a slow reader, who must not lose it.
    const { lingering, stalled } = this.#timeouts
    this.#deadline = clock.now + (this.#socket.writableLength > 0 ? stalled : lingering)
    this.#socket.end()
    this.resume()
  }

  #drained(): void {
    if (this.#tunnel) return this.#tunnel.clientDrained()
    if (this.#exchange?.isRequestDone) this.#deadline = Number.POSITIVE_INFINITY
    if (this.isIdle) this.#readNext()
    this.#exchange?.clientDrained()
  }

  /** A client that ends its side has left; nobody sends half a connection's worth of HTTP (nginx thinks so, too). */
  #ended(): void {
    if (this.#tunnel || this.#isLingering) return
    this.#socket.destroy()
  }

  #closed(): void {
    this.#context.connections.delete(this)
    if (this.#tunnel) this.#context.limiter.endWebSocket(this.#tunnelActive)
    this.#tunnel?.clientGone()
    this.#exchange?.clientGone()
    this.#endRequest()
  }

  #report(cause: unknown): void {
    this.#context.limiter.failures++
    const { upstream } = this.#exchange?.parts ?? {}
    this.#context.config?.control.report(`${upstream?.name ?? 'a request'} failed: ${(cause as Error).message}`)
  }
}
