import { fault, isFault, NotableNames, readLines, type MessageFault } from './header-lines.ts'
import { chunked } from './request-head.ts'
import { untilClose } from './response-head.ts'

/** Longest line with the size of a chunk, and longest trailer section, in bytes. */
const longestSizeLine = 256
const longestTrailers = 8 * 1024

const token = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]+"
/** RFC 9112, 7.1 and 7.1.1, without white space; 12 digits are more bytes than any disk has. */
const sizeLine = new RegExp(
  `^([0-9A-Fa-f]{1,12})(?:;${token}(?:=(?:${token}|"[\\t \\x21\\x23-\\x5b\\x5d-\\x7e]*"))?)*$`,
)

const [lineFeed, carriageReturn] = [10, 13]
/** What a trailer must not say any more: how long the message was (RFC 9110, 6.5.1). */
const tooLate = new NotableNames(['content-length', 'transfer-encoding'])

type Place = 'size' | 'data' | 'data-end' | 'trailers' | 'done'

/**
 * Finds where a message's body ends, without copying or changing it, and refuses bad framing before anybody else can
 * misread it. Bytes may be passed on as they are as far as `passable` says; trailers are held back until all are there.
 */
export class BodyReader {
  /** Bytes still to come, `untilClose`, or `chunked`, of which `#left` is the present chunk's rest. */
  readonly #kind: number
  #left: number
  #place: Place
  #line = ''
  /** Set once the framing turned out to be wrong. */
  problem: MessageFault | undefined
  /** End of what may be passed on of the bytes that were read last: an index into them. */
  passable = 0
  /** Where data begins and ends in the bytes read last, in pairs; kept only for those who asked for it. */
  readonly spans: number[] | undefined
  /** Everything up to the end of the message was passable, so that nothing is left to say after it. */
  isEndPassed = false
  /** Lines that followed a chunked body, each with its CRLF. */
  trailers = ''

  /** @param length as `RequestHead.bodyLength` or `ResponseHead.bodyLength` @param wantsSpans to undo chunks */
  constructor(length: number, wantsSpans = false) {
    this.#kind = length
    this.#left = length > 0 ? length : 0
    this.#place = length === 0 ? 'done' : length === chunked ? 'size' : 'data'
    this.spans = wantsSpans ? [] : undefined
  }

  get isDone(): boolean {
    return this.#place === 'done'
  }

  get isChunked(): boolean {
    return this.#kind === chunked
  }

  /** @returns where the message ends in `bytes`, or `end` when it goes on; meaningless once there is a `problem` */
  read(bytes: Buffer, start: number, end: number): number {
    if (this.spans) this.spans.length = 0
    if (this.#place === 'done') return (this.passable = start)
    if (this.#kind === untilClose) return this.#span(start, (this.passable = end))
    return this.#kind === chunked ? this.#readChunks(bytes, start, end) : this.#readLength(start, end)
  }

  #readLength(start: number, end: number): number {
    const stop = Math.min(end, start + this.#left)
    this.#left -= stop - start
    if (this.#left === 0) this.#place = 'done'
    this.passable = stop
    return stop
  }

  #readChunks(bytes: Buffer, start: number, end: number): number {
    let at = start
    this.passable = start
    while (at < end && !this.isDone && this.problem === undefined) {
      if (this.#place === 'data') at = this.#readData(at, end)
      else if (this.#place === 'trailers') at = this.#readTrailers(bytes, at, end)
      else at = this.#readLine(bytes, at, end)
      if (!this.#isPastData()) this.passable = at
    }
    return at
  }

  #isPastData(): boolean {
    return this.#place === 'trailers' || this.#place === 'done'
  }

  #readData(at: number, end: number): number {
    const stop = Math.min(end, at + this.#left)
    this.#left -= stop - at
    if (this.#left === 0) this.#place = 'data-end'
    return this.#span(at, stop)
  }

  #span(start: number, end: number): number {
    this.spans?.push(start, end)
    return end
  }

  /** The line with a chunk's size, or the empty one behind its data. */
  #readLine(bytes: Buffer, at: number, end: number): number {
    const feed = bytes.indexOf(lineFeed, at)
    const isWhole = feed !== -1 && feed < end
    const stop = isWhole ? feed + 1 : end
    this.#line += bytes.toString('latin1', at, stop)
    if (this.#line.length > longestSizeLine) this.problem = fault('longChunkLine')
    else if (isWhole) this.#takeLine(stop)
    // Data must be followed by exactly CRLF: seen at the first byte, not only at the line's end.
    else if (this.#place === 'data-end' && this.#line !== '\r') this.problem = fault('longChunk')
    return stop
  }

  #takeLine(stop: number): void {
    const line = this.#line
    this.#line = ''
    if (!line.endsWith('\r\n')) this.problem = fault('badChunkLine')
    else if (this.#place === 'data-end') this.#endData(line)
    else this.#takeSize(line.slice(0, -2), stop)
  }

  #endData(line: string): void {
    if (line !== '\r\n') this.problem = fault('longChunk')
    this.#place = 'size'
  }

  #takeSize(line: string, stop: number): void {
    const size = sizeLine.exec(line)?.[1]
    if (size === undefined) {
      this.problem = fault('noChunkSize')
      return
    }
    this.#left = Number.parseInt(size, 16)
    this.#place = this.#left === 0 ? 'trailers' : 'data'
    this.passable = stop
  }

  /** Collects until the empty line; most often that is all there is. */
  #readTrailers(bytes: Buffer, at: number, end: number): number {
    if (this.#line === '' && end - at >= 2 && bytes[at] === carriageReturn && bytes[at + 1] === lineFeed) {
      this.#place = 'done'
      this.isEndPassed = this.passable === at
      this.passable = this.isEndPassed ? at + 2 : this.passable
      return at + 2
    }
    const before = this.#line.length
    this.#line += bytes.toString('latin1', at, Math.min(end, at + longestTrailers + 4))
    const stop = this.#line.startsWith('\r\n') ? 2 : endOfLines(this.#line)
    if (stop === -1) {
      if (this.#line.length > longestTrailers) this.problem = fault('longTrailers', 431)
      return end
    }
    const section = this.#line.slice(0, stop)
    this.#line = ''
    const lines = readLines(section, 0, tooLate)
    if (isFault(lines)) this.problem = lines
    else if (lines.length > 0) this.problem = fault('badTrailers')
    this.trailers = section.slice(0, -2)
    this.#place = 'done'
    return at + stop - before
  }
}

function endOfLines(text: string): number {
  const end = text.indexOf('\r\n\r\n')
  return end === -1 ? -1 : end + 4
}
