import type { Caller } from '#/tokens/token-verifier.ts'
import { clock } from '#/basics/clock.ts'
import { framingWork } from '#/http1/framing-work.ts'
import type { ActiveRequest, RequestUse, Upstream, UpstreamConnection, UpstreamListener } from '#/upstream/upstream.ts'

/** A close frame with the code 1012, "Service Restart" (IANA registry of RFC 6455). */
const serviceRestart = Buffer.from([0x88, 2, 1012 >> 8, 1012 & 0xff])

/** The client's side of a tunnel. */
export interface TunnelClient {
  write(bytes: Buffer): boolean
  /** What was written is still read from the memory that it was in. */
  holdsBytes(): boolean
  pause(): void
  resume(): void
  /** Sends what was written, then closes. */
  end(): void
  cut(): void
}

/**
 * WebSocket tunnel: relays bytes in both directions with backpressure. Frames are parsed only to distinguish data from
 * pings: an open but idle socket must not keep a container awake.
 */
export class WebSocketTunnel implements UpstreamListener, ActiveRequest {
  readonly isWaiting = false
  readonly isRead = false
  /** A WebSocket has no end that is known before. */
  readonly isRequestDone = false
  index = 0
  readonly caller: Caller | undefined
  readonly upstream: Upstream
  readonly #client: TunnelClient
  readonly #connection: UpstreamConnection
  readonly #fromUpstream = new WebSocketFrameReader()
  readonly #fromClient = new WebSocketFrameReader()
  readonly #wake: () => Promise<unknown>
  readonly #onUse: () => void
  readonly #use: RequestUse
  #isWaking = false
  #isUpstreamPaused = false
  /** Bytes of it are still on their way to the app, in the memory that its next bytes are read into. */
  #isClientPaused = false
  #hasAppEnded = false
  /** Some of the bytes that `takeBytes` got last are still on their way to the app. */
  hasUnsentRequestBytes = false
  /** When the last byte moved, pings included; by `clock.now`. */
  lastByteAt = clock.now

  /**
   * @param use what its data counts as
   * @param onUse called for data of the client
   * @param wake called for data on its way to an app that has no address now: it is paused, and would not hear it. Never rejects
   */
  constructor(
    caller: Caller | undefined,
    connection: UpstreamConnection,
    client: TunnelClient,
    wake: () => Promise<unknown>,
    onUse: () => void,
    use: RequestUse = 'traffic',
  ) {
    this.caller = caller
    this.upstream = connection.upstream
    this.#connection = connection
    this.#client = client
    this.#wake = wake
    this.#onUse = onUse
    this.#use = use
    this.upstream.activeRequests.add(this)
    connection.handTo(this)
  }

  /** Bytes from the client. */
  takeBytes(bytes: Buffer): void {
    this.lastByteAt = clock.now
    if (this.#fromClient.read(bytes, bytes.length)) this.#noteData()
    const isRoom = this.#connection.write(bytes)
    // Held back, nothing is read over them.
    this.#isClientPaused = !isRoom
    if (!isRoom) this.#client.pause()
    this.hasUnsentRequestBytes = isRoom && this.#connection.hasUnsentBytes()
  }

  onUpstreamData(bytes: Buffer, end: number): void {
    this.lastByteAt = clock.now
    if (this.#fromUpstream.read(bytes, end)) this.upstream.touch(this.#use)
    this.#isUpstreamPaused = !this.#client.write(bytes.subarray(0, end))
    if (this.#isUpstreamPaused) this.#connection.pause()
  }

  hasUnsentBytes(): boolean {
    return !this.#isUpstreamPaused && this.#client.holdsBytes()
  }

  upstreamDrained(): void {
    this.#isClientPaused = false
    this.#client.resume()
  }

  clientDrained(): void {
    this.#isUpstreamPaused = false
    this.#connection.resume()
  }

  upstreamEnded(error: Error | undefined): void {
    this.#hasAppEnded = true
    this.upstream.activeRequests.delete(this)
    if (error) this.#client.cut()
    else this.#client.end()
  }

  clientGone(): void {
    this.upstream.activeRequests.delete(this)
    this.#connection.destroySoon()
  }

  cut(): void {
    this.upstream.activeRequests.delete(this)
    this.#connection.destroy()
    this.#client.cut()
  }

  /**
   * Ends both sides. Its client is told that the service restarts, so that it connects anew, unless the app is in the middle of a
   * frame: nothing can be said there. Of a client that sends faster than its app reads, the app does not get the last 64 KB:
   * while the connection ends, what comes from the client is read over them and dropped.
   */
  endForRestart(): void {
    // Its client may still read what the app sent last.
    if (this.#hasAppEnded) return
    if (!this.#fromUpstream.isBetweenFrames) return this.cut()
    if (this.#isClientPaused) this.#connection.destroy()
    this.#client.write(serviceRestart)
    this.#client.end()
    this.clientGone()
  }

  #noteData(): void {
    this.#onUse()
    this.upstream.touch(this.#use)
    if (this.upstream.address !== undefined || this.#isWaking) return
    // One wake for all messages meanwhile: a fast typist must not cause one for each letter.
    this.#isWaking = true
    void this.#wake().then(() => (this.#isWaking = false))
  }
}

/** Opcodes from here on are control frames: close, ping, pong (RFC 6455, 5.5). */
const firstControl = 0x8
const maxHeaderBytes = 14

/**
 * WebSocket frame parser of one direction, to distinguish data from the pings that keep it open. Ours, because `ws` would
 * buffer and re-frame what is only relayed.
 * It never changes or refuses anything: what does not look like frames counts as data.
 */
class WebSocketFrameReader {
  readonly #header = Buffer.alloc(maxHeaderBytes)
  #headerLength = 0
  #payloadLeft = 0
  #isControl = false

  /** Whether a frame may begin here. */
  get isBetweenFrames(): boolean {
    return this.#headerLength === 0 && this.#payloadLeft === 0
  }

  /** @returns whether any byte of these belongs to a frame of data */
  read(bytes: Buffer, end: number): boolean {
    let hasData = false
    let at = 0
    let payload = 0
    while (at < end) {
      const before = at
      if (this.#payloadLeft > 0) {
        at = this.#skip(at, end)
        payload += at - before
      } else at = this.#readHeader(bytes, at, end)
      // In the middle of a frame header its kind is not known yet.
      hasData ||= this.#headerLength === 0 && !this.#isControl
    }
    framingWork.bytes += end - payload
    return hasData
  }

  #skip(at: number, end: number): number {
    const step = Math.min(this.#payloadLeft, end - at)
    this.#payloadLeft -= step
    return at + step
  }

  #readHeader(bytes: Buffer, at: number, end: number): number {
    let next = at
    while (next < end) {
      this.#header[this.#headerLength++] = bytes[next++] ?? 0
      if (this.#headerLength < 2 || this.#headerLength < this.#headerSize()) continue
      this.#begin()
      break
    }
    return next
  }

  #headerSize(): number {
    const second = this.#header[1] ?? 0
    const short = second & 0x7f
    return 2 + (short === 127 ? 8 : short === 126 ? 2 : 0) + (second & 0x80 ? 4 : 0)
  }

  #begin(): void {
    const short = (this.#header[1] ?? 0) & 0x7f
    this.#isControl = ((this.#header[0] ?? 0) & 0x0f) >= firstControl
    this.#payloadLeft =
      short === 127 ? Number(this.#header.readBigUInt64BE(2)) : short === 126 ? this.#header.readUInt16BE(2) : short
    this.#headerLength = 0
  }
}
