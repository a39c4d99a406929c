import type { Socket } from 'node:net'
import type { ActiveCount } from '#/access/connection-limiter.ts'
import { cookieSettingsOf } from '#/access/gateway-config.ts'
import { refusalLinks } from '#/access/host-entry.ts'
import { Authenticator } from '#/access/request-authenticator.ts'
import { clock } from '#/basics/clock.ts'
import { mediumBuffer } from '#/basics/read-buffer.ts'
import { isFault } from '#/http1/header-lines.ts'
import {
  dropLargestCookies,
  maxRequestHead,
  readOversizedHead,
  requestIdOf,
  type RequestHead,
} from '#/http1/request-head.ts'
import { gatewayRefusals, type GatewayRefusal } from '#/pages/gateway-refusals.ts'
import {
  refusalResponse,
  serializeResponse,
  streamedResponseHead,
  type GatewayResponse,
} from '#/pages/gateway-response.ts'
import type { RequestClient } from '#/proxy/client.ts'
import type { Exchange } from '#/proxy/exchange.ts'
import { UpstreamRequestHeaders } from '#/proxy/request-headers.ts'
import { ResponseHeads } from '#/proxy/response-headers.ts'
import { retryOnNewConnection, serveRequest, wakeUpstream } from '#/proxy/serve-request.ts'
import { WebSocketTunnel, type TunnelClient } from '#/proxy/websocket-tunnel.ts'
import { PlatformUpstream, type UpstreamConnection } from '#/upstream/upstream.ts'
import { UnreadAnswer, type ConnectionContext, type LimitedConnection } from './client-connections.ts'
import { ClientSocket, type ClientTimeouts } from './client-socket.ts'
import { RequestAccess } from './request-access.ts'
import { maxRememberedHead, RequestHeadReader } from './request-head-reader.ts'

const nothing = Buffer.alloc(0)

/**
 * Bytes behind a request that are read before reading pauses. Some are, because while it is paused the gateway does not notice
 * that the client leaves.
 */
const maxPipelined = 4 * 1024

const [carriageReturn, lineFeed] = [13, 10]
/** @param end of the bytes that are valid */
const isEmptyLine = (bytes: Buffer, at: number, end: number) =>
  at + 2 <= end && bytes[at] === carriageReturn && bytes[at + 1] === lineFeed

/**
 * Downstream connection: serves one request at a time, and relays bytes; those behind a request wait until it is served
 * (pipelining). State machine with four states: reading a head, serving a request (`#head`), a tunnel, or lingering close
 * (further input is dropped).
 */
export class ClientConnection extends ClientSocket implements RequestClient, TunnelClient, LimitedConnection {
  readonly authenticator: Authenticator
  readonly upstreamHeaders: UpstreamRequestHeaders
  readonly responseHeads = new ResponseHeads()
  readonly #context: ConnectionContext
  readonly #heads = new RequestHeadReader()
  /** The request that is being served. */
  #head: RequestHead | undefined
  #requestId: string | undefined
  /** For access log and traces; undefined while both are off. */
  #access: RequestAccess | undefined
  #exchange: Exchange | undefined
  /** The beginning of its body. */
  #first: Buffer = nothing
  #tunnel: WebSocketTunnel | undefined
  /** Where its tunnel is counted. */
  #tunnelActive: ActiveCount | undefined
  readonly #unread: UnreadAnswer
  #idleSince = clock.now
  #isWaking = false
  /** Bytes written when `expectProgress` looked last. */
  #writtenBefore = 0

  /** @param accepted from a server with `noDelay` and `pauseOnConnect` */
  constructor(accepted: Socket, context: ConnectionContext, timeouts: ClientTimeouts, network: string | undefined) {
    super(accepted, timeouts, network)
    this.#context = context
    this.#unread = new UnreadAnswer(this, context)
    this.authenticator = new Authenticator(context.tokens)
    this.upstreamHeaders = new UpstreamRequestHeaders(context.tokens)
  }

  get activeRequest(): WebSocketTunnel | Exchange | undefined {
    return this.#tunnel ?? this.#exchange
  }

  get exchange(): Exchange | undefined {
    return this.#exchange
  }

  /** Id of the present request. Made when it is first asked for: most requests to apps need none. */
  get requestId(): string {
    const { config } = this.#context
    return (this.#requestId ??= requestIdOf(this.#head, config?.trustedProxies.isTrusted(this.peer) === true))
  }

  get traceparent(): string | undefined {
    return this.#access?.traceparent
  }

  get isIdle(): boolean {
    return this.#head === undefined && this.#tunnel === undefined && !this.isLingering
  }

  /** Since when it has had no request, by `clock.now`: since its last answer, or since it was opened. */
  get idleSince(): number {
    return this.#idleSince
  }

  /** A request is being served, or it carries a WebSocket. */
  get isWorking(): boolean {
    return this.#head !== undefined || this.#tunnel !== undefined
  }

  get openTunnel(): WebSocketTunnel | undefined {
    return this.#tunnel
  }

  /** What is open on it would not end by itself: waiting for it is of no use. */
  get isEndless(): boolean {
    return this.openTunnel !== undefined || this.#exchange?.isEndless === true
  }

  /** Open on it is what lasts: a WebSocket, or an answer that has been sent for a while. */
  get isStreaming(): boolean {
    return this.openTunnel !== undefined || this.#exchange?.isLong === true
  }

  protected get endsByClose(): boolean {
    return this.#exchange?.endsByClose === true
  }

  get #isForPlatform(): boolean {
    return this.#exchange?.parts.upstream instanceof PlatformUpstream
  }

  /** Bytes that this connection keeps in memory for a client that does not read. */
  get heldBytes(): number {
    return this.socket.writableLength + (this.#stash?.length ?? 0)
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
    // A body that came while its request waited may have paused it, and nothing else would read the next request.
    else if (rest && !this.#isStashFull) this.resume()
  }

  /** Sends it to the app. */
  send(connection: UpstreamConnection): void {
    const exchange = this.#exchange
    if (!exchange || exchange.isOver) return connection.destroy()
    exchange.send(connection, this.#first)
    this.#first = nothing
    this.deadline = exchange.isRequestDone ? Number.POSITIVE_INFINITY : clock.now + this.timeouts.stalled
    if (!exchange.isRequestDone && !exchange.isClientPaused) this.resume()
  }

  /** Responds with the gateway's own response instead of an upstream's. */
  respond(response: GatewayResponse): void {
    const head = this.#head
    const isLast =
      head === undefined ||
      this.#context.isDraining ||
      head.fields.isLast ||
      head.fields.bodyLength !== 0 ||
      response.headers.connection === 'close'
    this.#exchange?.clientGone()
    if (response.status >= 400) this.#context.limiter.refusals++
    this.#noteStatus(response.status)
    this.socket.write(serializeResponse(response, this.requestId, head?.method === 'HEAD', isLast))
    this.responseEnded(isLast)
  }

  refuse(refusal: GatewayRefusal): void {
    const links = refusalLinks(this.#context.config, this.#head)
    if (refusal.status >= 500 && refusal.cause !== undefined) this.report(refusal.cause)
    this.respond(refusalResponse(this.#head, refusal, links))
  }

  /** Begins a streamed response; `finishResponse` ends it. */
  beginResponse(status: number, headers: Readonly<Record<string, string>>, beginning: string): void {
    this.#noteStatus(status)
    this.socket.write(streamedResponseHead(status, headers, this.requestId) + beginning)
  }

  continueResponse(text: string): void {
    this.socket.write(text)
  }

  finishResponse(text: string): void {
    this.socket.write(text)
    this.#exchange?.clientGone()
    this.responseEnded(true)
  }

  #noteStatus(status: number): void {
    this.#context.metrics.answered(status)
    this.#access?.noteAnswer('gateway', status)
  }

  // For its exchange

  responseBegan(status: number, ms: number): void {
    const source = this.#isForPlatform ? 'api' : 'app'
    this.#context.metrics.forwarded(source, status, ms)
    this.#access?.noteAnswer(source, status)
  }

  responseEnded(isLast: boolean): void {
    this.#access?.noteExchange(this.#exchange, this.#requestId, this.#context)
    this.#endAccess()
    this.#endRequest()
    if (isLast || this.#context.isClosing) return this.#closeLingering()
    this.#idleSince = clock.now
    this.deadline = clock.now + this.timeouts.idle
    // A client that asks and asks without reading gets no further answer before it has read some.
    if (this.socket.writableNeedDrain) this.#waitForReader()
    // Not at once: a thousand requests sent together must not be served a thousand calls deep.
    else if (this.#stash) setImmediate(() => this.#readNext())
  }

  failed(cause: Error, hasBegun: boolean): void {
    // A process that is being killed still accepts connections for some milliseconds.
    if (!hasBegun)
      return this.refuse(this.#isForPlatform ? gatewayRefusals.platformDown() : gatewayRefusals.appFailed(cause))
    this.report(cause)
    this.cut()
  }

  wakeUpstream(): void {
    const { upstream, caller, use } = this.#exchange?.parts ?? {}
    if (!upstream || !use || this.#isWaking) return
    this.#isWaking = true
    void wakeUpstream(this.#context, upstream, caller, this.requestId, use, this.traceparent).then(
      () => (this.#isWaking = false),
    )
  }

  retry(): void {
    const exchange = this.#exchange
    if (exchange) retryOnNewConnection(this.#context, this, exchange)
  }

  tunnel(connection: UpstreamConnection, first: Buffer): void {
    const exchange = this.#exchange
    const caller = exchange?.caller
    const use = exchange?.parts.use ?? 'traffic'
    this.#tunnelActive = exchange?.parts.active
    this.#context.limiter.beginWebSocket(this.#tunnelActive)
    this.#endRequest()
    // It was the last request of its connection.
    this.#forgetHeads()
    this.socket.setNoDelay(true)
    this.#access?.noteExchange(exchange, this.#requestId, this.#context)
    const { requestId, traceparent } = this
    const wake = () => wakeUpstream(this.#context, tunnel.upstream, caller, requestId, use, traceparent)
    const onUse = () => caller && this.#context.sessions.noteUse(caller)
    const tunnel = new WebSocketTunnel(caller, connection, this, wake, onUse, use)
    this.#tunnel = tunnel
    this.deadline = clock.now + this.timeouts.idleWebSocket
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

  /** Enforces the timeouts; called periodically. */
  sweep(): void {
    if (this.#tunnel && !this.isLingering) this.deadline = this.#tunnel.lastByteAt + this.timeouts.idleWebSocket
    if (this.#head && this.#exchange?.isRequestDone !== false) this.#expectProgress()
    if (clock.now < this.deadline) return
    this.deadline = Number.POSITIVE_INFINITY
    if (this.isIdle && this.#stash && this.#stash.length > 0) this.#refuseUnread(gatewayRefusals.tooSlow())
    else if (this.#tunnel) this.#tunnel.cut()
    else this.cut()
  }

  /** @param bytes up to `end`, and good only until this returns: what is kept is copied */
  protected take(bytes: Buffer, end: number): void {
    if (this.#stash === undefined && this.isIdle) this.#readHead(bytes, end)
    else this.#takeMore(bytes.subarray(0, end))
  }

  #takeMore(bytes: Buffer): void {
    if (this.#tunnel) return this.#tunnel.takeBytes(bytes)
    // Requests that are already here come first, one in each turn: what follows them waits, or is not read at all.
    if (this.#head === undefined) return this.isHeadUnfinished ? this.#continueHead(bytes) : this.#keep(bytes)
    const exchange = this.#exchange
    const stop = exchange && !exchange.isRequestDone ? exchange.takeBody(bytes) : 0
    if (exchange?.isRequestDone === false) this.deadline = clock.now + this.timeouts.stalled
    else if (stop > 0) this.deadline = Number.POSITIVE_INFINITY
    if (stop < bytes.length && !this.isLingering) this.#keep(bytes.subarray(stop))
  }

  // Reading of heads

  /** Bytes received that belong to no request yet. */
  get #stash(): Buffer | undefined {
    return this.#heads.stash
  }

  set #stash(bytes: Buffer | undefined) {
    this.#heads.stash = bytes
  }

  /** So much follows the request that is being served that reading pauses. */
  get #isStashFull(): boolean {
    return this.#stash !== undefined && this.#stash.length > maxPipelined
  }

  protected get isHeadUnfinished(): boolean {
    return this.#heads.isUnfinished
  }

  /** Reads a head at the beginning of `bytes`, and serves its request. */
  #readHead(bytes: Buffer, length: number): void {
    if (isEmptyLine(bytes, 0, length)) return this.#skipEmptyLines(bytes, length)
    const head = this.#heads.read(bytes, length)
    if (head === undefined) return this.#waitForHead(bytes, length)
    if (isFault(head)) return this.#refuseUnread(gatewayRefusals.badMessage(head))
    this.#finishHead()
    this.#serve(head)
  }

  /** Some clients send an empty line behind the body of a POST (RFC 9112, 2.2). */
  #skipEmptyLines(bytes: Buffer, length: number): void {
    let at = 2
    while (isEmptyLine(bytes, at, length)) at += 2
    // An unfinished head has memory of its own, which goes.
    const rest = Buffer.from(bytes.subarray(at, length))
    this.#dropInput()
    if (rest.length > 0) this.#readHead(rest, rest.length)
  }

  /** Reads a head, or more of one, whose first bytes are the stash. */
  #continueHead(bytes: Buffer): void {
    const all = this.#heads.append(bytes)
    if (isEmptyLine(all, 0, all.length) || this.#heads.mayBeWhole(all, bytes.length)) this.#readHead(all, all.length)
    else this.#waitForHead(all, all.length)
  }

  /** Reads the pipelined request, if there is one. */
  #readNext(): void {
    const stash = this.#stash
    if (!stash || !this.isIdle || this.socket.destroyed) return
    this.#stash = undefined
    this.resume()
    if (stash.length > 0) this.#readHead(stash, stash.length)
    if (this.#isStashFull && !this.isHeadUnfinished) this.pause()
  }

  /** Pipelined requests wait, and reading pauses when they are long (backpressure). */
  #keep(bytes: Buffer): void {
    this.#stash = this.#stash ? Buffer.concat([this.#stash, bytes]) : Buffer.from(bytes)
    if (this.#isStashFull) this.pause()
  }

  #waitForHead(bytes: Buffer, length: number): void {
    if (length > maxRequestHead) return this.#refuseOversized(bytes.toString('latin1', 0, length))
    if (this.#stash === undefined) this.deadline = Math.min(this.deadline, clock.now + this.timeouts.head)
    this.#heads.keepPart(bytes, length)
    this.#trackUnfinishedHead(this.#heads.unfinishedSize + mediumBuffer)
  }

  #finishHead(): void {
    if (this.#heads.isUnfinished) this.#trackUnfinishedHead(0)
    this.#heads.finish()
  }

  #trackUnfinishedHead(bytes: number): void {
    if (bytes > 0) this.#context.connections.unfinishedHeads.set(this, bytes)
    else this.#context.connections.unfinishedHeads.delete(this)
  }

  #serve(head: RequestHead): void {
    this.#head = head
    this.#unread.endCount()
    this.#beginAccess(head)
    this.deadline = Number.POSITIVE_INFINITY
    serveRequest(this.#context, this, head)
  }

  /** Where a next request would begin is unknown: the connection ends with the response. */
  #refuseUnread(refusal: GatewayRefusal, head?: RequestHead): void {
    // For the language, and whether the response is an HTML page.
    if (head) this.#head = head
    this.#beginAccess(head)
    this.#dropInput()
    this.refuse(refusal)
  }

  #refuseOversized(text: string): void {
    const head = readOversizedHead(text)
    const cookies = head && dropLargestCookies(text, head, cookieSettingsOf(this.#context.config))
    this.#refuseUnread(gatewayRefusals.headTooLarge(maxRequestHead, cookies), head)
  }

  /** Forgets what belongs to no request. */
  #dropInput(): void {
    this.#stash = undefined
    this.#finishHead()
  }

  /** Reads no further request until the client has read responses. */
  #waitForReader(): void {
    this.deadline = clock.now + this.timeouts.stalled
    this.#stash ??= nothing
    this.pause()
  }

  /**
   * Called periodically while a whole request is being served. A client that sent so much behind it that reading is paused may
   * have left: something of its answer has to be sent again and again.
   */
  #expectProgress(): void {
    if (!this.#isStashFull) return
    const { bytesWritten } = this.socket
    const hasMoved = bytesWritten !== this.#writtenBefore
    if (hasMoved || this.deadline === Number.POSITIVE_INFINITY) this.deadline = clock.now + this.timeouts.stalled
    this.#writtenBefore = bytesWritten
  }

  /** Thousands of idle connections must not retain what was made of long heads, which `RequestHeadReader` forgets likewise. */
  #forgetLong({ text }: RequestHead): void {
    if (text.length > maxRememberedHead) this.#forgetHeads()
  }

  #forgetHeads(): void {
    this.#heads.forget()
    this.authenticator.forget()
    this.upstreamHeaders.forget()
  }

  #beginAccess(head: RequestHead | undefined): void {
    const { accessLog, tracer } = this.#context
    if (accessLog.current || tracer) this.#access = new RequestAccess(head, this.socket.bytesWritten, tracer)
  }

  /** Writes the line of the present request, or of its WebSocket, and ends its span. */
  #endAccess(): void {
    const access = this.#access
    if (access === undefined) return
    this.#access = undefined
    access.end(this.#context, this.peer, this.socket.bytesWritten)
  }

  #endRequest(): void {
    if (this.#head) {
      this.#unread.requestEnded(this.#exchange?.parts.active)
      this.#forgetLong(this.#head)
    }
    this.#head = undefined
    this.#requestId = undefined
    this.#exchange = undefined
    this.#first = nothing
  }

  #closeLingering(): void {
    this.#stash = undefined
    this.lingeringClose()
  }

  protected get unreadTimeout(): number {
    return this.#exchange?.caller ? this.timeouts.unread : this.timeouts.stalled
  }

  protected blocked(): void {
    if (this.#isForPlatform) this.#unread.hold()
    else if ((this.#exchange?.parts.active ?? this.#tunnelActive)?.key !== undefined) this.#unread.holdOfApp()
  }

  protected drained(): void {
    this.#unread.settle()
    if (this.#tunnel) return this.#tunnel.clientDrained()
    if (this.#exchange?.isRequestDone) this.deadline = Number.POSITIVE_INFINITY
    if (this.isIdle) this.#readNext()
    this.#exchange?.clientDrained()
  }

  /** A client that half-closes has left: HTTP clients do not use half-open connections (nginx does the same). */
  protected ended(): void {
    if (this.#tunnel || this.isLingering) return
    this.socket.destroy()
  }

  protected closed(): void {
    this.#context.connections.delete(this)
    this.#dropInput()
    if (this.#head) this.#access?.noteExchange(this.#exchange, this.#requestId, this.#context)
    this.#endAccess()
    if (this.#tunnel) this.#context.limiter.endWebSocket(this.#tunnelActive)
    this.#tunnel?.clientGone()
    this.#exchange?.clientGone()
    this.#endRequest()
    this.#unread.release()
  }

  protected report(cause: unknown): void {
    this.#context.limiter.failures++
    const { upstream } = this.#exchange?.parts ?? {}
    const problem = `${upstream?.name ?? 'a request'} failed: ${(cause as Error).message}`
    this.#context.config?.control.report(problem, this.requestId)
  }
}
