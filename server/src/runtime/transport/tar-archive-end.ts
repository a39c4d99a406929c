/** Bytes of a block; an archive is a sequence of blocks. Source: POSIX.1-2017, pax, "ustar Interchange Format". */
const blockSize = 512
/** Max bytes of extended header records that are kept; names and attributes of a file take a few hundred. */
const maxRecords = 1024 * 1024
/** Entries that have no content, whatever size their header has: links, devices, folders, FIFOs. */
const withoutContent = new Set(['1', '2', '3', '4', '5', '6'])

/**
 * Follows a tar archive that goes by, from header to header, and knows whether its end has come: two blocks of zeros
 * where a header would be. Zeros alone prove nothing: they may be the content of a file in which the archive was cut off.
 */
export class TarArchiveEnd {
  readonly #block = Buffer.alloc(blockSize)
  /** Bytes of a header, or of records, that have come. */
  #filled = 0
  /** Bytes of content, with what fills its last block, that are still to come. */
  #content = 0
  #zeroBlocks = 0
  /** Extended header records that are to come, in bytes; they are for the next entry. */
  #recordsLeft = 0
  #records: Buffer[] = []
  #nextSize: number | undefined
  readonly #onHeader: (type: string) => void

  /** @param onHeader called with the type of each header, a single character; what it throws leaves by `pass` */
  constructor(onHeader: (type: string) => void = () => undefined) {
    this.#onHeader = onHeader
  }

  /** The archive is complete; further bytes have no meaning. */
  get hasCome(): boolean {
    return this.#zeroBlocks >= 2
  }

  /** @param bytes the next ones of the archive */
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
    this.#onHeader(type)
    const isRecords = type === 'x'
    const size = (isRecords ? undefined : this.#nextSize) ?? sizeIn(header)
    if (type !== 'L' && type !== 'K' && type !== 'g') this.#nextSize = undefined
    this.#content = withoutContent.has(type) ? 0 : Math.ceil(size / blockSize) * blockSize
    this.#recordsLeft = isRecords ? Math.min(size, maxRecords) : 0
  }

  #keepRecords(bytes: Uint8Array): void {
    if (this.#recordsLeft === 0) return
    const own = bytes.subarray(0, this.#recordsLeft)
    this.#records.push(Buffer.from(own))
    this.#recordsLeft -= own.length
    if (this.#recordsLeft > 0) return
    const [, size] = /(?:^|\n)\d+ size=(\d+)\n/.exec(Buffer.concat(this.#records).toString('latin1')) ?? []
    this.#records = []
    this.#nextSize = size === undefined ? undefined : Number(size)
  }
}

/** Octal digits, or, with the first bit set, a binary number: what GNU tar writes from 8 GiB on. */
function sizeIn(header: Buffer): number {
  const field = header.subarray(124, 136)
  if ((field[0] ?? 0) >= 0x80) return Number(field.readBigUInt64BE(4))
  return Number.parseInt(field.toString('latin1').replace(/[^0-7]/g, ''), 8) || 0
}
