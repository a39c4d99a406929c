import assert from 'node:assert/strict'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { unpackTar, type TarHeader } from 'modern-tar'
import { paxRecord, rawEntry, tarEnd } from '#test/support/homes/raw-tar.ts'
import { BadArchive, checkedArchive, readableHeaders } from './checked-archive.ts'

/** Headers that cost far more than their bytes are refused before the last byte of them is read any further. */
async function* inPieces(bytes: Uint8Array, size = 5_000) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

const file = rawEntry({ body: 'content' })
const records = (bytes: number) => {
  let text = ''
  for (let at = 0; text.length < bytes; at++) text += paxRecord(at.toString(36), '')
  return text
}
/** Each length is 2, where there is no record, so that a reader looks for the next space in all that follows. */
const wrongLengths = `${'2a'.repeat(30_000)} `

/** @returns how many bytes are passed on before it fails */
async function passedOf(archive: Uint8Array, maxEntries = 1_000): Promise<number> {
  let passed = 0
  const read = async () => {
    for await (const part of readableHeaders(inPieces(archive), maxEntries)) passed += part.length
  }
  await assert.rejects(read)
  return passed
}

test('an extended header of megabytes is refused at its begin', async () => {
  // 8 MB of short records kept the process for 12 s.
  for (const type of ['x', 'g', 'L', 'K'])
    assert.equal(await passedOf(rawEntry({ type, body: records(200_000) })), 0, type)
})

test('records with wrong lengths are refused before they are searched', async () => {
  const archive = rawEntry({ type: 'x', body: wrongLengths })
  assert.ok((await passedOf(archive)) < 512 + wrongLengths.length)
  for (const body of ['5 a=b\n', '0 a=b\n', '99 a=b\n', ' 6 a=b\n', '6 =ab\n', '-6 a=b\n', '6 a=bc', 'x'])
    await passedOf(Buffer.concat([rawEntry({ type: 'x', body }), file, tarEnd]))
})

test('many extended headers are refused by what they have together', async () => {
  const archive = Buffer.concat(Array.from({ length: 40 }, () => rawEntry({ type: 'x', body: records(30_000) })))
  const passed = await passedOf(archive)
  assert.ok(passed > 900_000 && passed < 1_100_000, String(passed))
})

test('headers that programs read differently do not hide one of these', async () => {
  // Where the check and the reader of the archive disagree about where an entry ends, one takes for content what is a header
  // for the other.
  const hidden = rawEntry({ type: 'x', body: wrongLengths })
  const size = (bytes: number) => paxRecord('size', String(bytes))
  const large = hidden.length
  const before: [string, Buffer][] = [
    ['a size of all entries', rawEntry({ type: 'g', body: size(0) })],
    ['the last of two sizes', rawEntry({ type: 'x', body: size(large) + size(0) })],
    [
      'a size in the text of another record',
      rawEntry({ type: 'x', body: paxRecord('a', `b\n12 size=${large}\n`) + size(0) }),
    ],
    [
      'a size that a further header takes back',
      Buffer.concat([rawEntry({ type: 'x', body: size(large) }), rawEntry({ type: 'L', body: 'y\0' })]),
    ],
  ]
  for (const [name, first] of before) {
    const entry = rawEntry({
      size: name.startsWith('a size that') ? `${'0'.repeat(11)}\0` : `${large.toString(8).padStart(11, '0')}\0`,
    })
    const archive = Buffer.concat([first, entry, hidden, file, tarEnd])
    assert.ok((await passedOf(archive)) < archive.length - file.length - tarEnd.length, name)
  }
  const octal = rawEntry({ size: `0\0${large.toString(8).padStart(9, '0')}\0` })
  const archive = Buffer.concat([octal, hidden, file, tarEnd])
  assert.ok((await passedOf(archive)) < archive.length - file.length - tarEnd.length, 'digits behind a NUL')
})

test('extended headers that programs write are taken', async () => {
  const more = Array.from({ length: 30 }, (_, at) => paxRecord(`SCHILY.xattr.user.${at}`, 'x'.repeat(500))).join('')
  const archive = Buffer.concat([
    rawEntry({ type: 'x', body: paxRecord('path', `${'ä'.repeat(120)}/x`) + more }),
    file,
    tarEnd,
  ])
  const taken = await buffer(checkedArchive(inPieces(archive), { maxBytes: 1e6, maxEntries: 100 }))
  assert.ok(taken.includes(`${'ä'.repeat(120)}/x`))
  assert.ok(!taken.includes('SCHILY'))
  await assert.rejects(
    buffer(checkedArchive(inPieces(rawEntry({ type: 'x', body: wrongLengths })), { maxBytes: 1e6, maxEntries: 100 })),
    BadArchive,
  )
})

/** Headers as the reader of the archive has them, behind the check. */
async function headersOf(archive: Uint8Array, maxEntries = 1_000): Promise<TarHeader[]> {
  const passed = await buffer(readableHeaders(inPieces(archive), maxEntries))
  return (await unpackTar(passed)).map(({ header }) => header)
}

test('records that say nothing of what is taken cost an entry nothing', async () => {
  // A reader hands each record of a global header to each entry: 120,000 entries behind one with 512 records cost 24 s of CPU,
  // and 17,000 extended headers of 60 KB, of which a megabyte comes over the line, minutes.
  const many = Array.from({ length: 512 }, (_, at) => paxRecord(`k${at}`, 'x')).join('')
  const said =
    paxRecord('path', 'b') + paxRecord('mtime', '12.5') + paxRecord('path', 'ä/c') + paxRecord('linkpath', 'l')
  const headers = await headersOf(
    Buffer.concat([
      rawEntry({ type: 'g', body: many }),
      file,
      rawEntry({ type: 'x', body: many + said + many }),
      rawEntry({ type: '2', linkname: 'other' }),
      file,
      tarEnd,
    ]),
  )
  assert.deepEqual(
    headers.map(({ name }) => name),
    ['x', 'ä/c', 'x'],
  )
  assert.deepEqual([headers[1]?.linkname, headers[1]?.mtime?.getTime()], ['l', 12_500])
  for (const { pax = {} } of headers) assert.ok(Object.keys(pax).length <= 5, Object.keys(pax).join())
})

test('the last size that is one says how long an entry is, and a sparse file is refused in any header', async () => {
  const sizes = ['7', 'x', '-1'].map((size) => paxRecord('size', size)).join('')
  const entry = rawEntry({ body: 'content', size: `${'0'.repeat(11)}\0` })
  const headers = await headersOf(Buffer.concat([rawEntry({ type: 'x', body: sizes }), entry, file, tarEnd]))
  assert.deepEqual(
    headers.map(({ size }) => size),
    [7, 7],
  )
  for (const type of ['x', 'g'])
    await assert.rejects(
      headersOf(Buffer.concat([rawEntry({ type, body: paxRecord('GNU.sparse.major', '1') }), file, tarEnd])),
      (error) => error instanceof BadArchive && error.sentence.key === 'snapshots.sparseArchive',
    )
})

test('extended headers may have as much as the entries that have come need, and no more', async () => {
  const header = rawEntry({ type: 'x', body: records(60_000) })
  const passed = await passedOf(Buffer.concat(Array.from({ length: 400 }, () => header)), 1_000_000)
  assert.ok(passed > 15e6 && passed < 18e6, String(passed))
  const needed = Buffer.concat([rawEntry({ type: 'x', body: paxRecord('path', 'n'.repeat(200)) }), file])
  const usual = Buffer.concat([...Array.from({ length: 20_000 }, () => needed), tarEnd])
  assert.equal((await headersOf(usual, 1_000_000)).length, 20_000)
})
