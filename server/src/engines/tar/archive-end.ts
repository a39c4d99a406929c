/** Bytes of a block; an archive is a sequence of blocks. Source: POSIX.1-2017, pax, "ustar Interchange Format". */
const blockSize = 512
/** Max bytes of extended header records; names and attributes of a file take a few hundred. */
const maxRecords = 1024 * 1024
/**
 * Whether an entry is about the next one, or about all that follow: extended headers of POSIX, and names of GNU tar.
 */
export const isMetadata = (type: string): boolean => ['x', 'g', 'L', 'K'].includes(type)

/** What the headers of an entry say. */
export interface TarEntryHead {
  /** Bytes that are no UTF-8 are replaced. */
  readonly name: string
  /** A single character. */
  readonly type: string
  /** Bytes of its content. */
  readonly size: number
  /** Permission bits. */
  readonly mode: number
}

/** What is told of an archive as it goes by; what these throw leaves by `pass`. */
export interface TarListeners {
  /**
   * Called with the type of each header, a single character, and the bytes of its content, before these come. Also for
   * extended headers.
   */
  readonly onHeader?: (type: string, size: number) => void
  /** Called for each entry, before its content comes. Without it names are not read. */
  readonly onEntry?: (entry: TarEntryHead) => void
}

/** Entries that have no content, whatever size their header has: links, devices, folders, FIFOs. */
const withoutContent = new Set(['1', '2', '3', '4', '5', '6'])

/**
 * Follows a tar archive that goes by, from header to header, and knows whether its end has come: two blocks of zeros
 * where a header would be. Zeros alone prove nothing: they may be the content of a file in which the archive was cut
 * off.
 */
export class TarArchiveEnd {
  readonly #block = Buffer.alloc(blockSize)
  /** Bytes of a header, or of records, that have come. */
  #filled = 0
  /** Bytes of content, with what fills its last block, that are still to come. */
  #content = 0
  #zeroBlocks = 0
  /** Type of the extended header whose records come, and how many bytes of them are still to come. */
  #recordsOf = ''
  #recordsLeft = 0
  #records: Buffer[] = []
  /** Sizes that extended headers say, in place of that in the header itself: of the next entry, and of all. */
  #nextSize: number | undefined
  #globalSize: number | undefined
  /** The name that extended headers say of the next entry. */
  #nextName: string | undefined
  readonly #listeners: TarListeners

  constructor(listeners: TarListeners = {}) {
    this.#listeners = listeners
  }

  /** The archive is complete; further bytes have no meaning. */
  get hasCome(): boolean {
    return this.#zeroBlocks >= 2
  }

  /** Bytes until a header, or a content with what fills its last block, has come whole. */
  get untilNext(): number {
    return this.#content > 0 ? this.#content : blockSize - this.#filled
  }

  /** Whether a header comes next, or the end. */
  get isAtHeader(): boolean {
    return this.#content === 0
  }

  /**
   * @param bytes the next ones of the archive
   * @throws {Error} when records of an extended header are none, or too many
   */
  pass(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length && !this.hasCome;) {
      if (this.#content > 0) {
        const length = Math.min(this.#content, bytes.length - at)
        this.#keepRecords(bytes.subarray(at, at + length))
        this.#content -= length
        at += length
        continue
      }
      const length = Math.min(blockSize - this.#filled, bytes.length - at)
      this.#block.set(bytes.subarray(at, at + length), this.#filled)
      this.#filled = (this.#filled + length) % blockSize
      at += length
      if (this.#filled === 0) this.#readHeader(this.#block)
    }
  }

  #readHeader(header: Buffer): void {
    if (header.every((byte) => byte === 0)) return void this.#zeroBlocks++
    this.#zeroBlocks = 0
    const type = header.toString('latin1', 156, 157)
    const size = (isMetadata(type) ? undefined : (this.#nextSize ?? this.#globalSize)) ?? sizeIn(header)
    const { onHeader, onEntry } = this.#listeners
    onHeader?.(type, size)
    if (onEntry && !isMetadata(type)) {
      onEntry({
        name: this.#nextName ?? nameIn(header),
        type,
        size: withoutContent.has(type) ? 0 : size,
        mode: Number.parseInt(header.toString('latin1', 100, 107), 8) || 0,
      })
      this.#nextName = undefined
    }
    // Also before further metadata: what several extended headers say of one entry is not added up.
    this.#nextSize = undefined
    this.#content = withoutContent.has(type) ? 0 : Math.ceil(size / blockSize) * blockSize
    if (type !== 'x' && type !== 'g' && !(type === 'L' && onEntry)) return
    if (size > maxRecords) throw new Error(`an extended header has ${size} bytes`)
    this.#recordsOf = type
    this.#recordsLeft = size
  }

  #keepRecords(bytes: Uint8Array): void {
    if (this.#recordsLeft === 0) return
    const own = bytes.subarray(0, this.#recordsLeft)
    this.#records.push(Buffer.from(own))
    this.#recordsLeft -= own.length
    if (this.#recordsLeft > 0) return
    const records = Buffer.concat(this.#records)
    this.#records = []
    if (this.#recordsOf === 'L') return void (this.#nextName = textIn(records))
    if (this.#listeners.onEntry && this.#recordsOf === 'x') {
      const name = paxValues(records, 'path').at(-1)
      if (name !== undefined) this.#nextName = Buffer.from(name, 'latin1').toString()
    }
    const sizes = paxValues(records, 'size').flatMap(sizeOf)
    const size = sizes.at(-1)
    if (this.#recordsOf === 'x') this.#nextSize = size
    else this.#globalSize = size ?? this.#globalSize
  }
}

/** The value of a record of an extended header; none for what is no number of bytes. */
export const sizeOf = (text: string) => (/^\d+$/.test(text) && Number.isSafeInteger(Number(text)) ? [Number(text)] : [])

/** Octal digits to a NUL, or, with the first bit set, a binary number: what GNU tar writes from 8 GiB on. */
function sizeIn(header: Buffer): number {
  const field = header.subarray(124, 136)
  if ((field[0] ?? 0) >= 0x80) return Number(field.readBigUInt64BE(4))
  const [digits = ''] = field.toString('latin1').split('\0')
  return Number.parseInt(digits.replaceAll(' ', ''), 8) || 0
}

/** To the first NUL. */
function textIn(bytes: Buffer): string {
  const end = bytes.indexOf(0)
  return bytes.toString('utf8', 0, end === -1 ? bytes.length : end)
}

/** A header of POSIX has the begin of a long name in a field of its own; one of GNU tar has other things there. */
function nameIn(header: Buffer): string {
  const name = textIn(header.subarray(0, 100))
  const hasPrefix = header[345] !== 0 && header.toString('latin1', 257, 263) === 'ustar\0'
  return hasPrefix ? `${textIn(header.subarray(345, 500))}/${name}` : name
}

/** Decimal digits of the length of a record; more than 9 are of no record that fits into memory. */
const maxDigits = 9
const [zero, space, equalsSign, lineFeed] = [48, 32, 61, 10]

/**
 * Looks at the records of an extended header of a tar archive: a length in decimal digits, a space, `key=value` and a
 * line feed. Makes no string of any, so that 64 KB of the shortest ones cost a tenth of a millisecond. Source:
 * POSIX.1-2017, pax, "pax Extended Header".
 * @param visit called with each record: where it begins, its key, its `=`, and where the next one begins
 * @throws {Error} when the bytes are not such records to their end: programs would read them differently, and some
 *   search the rest of the header for the end of each wrong length
 */
export function visitPaxRecords(
  bytes: Uint8Array,
  visit: (start: number, key: number, equals: number, end: number) => void,
): void {
  for (let at = 0; at < bytes.length;) {
    const key = indexOfByte(bytes, space, at, at + maxDigits + 1) + 1
    const end = Math.min(at + lengthIn(bytes, at, key - 1), bytes.length + 1)
    const equals = indexOfByte(bytes, equalsSign, key, end)
    if (!(equals > key) || bytes[end - 1] !== lineFeed) throw new Error('no pax record')
    visit(at, key, equals, end)
    at = end
  }
}

/** Records are short, so that a call of the runtime takes longer. @returns -1 where it is not before `to` */
function indexOfByte(bytes: Uint8Array, code: number, from: number, to: number): number {
  for (let at = from; at < to; at++) if (bytes[at] === code) return at
  return -1
}

/** @returns 0 for what is no number, or begins with a zero */
function lengthIn(bytes: Uint8Array, from: number, to: number): number {
  if (bytes[from] === zero) return 0
  let length = 0
  for (let at = from; at < to; at++) {
    const digit = (bytes[at] ?? 0) - zero
    if (!(digit >= 0 && digit <= 9)) return 0
    length = length * 10 + digit
  }
  return length
}

/** Whether the key from `start` to `end` is this one. @param name ASCII */
export function isKey(bytes: Uint8Array, start: number, end: number, name: string): boolean {
  if (end - start !== name.length) return false
  for (let at = 0; at < name.length; at++) if (bytes[start + at] !== name.charCodeAt(at)) return false
  return true
}

/**
 * Values of the records with this key, in their order, as bytes in a string (latin1).
 * @throws {Error} as `visitPaxRecords`
 */
export function paxValues(bytes: Buffer, name: string): string[] {
  const values: string[] = []
  visitPaxRecords(bytes, (_, key, equals, end) => {
    if (isKey(bytes, key, equals, name)) values.push(bytes.toString('latin1', equals + 1, end - 1))
  })
  return values
}

/** A record of exactly this many bytes, 5 at least, that says nothing. */
export function fillingRecord(bytes: number): Buffer {
  const record = Buffer.alloc(bytes, 'x')
  record.write(`${bytes} ${bytes < 20 ? 'x' : 'comment'}=`, 'latin1')
  record[bytes - 1] = lineFeed
  return record
}
