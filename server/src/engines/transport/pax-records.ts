/** Decimal digits of the length of a record; more than 9 are of no record that fits into memory. */
const maxDigits = 9
const [zero, space, equalsSign, lineFeed] = [48, 32, 61, 10]

/**
 * Looks at the records of an extended header of a tar archive: a length in decimal digits, a space, `key=value` and a line feed.
 * Makes no string of any, so that 64 KB of the shortest ones cost a tenth of a millisecond.
 * Source: POSIX.1-2017, pax, "pax Extended Header".
 * @param visit called with each record: where it begins, its key, its `=`, and where the next one begins
 * @throws {Error} when the bytes are not such records to their end: programs would read them differently, and some search
 *   the rest of the header for the end of each wrong length
 */
export function visitPaxRecords(
  bytes: Uint8Array,
  visit: (start: number, key: number, equals: number, end: number) => void,
): void {
  for (let at = 0; at < bytes.length;) {
    const key = indexOf(bytes, space, at, at + maxDigits + 1) + 1
    const end = Math.min(at + lengthIn(bytes, at, key - 1), bytes.length + 1)
    const equals = indexOf(bytes, equalsSign, key, end)
    if (!(equals > key) || bytes[end - 1] !== lineFeed) throw new Error('no pax record')
    visit(at, key, equals, end)
    at = end
  }
}

/** Records are short, so that a call of the runtime takes longer. @returns -1 where it is not before `to` */
function indexOf(bytes: Uint8Array, code: number, from: number, to: number): number {
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

/** Values of the records with this key, in their order, as bytes in a string (latin1). @throws {Error} as `visitPaxRecords` */
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
