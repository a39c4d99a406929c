import { setImmediate as yieldToEvents } from 'node:timers/promises'

const [quote, backslash, brace, bracket, endOfBrace, endOfBracket] = [0x22, 0x5c, 0x7b, 0x5b, 0x7d, 0x5d]
/** How long it parses before everything else of this process has its turn, in ms. */
const maxParseSlice = 8

/**
 * Incremental JSON parser: the objects of a JSON array, one by one, while its bytes come. The array is all of the text,
 * or stands in the object that is. `JSON.parse` of the list of 20,000 containers (40 MB) holds up everything else for a
 * quarter of a second, and keeps all of it in memory at once; this takes as long in all, but some milliseconds per
 * chunk.
 * @param stream the UTF-8 text in pieces of any size; what the array has beside objects and arrays is passed over
 * @param level how deep the items stand: 1 in an array, 2 in the arrays of an object, whatever their names
 * @throws what the stream throws; {SyntaxError} on what is no JSON, or ends before its end
 */
export async function* jsonArrayItems<T>(stream: AsyncIterable<Uint8Array>, level: 1 | 2 = 1): AsyncGenerator<T[]> {
  const items = new ArrayItemParser<T>(level)
  let turnAt = performance.now()
  for await (const chunk of stream) {
    const found = items.take(chunk)
    if (found.length > 0) yield found
    // Many chunks of a quick sender are there at once.
    if (performance.now() - turnAt < maxParseSlice) continue
    await yieldToEvents()
    turnAt = performance.now()
  }
  items.end()
}

class ArrayItemParser<T> {
  readonly #level: 1 | 2
  /** What came of an item that has not ended yet. */
  #rest: Buffer = Buffer.alloc(0)
  /** How deep the next byte is: the level between items, 0 before and after the text. */
  #depth = 0
  #isInString = false
  #hasBegun = false

  constructor(level: 1 | 2) {
    this.#level = level
  }

  /** @returns the items that end in this chunk */
  take(chunk: Uint8Array): T[] {
    const known = this.#rest.length
    const bytes =
      known === 0 ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length) : Buffer.concat([this.#rest, chunk])
    const found: T[] = []
    // Where the item that is open began; what is left of the chunk before is the beginning of one.
    let start = this.#depth > this.#level ? 0 : -1
    for (let at = known; at < bytes.length; at++) {
      if (this.#isInString) {
        at = this.#endOfString(bytes, at)
        continue
      }
      const byte = bytes[at] ?? 0
      if (byte === quote) this.#isInString = true
      else if (byte === brace || byte === bracket) {
        this.#hasBegun = true
        if (++this.#depth === this.#level + 1) start = at
      } else if ((byte === endOfBrace || byte === endOfBracket) && --this.#depth === this.#level) {
        found.push(JSON.parse(bytes.toString('utf8', start, at + 1)) as T)
        start = -1
      }
    }
    this.#rest = Buffer.from(bytes.subarray(start === -1 ? this.#endOfKnown(bytes) : start))
    return found
  }

  /** Between items nothing is kept but the backslashes before the cut of a string: they decide about the next byte. */
  #endOfKnown(bytes: Buffer): number {
    let at = bytes.length
    while (this.#isInString && at > 0 && bytes[at - 1] === backslash) at--
    return at
  }

  /** @throws {SyntaxError} when something is missing */
  end(): void {
    if (!this.#hasBegun || this.#depth !== 0) throw new SyntaxError('the array ends before its end')
  }

  /** @returns where the string ends that goes on here; the last byte, when that is not in here */
  #endOfString(bytes: Buffer, from: number): number {
    for (let at = bytes.indexOf(quote, from); at !== -1; at = bytes.indexOf(quote, at + 1)) {
      if (isEscaped(bytes, at)) continue
      this.#isInString = false
      return at
    }
    return bytes.length
  }
}

function isEscaped(bytes: Buffer, at: number): boolean {
  let before = at
  while (before > 0 && bytes[before - 1] === backslash) before--
  return (at - before) % 2 === 1
}

/**
 * Documents of a stream that has one on each line; a line may come in pieces.
 * @throws what the stream throws, or on a line that is no JSON
 */
export async function* jsonLines<T>(stream: AsyncIterable<Uint8Array>): AsyncGenerator<T> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line.trim() !== '') yield JSON.parse(line) as T
  }
}

/**
 * Time that an engine writes, in ms since 1970.
 * @returns null for none, and for never, which Docker writes as `0001-01-01T00:00:00Z`
 */
export function toInstant(text: string | undefined): number | null {
  const instant = Date.parse(text ?? '')
  return instant > 0 ? instant : null
}
