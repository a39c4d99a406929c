import type { Socket } from 'node:net'
import { Authenticator } from '#/access/request-authenticator.ts'
import { clock } from '#/coarse-clock.ts'
import { cookieSettingsOf, type GatewayContext } from '#/gateway-context.ts'
import { UpstreamRequestHeaders } from '#/proxy/upstream-request-headers.ts'
import { isFault } from '#/http1/http-fault.ts'
import { dropLargestCookies, readOversizedHead } from '#/http1/oversized-head.ts'
import { maxRequestHead, type RequestHead } from '#/http1/request-head.ts'
import { mediumBuffer } from '#/proxy/read-buffer.ts'
import { gatewayRefusals, type GatewayRefusal } from '#/pages/gateway-refusals.ts'
import { ClientSocket } from './client-socket.ts'
import type { ClientTimeouts } from './client-timeouts.ts'
import { maxRememberedHead, RequestHeadReader } from './request-head-reader.ts'

const nothing = Buffer.alloc(0)
/** Bytes behind a request that are read before reading pauses: while it is paused the gateway does not notice that the client leaves. */
const maxPipelined = 4 * 1024

/** Downstream socket that reads request heads one at a time; the bytes behind a request wait until it is served (pipelining). */
export abstract class RequestSocket extends ClientSocket {
  readonly authenticator: Authenticator
  readonly upstreamHeaders: UpstreamRequestHeaders
  protected readonly context: GatewayContext
  readonly #heads = new RequestHeadReader()
  /** Bytes written when `expectProgress` looked last. */
  #writtenBefore = 0

  /** @param accepted from a server with `noDelay` and `pauseOnConnect` */
  constructor(accepted: Socket, context: GatewayContext, timeouts: ClientTimeouts, network: string | undefined) {
    super(accepted, timeouts, network)
    this.context = context
    this.authenticator = new Authenticator(context.tokens)
    this.upstreamHeaders = new UpstreamRequestHeaders(context.tokens)
  }

  /** Neither a request nor a tunnel is open, and a next request may come. */
  abstract get isIdle(): boolean
  /** @param bytes that an unfinished head takes; 0 when it is finished */
  protected abstract trackUnfinishedHead(bytes: number): void
  protected abstract serve(head: RequestHead): void
  /** @param head of what was received, as far as it could be read */
  protected abstract refuseUnread(refusal: GatewayRefusal, head?: RequestHead): void

  /** Bytes received that belong to no request yet. */
  protected get stash(): Buffer | undefined {
    return this.#heads.stash
  }

  protected set stash(bytes: Buffer | undefined) {
    this.#heads.stash = bytes
  }

  /** So much follows the request that is being served that reading pauses. */
  protected get isStashFull(): boolean {
    return this.stash !== undefined && this.stash.length > maxPipelined
  }

  protected get isHeadUnfinished(): boolean {
    return this.#heads.isUnfinished
  }

  /** Reads a head at the beginning of `bytes`, and serves its request. */
  protected readHead(bytes: Buffer, length: number): void {
    const head = this.#heads.read(bytes, length)
    if (head === undefined) return this.#waitForHead(bytes, length)
    if (isFault(head)) return this.refuseUnread(gatewayRefusals.badMessage(head))
    this.#finishHead()
    this.serve(head)
  }

  /** As `readHead`, for bytes that follow the stash. */
  protected continueHead(bytes: Buffer): void {
    const all = this.#heads.append(bytes)
    if (this.#heads.mayBeWhole(all, bytes.length)) this.readHead(all, all.length)
    else this.#waitForHead(all, all.length)
  }

  /** Reads the pipelined request, if there is one. */
  protected readNext(): void {
    const stash = this.stash
    if (!stash || !this.isIdle || this.socket.destroyed) return
    this.stash = undefined
    this.resume()
    if (stash.length > 0) this.readHead(stash, stash.length)
    if (this.isStashFull && !this.isHeadUnfinished) this.pause()
  }

  /** Pipelined requests wait, and reading pauses when they are long (backpressure). */
  protected keep(bytes: Buffer): void {
    this.stash = this.stash ? Buffer.concat([this.stash, bytes]) : Buffer.from(bytes)
    if (this.isStashFull) this.pause()
  }

  /**
   * Called periodically while a whole request is being served. A client that sent so much behind it that reading is paused may
   * have left: something of its answer has to be sent again and again.
   */
  protected expectProgress(): void {
    if (!this.isStashFull) return
    const { bytesWritten } = this.socket
    const hasMoved = bytesWritten !== this.#writtenBefore
    if (hasMoved || this.deadline === Number.POSITIVE_INFINITY) this.deadline = clock.now + this.timeouts.stalled
    this.#writtenBefore = bytesWritten
  }

  /** Thousands of idle connections must not retain long heads: as `RequestHeadReader`, of what was made of them. */
  protected forgetLong({ text }: RequestHead): void {
    if (text.length <= maxRememberedHead) return
    this.authenticator.forget()
    this.upstreamHeaders.forget()
  }

  /** Bytes that this connection keeps in memory for a client that does not read. */
  get heldBytes(): number {
    return this.socket.writableLength + (this.stash?.length ?? 0)
  }

  /** Reads no further request until the client has read responses. */
  protected waitForReader(): void {
    this.deadline = clock.now + this.timeouts.stalled
    this.stash ??= nothing
    this.pause()
  }

  /** Forgets what belongs to no request. */
  protected dropInput(): void {
    this.stash = undefined
    this.#finishHead()
  }

  #waitForHead(bytes: Buffer, length: number): void {
    if (length > maxRequestHead) return this.#refuseOversized(bytes.toString('latin1', 0, length))
    if (this.stash === undefined) this.deadline = Math.min(this.deadline, clock.now + this.timeouts.head)
    this.#heads.keepPart(bytes, length)
    this.trackUnfinishedHead(this.#heads.unfinishedSize + mediumBuffer)
  }

  #finishHead(): void {
    if (this.#heads.isUnfinished) this.trackUnfinishedHead(0)
    this.#heads.finish()
  }

  #refuseOversized(text: string): void {
    const head = readOversizedHead(text)
    const cookies = head && dropLargestCookies(text, head, cookieSettingsOf(this.context.config))
    this.refuseUnread(gatewayRefusals.headTooLarge(maxRequestHead, cookies), head)
  }
}
