import { fault, isFault, type HttpFault } from './http-fault.ts'
import { NotableNames } from './notable-names.ts'
import { readLines } from './header-lines.ts'
import { chunked } from './request-head.ts'
import { untilClose } from './response-head.ts'

/** Max length of a chunk size line, and of the trailer section, in bytes. */
const maxChunkSizeLine = 256
const maxTrailers = 8 * 1024

const token = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]+"
/** RFC 9112, 7.1 and 7.1.1, without white space; 12 digits are more bytes than any disk has. */
const sizeLine = new RegExp(
  `^([0-9A-Fa-f]{1,12})(?:;${token}(?:=(?:${token}|"[\\t \\x21\\x23-\\x5b\\x5d-\\x7e]*"))?)*$`,
)

const [lineFeed, carriageReturn] = [10, 13]
/** What a trailer must not say any more: how long the message was (RFC 9110, 6.5.1). */
const forbiddenTrailers = new NotableNames(['content-length', 'transfer-encoding'])

type ParserState = 'size' | 'data' | 'data-end' | 'trailers' | 'done'

/**
 * Incremental parser of a message body: finds its end without copying or changing it, and refuses bad framing before an upstream can
 * misread it. Bytes up to `forwardableEnd` may be forwarded as they are; trailers are held back until they are complete.
 */
export class BodyReader {
  /** Bytes still to come, `untilClose`, or `chunked`, of which `#left` is the present chunk's rest. */
  readonly #kind: number
  #left: number
  #state: ParserState
  #line = ''
  /** Set once the framing turned out to be wrong. */
  problem: HttpFault | undefined
  /** End of what may be passed on of the bytes that were read last: an index into them. */
  forwardableEnd = 0
  /** Where data begins and ends in the bytes read last, in pairs; kept only for those who asked for it. */
  readonly spans: number[] | undefined
  /** Everything up to the end of the message was passable, so that nothing is left to say after it. */
  isEndForwardable = false
  /** Lines that followed a chunked body, each with its CRLF. */
  trailers = ''

  /** @param length as `RequestHead.bodyLength` or `ResponseHead.bodyLength` @param wantsSpans to undo chunks */
  constructor(length: number, wantsSpans = false) {
    this.#kind = length
    this.#left = length > 0 ? length : 0
    this.#state = length === 0 ? 'done' : length === chunked ? 'size' : 'data'
    this.spans = wantsSpans ? [] : undefined
  }

  get isDone(): boolean {
    return this.#state === 'done'
  }

  get isChunked(): boolean {
    return this.#kind === chunked
  }

  /** @returns where the message ends in `bytes`, or `end` when it goes on; meaningless once there is a `problem` */
  read(bytes: Buffer, start: number, end: number): number {
    if (this.spans) this.spans.length = 0
    if (this.#state === 'done') return (this.forwardableEnd = start)
    if (this.#kind === untilClose) return this.#span(start, (this.forwardableEnd = end))
    return this.#kind === chunked ? this.#readChunks(bytes, start, end) : this.#readLength(start, end)
  }

  #readLength(start: number, end: number): number {
    const stop = Math.min(end, start + this.#left)
    this.#left -= stop - start
    if (this.#left === 0) this.#state = 'done'
    this.forwardableEnd = stop
    return stop
  }

  #readChunks(bytes: Buffer, start: number, end: number): number {
    let at = start
    this.forwardableEnd = start
    while (at < end && !this.isDone && this.problem === undefined) {
      if (this.#state === 'data') at = this.#readData(at, end)
      else if (this.#state === 'trailers') at = this.#readTrailers(bytes, at, end)
      else at = this.#readLine(bytes, at, end)
      if (!this.#isPastData()) this.forwardableEnd = at
    }
    return at
  }

  #isPastData(): boolean {
    return this.#state === 'trailers' || this.#state === 'done'
  }

  #readData(at: number, end: number): number {
    const stop = Math.min(end, at + this.#left)
    this.#left -= stop - at
    if (this.#left === 0) this.#state = 'data-end'
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
    if (this.#line.length > maxChunkSizeLine) this.problem = fault('longChunkLine')
    else if (isWhole) this.#takeLine(stop)
    // Data must be followed by exactly CRLF: seen at the first byte, not only at the line's end.
    else if (this.#state === 'data-end' && this.#line !== '\r') this.problem = fault('longChunk')
    return stop
  }

  #takeLine(stop: number): void {
    const line = this.#line
    this.#line = ''
    if (!line.endsWith('\r\n')) this.problem = fault('badChunkLine')
    else if (this.#state === 'data-end') this.#endData(line)
    else this.#takeSize(line.slice(0, -2), stop)
  }

  #endData(line: string): void {
    if (line !== '\r\n') this.problem = fault('longChunk')
    this.#state = 'size'
  }

  #takeSize(line: string, stop: number): void {
    const size = sizeLine.exec(line)?.[1]
    if (size === undefined) {
      this.problem = fault('noChunkSize')
      return
    }
    this.#left = Number.parseInt(size, 16)
    this.#state = this.#left === 0 ? 'trailers' : 'data'
    this.forwardableEnd = stop
  }

  /** Collects up to the empty line; usually there are no trailers. */
  #readTrailers(bytes: Buffer, at: number, end: number): number {
    if (this.#line === '' && end - at >= 2 && bytes[at] === carriageReturn && bytes[at + 1] === lineFeed) {
      this.#state = 'done'
      this.isEndForwardable = this.forwardableEnd === at
      this.forwardableEnd = this.isEndForwardable ? at + 2 : this.forwardableEnd
      return at + 2
    }
    const before = this.#line.length
    this.#line += bytes.toString('latin1', at, Math.min(end, at + maxTrailers + 4))
    const stop = this.#line.startsWith('\r\n') ? 2 : endOfLines(this.#line)
    if (stop === -1) {
      if (this.#line.length > maxTrailers) this.problem = fault('longTrailers', 431)
      return end
    }
    const section = this.#line.slice(0, stop)
    this.#line = ''
    const lines = readLines(section, 0, forbiddenTrailers)
    if (isFault(lines)) this.problem = lines
    else if (lines.length > 0) this.problem = fault('badTrailers')
    this.trailers = section.slice(0, -2)
    this.#state = 'done'
    return at + stop - before
  }
}

function endOfLines(text: string): number {
  const end = text.indexOf('\r\n\r\n')
  return end === -1 ? -1 : end + 4
}
