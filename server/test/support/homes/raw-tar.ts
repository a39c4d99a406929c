/** Parts of tar archives that no program writes. */

const block = 512

export interface RawEntry {
  readonly name?: string
  /** A single character, as in the header. */
  readonly type?: string
  readonly body?: Uint8Array | string
  /** The field of the size as it is; what the body has without it. */
  readonly size?: string
  readonly mode?: number
  readonly linkname?: string
}

/** A header with a right checksum, and the body in whole blocks. */
export function rawEntry({ name = 'x', type = '0', body = '', size, mode = 0o644, linkname = '' }: RawEntry): Buffer {
  const content = Buffer.from(body)
  const header = Buffer.alloc(block)
  header.write(name, 0, 100, 'utf8')
  header.write(`${mode.toString(8).padStart(7, '0')}\0`, 100, 'latin1')
  header.write('0000000\0'.repeat(2), 108, 'latin1')
  header.write(size ?? `${content.length.toString(8).padStart(11, '0')}\0`, 124, 12, 'latin1')
  header.write('00000000000\0', 136, 'latin1')
  header.write(type, 156, 'latin1')
  header.write(linkname, 157, 100, 'utf8')
  header.write('ustar\u000000', 257, 'latin1')
  return withChecksum(Buffer.concat([header, content, Buffer.alloc(-content.length & (block - 1))]))
}

/** The entry itself, with the checksum of its header as it is now. */
export function withChecksum(entry: Buffer): Buffer {
  entry.fill(' ', 148, 156)
  const sum = entry.subarray(0, block).reduce((all, byte) => all + byte, 0)
  entry.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return entry
}

/** The end of an archive. */
export const tarEnd = Buffer.alloc(2 * block)

/** One record of an extended header. */
export function paxRecord(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`
  const bytes = Buffer.byteLength(rest)
  const digits = String(bytes + String(bytes).length).length
  return `${bytes + digits}${rest}`
}
