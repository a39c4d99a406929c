/** Decimal digits of the length of a record; more than 9 are of no record that fits into memory. */
const maxDigits = 9

/**
 * Records of an extended header of a tar archive: a length in decimal digits, a space, `key=value` and a line feed.
 * Source: POSIX.1-2017, pax, "pax Extended Header".
 * @returns in their order, keys and values as bytes in a string (latin1)
 * @throws {Error} when the bytes are not such records to their end: programs would read them differently, and some search
 *   the rest of the header for the end of each wrong length
 */
export function paxRecords(bytes: Buffer): [key: string, value: string][] {
  const records: [string, string][] = []
  for (let at = 0; at < bytes.length;) {
    const [, digits = ''] = /^([1-9]\d*) /.exec(bytes.toString('latin1', at, at + maxDigits + 1)) ?? []
    const end = at + Number(digits)
    const record = bytes.toString('latin1', at + digits.length + 1, end)
    const equals = record.indexOf('=')
    if (digits === '' || end > bytes.length || !record.endsWith('\n') || equals < 1) throw new Error('no pax record')
    records.push([record.slice(0, equals), record.slice(equals + 1, -1)])
    at = end
  }
  return records
}
