import { defaultLanguage } from '@berth/texts/language.ts'
import type { Caller } from '#/tokens/token-verifier.ts'
import { clock } from '#/basics/clock.ts'
import type { ActiveCount } from '#/access/connection-limiter.ts'
import { BodyReader } from '#/http1/body-reader.ts'
import { isReadRequest } from '#/http1/browser-request.ts'
import { inOnePiece, isFault, type HttpFault } from '#/http1/header-lines.ts'
import { chunked, upstreamTrailers, type RequestHead } from '#/http1/request-head.ts'
import { headText, maxResponseHead, untilClose, type ResponseHead } from '#/http1/response-head.ts'
import { gatewayRefusals, type GatewayRefusal } from '#/pages/gateway-refusals.ts'
import { localize } from '#/pages/localize-plain.ts'
import type { ActiveRequest, RequestUse, Upstream, UpstreamConnection, UpstreamListener } from '#/upstream/upstream.ts'
import {
  downstreamResponseHead,
  downstreamTrailers,
  type ResponseContext,
  type ResponseHeads,
} from './response-headers.ts'

/** How long a response may be sent before it counts as a stream, in ms. */
const longResponse = 500

/** Interim responses (1xx) that an app may send at once before the one that counts, and ms after which it may send one more. */
const [maxInterimAtOnce, interimEvery] = [5, 100]

/**
 * HTTP exchange: one request and its response, both streamed with backpressure: nothing is buffered whole, bodies keep their framing,
 * and a slow reader pauses the sender.
 */
export class Exchange implements UpstreamListener, ActiveRequest {
  index = 0
  readonly parts: ExchangeParts
  readonly #client: ExchangeClient
  readonly #request: BodyReader
  /** By `performance.now()`: the cached clock is too coarse for a latency. */
  readonly #beganAt = performance.now()
  /** When the request was sent to the app, by `clock.now`: its container may have had to wake first. */
  #sentAt = 0
  #response: BodyReader | undefined
  /** By `clock.now`. */
  #respondsSince = Number.POSITIVE_INFINITY
  /** The head of the answer has told the client that its connection ends with it. */
  #saysLast = true
  #responseHead: ResponseHead | undefined
  #partialHead = ''
  #interim = 0
  #upstreamConnection: UpstreamConnection | undefined
  /** Some of the bytes that `takeBody` got last are still on their way to the app. */
  hasUnsentRequestBytes = false
  #isOver = false
  #isClientPaused = false
  #isUpstreamPaused = false

  constructor(parts: ExchangeParts, client: ExchangeClient) {
    this.parts = parts
    this.#client = client
    this.#request = new BodyReader(parts.head.fields.bodyLength)
    parts.upstream.activeRequests.add(this)
  }

  get caller(): Caller | undefined {
    return this.parts.caller
  }

  /** The client no longer waits for the response. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Whether it may be sent on a connection that was kept, which may have been closed a moment ago: it can be sent again. */
  get isRepeatable(): boolean {
    const { method, fields } = this.parts.head
    return (method === 'GET' || method === 'HEAD') && fields.bodyLength === 0 && !fields.opensWebSocket
  }

  get isRead(): boolean {
    return isReadRequest(this.parts.head)
  }

  /** The app reads slower than the client sends. */
  get isClientPaused(): boolean {
    return this.#isClientPaused
  }

  /** Its response is server-sent events, which continue as long as the client listens (HTML standard, 9.2). */
  get isEndless(): boolean {
    return /\ncontent-type:[ \t]*text\/event-stream/i.test(this.#responseHead?.text ?? '')
  }

  /** Its response has been on its way for longer than a response that is whole needs. */
  get isLong(): boolean {
    return clock.now - this.#respondsSince > longResponse
  }

  /** The whole request has come in. */
  get isRequestDone(): boolean {
    return this.#request.isDone
  }

  get isWaiting(): boolean {
    return this.#upstreamConnection === undefined && this.#response === undefined && this.#partialHead === ''
  }

  /** The response has begun to go to the client, and cannot be taken back. */
  get hasBegun(): boolean {
    return this.#response !== undefined
  }

  /** The response has begun, and only the end of the client's connection tells its end. */
  get endsByClose(): boolean {
    return this.#responseHead?.bodyLength === untilClose || this.#response?.isUnchunking === true
  }

  /**
   * Looks at the first bytes of the body before anything is sent: bad framing must not reach an app at all.
   * @returns where the next request begins in `bytes`
   * @throws {GatewayRefusal} 400
   */
  readFirst(bytes: Buffer): number {
    const stop = this.#request.read(bytes, 0, bytes.length)
    if (this.#request.problem) throw gatewayRefusals.badMessage(this.#request.problem)
    return stop
  }

  /** Sends the request. @param first the beginning of the body, as `readFirst` has seen it */
  send(connection: UpstreamConnection, first: Buffer): void {
    this.#upstreamConnection = connection
    this.#sentAt = clock.now
    this.parts.upstream.touch(this.parts.use)
    let isRoom = connection.begin(this, this.parts.upstreamHead, first)
    if (this.#request.isDone) isRoom = this.#endRequest() && isRoom
    this.#pauseUnless(isRoom)
  }

  /** How much of the first bytes belongs to the body, without trailers. */
  get passable(): number {
    return this.#request.forwardableEnd
  }

  /** More of the request's body. @returns where the next request begins in `bytes` */
  takeBody(bytes: Buffer): number {
    const stop = this.#request.read(bytes, 0, bytes.length)
    if (this.#request.problem) return this.#refuseBody(bytes)
    const connection = this.#upstreamConnection
    // The response came early: the rest is read and dropped.
    if (!connection) return stop
    this.#noteBytes()
    if (this.parts.upstream.address === undefined) this.#client.wakeUpstream()
    let isRoom = this.#request.forwardableEnd === 0 || connection.write(bytes.subarray(0, this.#request.forwardableEnd))
    if (this.#request.isDone) isRoom = this.#endRequest() && isRoom
    this.#pauseUnless(isRoom)
    // Held back, nothing is read over them.
    this.hasUnsentRequestBytes = !this.#isClientPaused && connection.hasUnsentBytes()
    return stop
  }

  onUpstreamData(bytes: Buffer, end: number): void {
    this.#noteBytes()
    if (this.#response) this.#passBody(this.#response, bytes, end)
    else this.#readHead(bytes, 0, end)
  }

  hasUnsentBytes(): boolean {
    // A paused upstream reads nothing over them; but one that was released serves another request next.
    const isHeldBack = this.#isUpstreamPaused && !this.#isOver
    return !isHeldBack && this.#client.holdsBytes()
  }

  upstreamDrained(): void {
    if (!this.#isClientPaused) return
    this.#isClientPaused = false
    this.#client.resume()
  }

  clientDrained(): void {
    if (!this.#isUpstreamPaused) return
    this.#isUpstreamPaused = false
    this.#upstreamConnection?.resume()
  }

  upstreamEnded(error: Error | undefined): void {
    const connection = this.#upstreamConnection
    this.#upstreamConnection = undefined
    if (this.#isOver) return
    if (this.#responseHead?.bodyLength === untilClose && !error) return this.#finish(true)
    if (this.hasBegun || this.#partialHead !== '')
      return this.#fail(error ?? new Error('it closed in the middle of its answer'))
    // Apps close connections that were idle for a while; a request that crossed with that was never seen.
    if (connection && connection.requests > 1 && this.isRepeatable) return this.#client.retry()
    this.#fail(error ?? new Error('it closed the connection without an answer'))
  }

  /** The client left: the app hears of it at once. */
  clientGone(): void {
    this.#end()
    this.#upstreamConnection?.destroy()
    this.#upstreamConnection = undefined
  }

  cut(): void {
    this.clientGone()
    this.#client.cut()
  }

  /** A page that is opened counts once: what it loads for long is traffic. */
  #noteBytes(): void {
    const { use, upstream } = this.parts
    upstream.touch(use === 'navigation' ? 'traffic' : use)
  }

  #end(): void {
    this.#isOver = true
    this.parts.upstream.activeRequests.delete(this)
  }

  /** Behind the end of the request nothing has to be held back, and a client that is not read from leaves unnoticed. */
  #pauseUnless(isRoom: boolean): void {
    if (isRoom || this.#request.isDone) return
    this.#isClientPaused = true
    this.#client.pause()
  }

  #pauseUpstream(): void {
    if (this.#upstreamConnection === undefined) return
    this.#isUpstreamPaused = true
    this.#upstreamConnection.pause()
  }

  #endRequest(): boolean {
    const { isChunked, isEndForwardable, trailers } = this.#request
    // A second empty line would stand before the next request on the connection, and strict apps refuse that one.
    if (!isChunked || isEndForwardable) return true
    return this.#upstreamConnection?.write(`${upstreamTrailers(trailers)}\r\n`) ?? true
  }

  #refuseBody(bytes: Buffer): number {
    // The app has a part already; it must not take it for the whole.
    this.#upstreamConnection?.destroy()
    this.#upstreamConnection = undefined
    const { problem } = this.#request
    if (this.hasBegun || !problem) this.#fail(new Error('bad framing'))
    else {
      this.#end()
      this.#client.refuse(gatewayRefusals.badMessage(problem))
    }
    return bytes.length
  }

  #readHead(bytes: Buffer, start: number, end: number): void {
    const isBodiless = this.parts.head.method === 'HEAD'
    const { responseHeads } = this.#client
    const repeated = this.#partialHead === '' && responseHeads.repeated(bytes, start, end, isBodiless)
    if (repeated) return this.#takeHead(repeated, bytes, start, start + repeated.text.length, end)
    const before = this.#partialHead.length
    const text = this.#partialHead + headText(bytes, start, Math.min(end, start + maxResponseHead + 4))
    const headEnd = text.indexOf('\r\n\r\n')
    if (headEnd === -1 || headEnd > maxResponseHead) {
      if (text.length > maxResponseHead) return this.#fail(new Error('its head is too long'))
      this.#partialHead = text
      return
    }
    this.#partialHead = ''
    const bodyStart = start + headEnd + 4 - before
    const own = before === 0 ? bytes.toString('latin1', start, bodyStart) : inOnePiece(text.slice(0, headEnd + 4))
    const head = responseHeads.read(own, isBodiless)
    if (isFault(head)) return this.#fail(notHttp(head))
    this.#takeHead(head, bytes, start, bodyStart, end)
  }

  #takeHead(head: ResponseHead, bytes: Buffer, start: number, bodyStart: number, end: number): void {
    if (head.status === 101) this.#openTunnel(head, bytes.subarray(bodyStart, end))
    else if (head.status < 200) this.#passInterim(head, bytes, bodyStart, end)
    else this.#passHead(head, bytes, start, bodyStart, end)
  }

  /** 100 and 103: for clients that know them (RFC 9110, 15.2). */
  #passInterim(head: ResponseHead, bytes: Buffer, next: number, end: number): void {
    const allowed = maxInterimAtOnce + (clock.now - this.#sentAt) / interimEvery
    if (++this.#interim > allowed) return this.#fail(new Error('it sends one interim answer after another'))
    const options = { isLast: false, isUnchunked: false, isUpgrade: false }
    if (!this.parts.head.isHttp10)
      this.#client.write(downstreamResponseHead(head, this.parts.responseContext, options) ?? head.text)
    if (next < end) this.#readHead(bytes, next, end)
  }

  /** WebSocket upgrade: from now on the connection belongs to a tunnel. */
  #openTunnel(head: ResponseHead, first: Buffer): void {
    const connection = this.#upstreamConnection
    if (!connection || !this.parts.head.fields.opensWebSocket || head.upgrade !== 'websocket')
      return this.#fail(new Error('it changed to a protocol that was not asked for'))
    const options = { isLast: false, isUnchunked: false, isUpgrade: true }
    this.parts.upstream.hasAnswered = true
    this.#client.responseBegan(head.status, performance.now() - this.#beganAt)
    this.#end()
    this.#upstreamConnection = undefined
    this.#client.write(downstreamResponseHead(head, this.parts.responseContext, options) ?? head.text)
    this.#client.tunnel(connection, first)
  }

  #passHead(head: ResponseHead, bytes: Buffer, start: number, bodyStart: number, end: number): void {
    const isUnchunked = this.parts.head.isHttp10 && head.bodyLength === chunked
    const response = new BodyReader(head.bodyLength, isUnchunked)
    const stop = response.read(bytes, bodyStart, end)
    if (response.problem) return this.#fail(notHttp(response.problem))
    this.parts.upstream.hasAnswered = true
    this.#responseHead = head
    this.#response = response
    this.#respondsSince = clock.now
    this.#client.responseBegan(head.status, performance.now() - this.#beganAt)
    this.#saysLast = this.#isLast(head)
    const options = { isLast: this.#saysLast, isUnchunked, isUpgrade: false }
    const text = this.#client.responseHeads.write(head, this.parts.responseContext, options)
    // Nothing to change, and all of it in this buffer: head and body go out as they came in.
    const isUnchanged = text === undefined && bodyStart - start === head.text.length
    const isRoom = isUnchanged
      ? this.#client.write(bytes.subarray(start, response.forwardableEnd))
      : writeWithHead(this.#client, text ?? head.text, response, bytes, bodyStart)
    this.#passed(response, isRoom, stop < end)
  }

  #passBody(response: BodyReader, bytes: Buffer, end: number): void {
    const stop = response.read(bytes, 0, end)
    if (response.problem) return this.#fail(notHttp(response.problem))
    this.#passed(response, writeBody(this.#client, response, bytes), stop < end)
  }

  /** @param isMore the app sent more than its response: it could be taken for the next one */
  #passed(response: BodyReader, isRoom: boolean, isMore: boolean): void {
    if (!response.isDone) {
      if (!isRoom) this.#pauseUpstream()
      return
    }
    if (response.isChunked && !response.isEndForwardable && !response.isUnchunking)
      this.#client.write(`${downstreamTrailers(response.trailers)}\r\n`)
    this.#finish(isMore || this.#responseHead?.isReusable !== true)
  }

  #isLast({ bodyLength }: ResponseHead): boolean {
    // A response to an upload that is still coming: what follows on the connection is its rest.
    return this.parts.head.fields.isLast || bodyLength === untilClose || !this.#request.isDone
  }

  #finish(endsApp: boolean): void {
    const connection = this.#upstreamConnection
    this.#upstreamConnection = undefined
    this.#end()
    // Of a request that it has answered unread, bytes may still be on their way to it; after a HEAD a faulty app may send a body,
    // which would be taken for the answer to the next request.
    const isUnsure = !this.#request.isDone || this.parts.head.method === 'HEAD' || connection?.hasUnsentBytes()
    if (endsApp || isUnsure) connection?.destroy()
    else connection?.release()
    // The app has answered before it took what held the client back, and says nothing more.
    if (this.#isClientPaused) this.#client.resume()
    this.#client.responseEnded(this.#responseHead === undefined || this.#saysLast)
  }

  #fail(cause: Error): void {
    this.clientGone()
    this.#client.failed(cause, this.hasBegun)
  }
}

/** For the log. */
const notHttp = ({ why }: HttpFault) => new Error(`its answer is not valid HTTP: ${localize(defaultLanguage, why)}`)

/** The client's side of an exchange. */
export interface ExchangeClient {
  /** One for each connection, because one client gets the same heads again and again. */
  readonly responseHeads: ResponseHeads
  /** @returns false when the client reads slower than we write */
  write(bytes: Buffer | string): boolean
  /** Head and body in as few packets as possible. */
  writeTogether(head: string, body: Buffer): boolean
  /** What was written is still read from the memory that it was in. */
  holdsBytes(): boolean
  /** Stops and goes on reading what the client sends. */
  pause(): void
  resume(): void
  /** The head of the response is sent: its last one, not an interim one. @param ms since the exchange began */
  responseBegan(status: number, ms: number): void
  /** The response is complete. @param isLast the connection cannot carry another one */
  responseEnded(isLast: boolean): void
  /** Nothing was sent yet: respond with a refusal instead. */
  refuse(refusal: GatewayRefusal): void
  /** The app failed. When its response had begun, the client must see a cut, so that it does not take a part for the whole. */
  failed(cause: Error, hasBegun: boolean): void
  /** Ends the client's connection at once. */
  cut(): void
  /** The app agreed to a WebSocket: from now on bytes go both ways. `first` follows the handshake. */
  tunnel(app: UpstreamConnection, first: Buffer): void
  /** More of the request goes to an app that was paused meanwhile. Repeated calls are one wake. */
  wakeUpstream(): void
  /** The connection that was kept turned out to be closed: get a new one. */
  retry(): void
}

interface ExchangeParts {
  readonly head: RequestHead
  readonly upstream: Upstream
  /** As `UpstreamRequestHeaders` or `platformRequestHead` wrote it. */
  readonly upstreamHead: string
  /** Undefined for the platform's own responses. */
  readonly responseContext: ResponseContext | undefined
  readonly caller: Caller | undefined
  /** Where it is counted while it is open; undefined for the platform. */
  readonly active: ActiveCount | undefined
  /** What it counts as. */
  readonly use: RequestUse
}

/** Bodies up to this size are sent in one piece with their head, in bytes. */
const smallBody = 4 * 1024

/** Writes to the client. @returns of each: whether it takes more */
interface Writer {
  write(bytes: Buffer | string): boolean
  writeTogether(head: string, body: Buffer): boolean
}

/**
 * Writes a head and the part of its body that `response` has read last, with as few copies and packets as possible.
 * @param bodyStart where that part begins in `bytes` @returns false when the client reads slower than this is written
 */
function writeWithHead(client: Writer, head: string, response: BodyReader, bytes: Buffer, bodyStart: number): boolean {
  const end = passableEnd(response)
  if (end - bodyStart <= smallBody) return client.write(head + bytes.toString('latin1', bodyStart, end))
  return client.writeTogether(head, bytes.subarray(bodyStart, end))
}

/** Writes the part of the body that `response` has read last from the beginning of `bytes`. @returns as `writeWithHead` */
function writeBody(client: Writer, response: BodyReader, bytes: Buffer): boolean {
  const part = bytes.subarray(0, passableEnd(response))
  return part.length === 0 || client.write(part)
}

/** Where the bytes end that the client gets: the body as it came, or the data of its chunks. */
const passableEnd = ({ isUnchunking, dataEnd, forwardableEnd }: BodyReader) => (isUnchunking ? dataEnd : forwardableEnd)
