import { NotableNames, fault, isFault, readLines, type HttpFault } from './header-lines.ts'
import { chunked } from './request-head.ts'
import { untilClose } from './response-head.ts'
import { framingWork } from './framing-work.ts'
import { chunkStates, digitValues, transitions } from './chunk-grammar.ts'

/** Max length of a chunk size line, and of the trailer section, in bytes. */
const maxChunkSizeLine = 256
const maxTrailers = 8 * 1024
/** 12 digits are more bytes than any disk has. */
const maxSizeDigits = 12
/**
 * What the framing of one chunk may take beside its data, in bytes, and what it may take for each byte of data: a byte in each
 * chunk is legitimate, and so are extensions of ordinary length.
 */
const [framingOfChunk, framingOfByte] = [16, 2]
/** By how many bytes the framing of a message may exceed that, taken together. */
const maxExcessFraming = 16 * 1024
/** Data up to this length is moved byte by byte, which is faster than a call for it. */
const shortData = 32

const { sizeStart, size, data, dataEnd: afterData, trailers, done, firstFault } = chunkStates
const { noSize, noCrlf, tooLong, longLine, longFraming } = chunkStates
const faults: Readonly<Record<number, HttpFault>> = {
  [noSize]: fault('noChunkSize'),
  [noCrlf]: fault('badChunkLine'),
  [tooLong]: fault('longChunk'),
  [longLine]: fault('longChunkLine'),
  [longFraming]: fault('longFraming'),
}

const [lineFeed, carriageReturn] = [10, 13]
/** What a trailer must not say any more: how long the message was (RFC 9110, 6.5.1). */
const forbiddenTrailers = new NotableNames(['content-length', 'transfer-encoding'])

/**
 * Incremental parser of a message body: finds its end without copying or changing it, and refuses bad framing before an upstream can
 * misread it. Bytes up to `forwardableEnd` may be forwarded as they are; trailers are held back until they are complete.
 * Chunks are read by a state machine that allocates nothing: the sender of a message chooses how many chunks it has.
 */
export class BodyReader {
  /** Bytes of the body, `untilClose` or `chunked`. */
  readonly #kind: number
  /** Data still to come, of the body or of the present chunk; while a chunk's size is read, what its digits say until now. */
  #left: number
  /** One of `chunkStates`. */
  #state: number
  /** Bytes of the present chunk size line until now. */
  #lineLength = 0
  /** By how many bytes the framing until now exceeds what its chunks may take. */
  #excess = 0
  /** The trailer section until now. */
  #section = ''
  /** Set once the framing turned out to be wrong. */
  problem: HttpFault | undefined
  /** End of what may be passed on of the bytes that were read last: an index into them. */
  forwardableEnd = 0
  /** Data of chunks is moved together, over their framing. */
  readonly isUnchunking: boolean
  /** With `isUnchunking`: where the data ends that was read last, an index into the bytes, which it begins where the reading began. */
  dataEnd = 0
  /** Everything up to the end of the message was passable, so that nothing is left to say after it. */
  isEndForwardable = false
  /** Lines that followed a chunked body, each with its CRLF. */
  trailers = ''

  /**
   * @param length as `RequestHead.bodyLength` or `ResponseHead.bodyLength`
   * @param isUnchunking whether chunks are undone, in the bytes that are read
   */
  constructor(length: number, isUnchunking = false) {
    this.#kind = length
    this.#left = length > 0 ? length : 0
    this.#state = length === 0 ? done : length === chunked ? sizeStart : data
    this.isUnchunking = isUnchunking && length === chunked
  }

  get isDone(): boolean {
    return this.#state === done
  }

  get isChunked(): boolean {
    return this.#kind === chunked
  }

  /** @returns where the message ends in `bytes`, or `end` when it goes on; meaningless once there is a `problem` */
  read(bytes: Buffer, start: number, end: number): number {
    this.dataEnd = start
    if (this.#state === done) return (this.forwardableEnd = start)
    if (this.#kind === untilClose) return (this.forwardableEnd = end)
    return this.#kind === chunked ? this.#readChunked(bytes, start, end) : this.#readLength(start, end)
  }

  #readLength(start: number, end: number): number {
    const stop = Math.min(end, start + this.#left)
    this.#left -= stop - start
    if (this.#left === 0) this.#state = done
    this.forwardableEnd = stop
    return stop
  }

  #readChunked(bytes: Buffer, start: number, end: number): number {
    if (this.#state === trailers) return this.#readTrailers(bytes, (this.forwardableEnd = start), end)
    const at = this.#readChunks(bytes, start, end)
    this.forwardableEnd = at
    const isPastData = this.#state === trailers && this.problem === undefined
    return isPastData && at < end ? this.#readTrailers(bytes, at, end) : at
  }

  /** @returns where the line with the size 0 ends, or where the framing is wrong, or `end` */
  #readChunks(bytes: Buffer, start: number, end: number): number {
    const { isUnchunking } = this
    const nextStates = transitions
    let state = this.#state
    let left = this.#left
    let lineLength = this.#lineLength
    let dataEnd = start
    let dataLength = 0
    let at = start
    while (at < end && state !== trailers && state < firstFault) {
      if (state === data) {
        const stop = left < end - at ? at + left : end
        if (isUnchunking) dataEnd = move(bytes, dataEnd, at, stop)
        left -= stop - at
        dataLength += stop - at
        at = stop
        if (left === 0) state = afterData
        continue
      }
      const byte = bytes[at++] as number
      state = nextStates[(state << 8) | byte] as number
      lineLength++
      if (state === size) {
        left = (lineLength === 1 ? 0 : left * 16) + (digitValues[byte] as number)
        if (lineLength > maxSizeDigits) state = noSize
      } else if (state === data) {
        if (this.#exceedsFraming(lineLength, left)) state = longFraming
        else if (left === 0) state = trailers
        lineLength = 0
      } else if (state === sizeStart) lineLength = 0
      else if (lineLength >= maxChunkSizeLine && state < firstFault) state = longLine
    }
    if (state >= firstFault) this.problem = faults[state]
    this.#state = state
    this.#left = left
    this.#lineLength = lineLength
    this.dataEnd = dataEnd
    framingWork.bytes += at - start - dataLength
    return at
  }

  /** @param line length of its line with the size, in bytes @param length of its data */
  #exceedsFraming(line: number, length: number): boolean {
    const excess = this.#excess + line + 2 - framingOfChunk - framingOfByte * length
    this.#excess = excess > 0 ? excess : 0
    return excess > maxExcessFraming
  }

  /** Collects up to the empty line; usually there are no trailers. */
  #readTrailers(bytes: Buffer, at: number, end: number): number {
    if (this.#section === '' && end - at >= 2 && bytes[at] === carriageReturn && bytes[at + 1] === lineFeed) {
      this.#state = done
      this.isEndForwardable = this.forwardableEnd === at
      this.forwardableEnd = this.isEndForwardable ? at + 2 : this.forwardableEnd
      return at + 2
    }
    const before = this.#section.length
    this.#section += bytes.toString('latin1', at, Math.min(end, at + maxTrailers + 4))
    const stop = this.#section.startsWith('\r\n') ? 2 : endOfLines(this.#section)
    if (stop === -1) {
      if (this.#section.length > maxTrailers) this.problem = fault('longTrailers', 431)
      return end
    }
    const section = this.#section.slice(0, stop)
    this.#section = ''
    const lines = readLines(section, 0, forbiddenTrailers)
    if (isFault(lines)) this.problem = lines
    else if (lines.length > 0) this.problem = fault('badTrailers')
    this.trailers = section.slice(0, -2)
    this.#state = done
    return at + stop - before
  }
}

/** Moves data to where the data before it ends, in the same memory. @returns where it ends now */
function move(bytes: Buffer, to: number, from: number, end: number): number {
  const length = end - from
  if (to === from) return end
  if (length > shortData) bytes.copyWithin(to, from, end)
  else for (let index = 0; index < length; index++) bytes[to + index] = bytes[from + index] as number
  return to + length
}

function endOfLines(text: string): number {
  const end = text.indexOf('\r\n\r\n')
  return end === -1 ? -1 : end + 4
}
