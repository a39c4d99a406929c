import { framingWork } from '#/http1/framing-work.ts'

/** Opcodes from here on are control frames: close, ping, pong (RFC 6455, 5.5). */
const firstControl = 0x8
const maxHeaderBytes = 14

/**
 * WebSocket frame parser of one direction, to distinguish data from the pings that keep it open. Ours, because `ws` would
 * buffer and re-frame what is only relayed.
 * It never changes or refuses anything: what does not look like frames counts as data.
 */
export class WebSocketFrameReader {
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
