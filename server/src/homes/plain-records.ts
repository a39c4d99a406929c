import { fillingRecord, isKey, visitPaxRecords } from '#/engines/transport/pax-records.ts'
import { sizeOf } from '#/engines/transport/tar-archive-end.ts'
import { sparseArchive } from './bad-archive.ts'

/** Keys of records that have a meaning for what is taken of an archive. */
const keys = ['path', 'linkpath', 'size', 'mtime'] as const
/** What only GNU tar reads. */
const sparse = 'GNU.sparse'

/**
 * The records of an extended header that count, and in the place of all others one that says nothing, so that the length stays.
 * A reader makes strings and properties of each record, and again for each entry that a global header is about: 120,000 entries
 * behind one with 512 records cost 24 s.
 * @throws {BadArchive} for a sparse file @throws {Error} as `visitPaxRecords`
 */
export function plainRecords(bytes: Buffer): Buffer {
  const last = new Map<string, Buffer>()
  visitPaxRecords(bytes, (start, key, equals, end) => {
    if (equals - key >= sparse.length && isKey(bytes, key, key + sparse.length, sparse)) throw sparseArchive()
    const name = keys.find((each) => isKey(bytes, key, equals, each))
    if (name === undefined) return
    // One that is no size counts nowhere, so that it does not take the place of one that does.
    if (name === 'size' && sizeOf(bytes.toString('latin1', equals + 1, end - 1)).length === 0) return
    last.set(name, bytes.subarray(start, end))
  })
  const kept = Buffer.concat([...last.values()])
  const left = bytes.length - kept.length
  return left === 0 ? kept : Buffer.concat([kept, fillingRecord(left)])
}
