import { setTimeout as sleep } from 'node:timers/promises'
import { stripVTControlCharacters } from 'node:util'

/** Max characters of a line. */
const maxLineCharacters = 500

/**
 * Bytes of a line that are kept while its end has not come; the rest of it is dropped. To the engine a line has as
 * many, it cuts longer ones and sends the pieces; and a program may never end a line.
 */
const maxLineBytes = 16 * 1024

/**
 * Before each frame come 8 bytes: which stream it is of (1 is stdout, 2 is stderr), nothing (3), and how long it is
 * (4).
 */
const headerLength = 8

const newline = 0x0a

/** A line whose end has not come yet. */
interface OpenLine {
  readonly pieces: Buffer[]
  length: number
}

/**
 * Makes lines of what the engine sends of a container's output, however it comes in pieces: in the order of their ends,
 * because a long line comes in several frames, between which may be lines of the other stream.
 */
export class LogDemultiplexer {
  readonly #isTty: boolean
  readonly #open = new Map<number, OpenLine>()
  /** What has come of the next frame's header. */
  #header = Buffer.alloc(0)
  #stream = 1
  /** Bytes of the present frame that are still to come. */
  #left = 0

  /** @param isTty a terminal's output is one stream, without frames */
  constructor(isTty: boolean) {
    this.#isTty = isTty
  }

  /** @returns the lines that end in these bytes, as text without colours and control characters */
  push(bytes: Buffer): string[] {
    if (this.#isTty) return this.#take(1, bytes)
    const lines: string[] = []
    let rest = bytes
    while (rest.length > 0) {
      if (this.#left === 0) rest = this.#readHeader(rest)
      const piece = rest.subarray(0, this.#left)
      this.#left -= piece.length
      rest = rest.subarray(piece.length)
      lines.push(...this.#take(this.#stream, piece))
    }
    return lines
  }

  /** @returns what was written of lines that never ended; of a frame that broke off as far as it went */
  end(): string[] {
    const lines = [...this.#open.values()].map(toText)
    this.#open.clear()
    return lines
  }

  /** @returns what follows the header; nothing, when not all of it is there yet */
  #readHeader(bytes: Buffer): Buffer {
    const missing = headerLength - this.#header.length
    this.#header = Buffer.concat([this.#header, bytes.subarray(0, missing)])
    if (this.#header.length === headerLength) {
      this.#stream = this.#header.readUInt8(0)
      this.#left = this.#header.readUInt32BE(4)
      this.#header = Buffer.alloc(0)
    }
    return bytes.subarray(missing)
  }

  #take(stream: number, bytes: Buffer): string[] {
    const lines: string[] = []
    let begin = 0
    for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline, begin)) {
      const line = this.#keep(stream, bytes.subarray(begin, end))
      lines.push(toText(line))
      this.#open.delete(stream)
      begin = end + 1
    }
    if (begin < bytes.length) this.#open.set(stream, this.#keep(stream, bytes.subarray(begin)))
    return lines
  }

  #keep(stream: number, bytes: Buffer): OpenLine {
    const line = this.#open.get(stream) ?? { pieces: [], length: 0 }
    const piece = bytes.subarray(0, maxLineBytes - line.length)
    if (piece.length === 0) return line
    // A copy: a part would keep the whole of what was read in memory.
    line.pieces.push(Buffer.from(piece))
    line.length += piece.length
    return line
  }
}

/** Colours go as a whole: without their escape character they would be rubbish in the middle of words. */
function toText({ pieces }: OpenLine): string {
  const line = Buffer.concat(pieces).toString()
  const text = stripVTControlCharacters(line).replaceAll(/[^\P{Cc}\t]/gu, '')
  return [...text].slice(0, maxLineCharacters).join('')
}

/** Output that is followed: bytes per second, and bytes that may come at once, such as earlier lines. */
const [followRate, followBurst] = [256 * 1024, 2 * 1024 * 1024]

/**
 * Reads no faster than a rate: what has no line end is dropped without a listener that could slow it down, so that a
 * program that writes as fast as it can occupied this process for each page that follows its output.
 * @param signal ends the pause; the source then ends by itself, or throws
 */
export async function* pacedBytes(source: AsyncIterable<Buffer>, signal: AbortSignal): AsyncGenerator<Buffer> {
  let [room, at] = [followBurst, performance.now()]
  for await (const bytes of source) {
    yield bytes
    const now = performance.now()
    room = Math.min(followBurst, room + ((now - at) / 1_000) * followRate) - bytes.length
    at = now
    if (room < 0) await sleep((-room / followRate) * 1_000, undefined, { signal }).catch(() => undefined)
  }
}
