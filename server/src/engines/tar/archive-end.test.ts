import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { TarArchiveEnd, fillingRecord, paxValues, visitPaxRecords } from './archive-end.ts'

/** Archives of the machine's own tar, in both formats that engines write. */

function filesOf(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-tar-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

for (const [format, headers] of [
  ['pax', 3 * 512],
  ['gnu', 512],
] as const) {
  const tar = (folder: string, ...args: string[]) =>
    execFileSync('tar', [`--format=${format}`, '--blocking-factor=1', '-c', '-C', folder, ...args])

  test(`a ${format} archive is complete at its end only, however its bytes come`, (t) => {
    const folder = filesOf(t)
    mkdirSync(path.join(folder, 'x'.repeat(200)))
    for (const [name, size] of [
      ['empty', 0],
      ['zeros', 5_000],
      ['block', 512],
      [`${'x'.repeat(200)}/${'y'.repeat(200)}`, 10],
    ] as const)
      writeFileSync(path.join(folder, name), Buffer.alloc(size))
    symlinkSync('empty', path.join(folder, 'link'))
    const archive = tar(folder, '.')
    const length = archive.length
    for (const step of [1, 511, 512, 513, length]) {
      const end = new TarArchiveEnd()
      for (let at = 0; at < length; at += step) {
        // The last block of zeros is the last of the archive.
        assert.equal(end.hasCome, false, `${step} ${at}`)
        end.pass(archive.subarray(at, at + step))
      }
      assert.equal(end.hasCome, true, String(step))
    }
  })

  test(`a ${format} archive with a file of more than 8 GiB is followed to its end`, (t) => {
    const folder = filesOf(t)
    const size = 9 * 1024 ** 3
    writeFileSync(path.join(folder, 'large'), '')
    truncateSync(path.join(folder, 'large'), size)
    const command = `tar --format=${format} -c -C ${folder} large 2>/dev/null | head -c ${headers}`
    const header = execFileSync('/bin/sh', ['-c', command])
    const end = new TarArchiveEnd()
    end.pass(header)
    const piece = Buffer.alloc(64 * 1024 ** 2)
    for (let sent = 0; sent < size; sent += piece.length) end.pass(piece)
    assert.equal(end.hasCome, false)
    end.pass(Buffer.alloc(1_024))
    assert.equal(end.hasCome, true)
  })
}

/** Extended headers of tar archives, of which users send those that no program writes. */
const recordsIn = (text: string) => {
  const bytes = Buffer.from(text)
  const found: [string, string][] = []
  visitPaxRecords(bytes, (start, key, equals, end) => {
    assert.equal(found.length === 0, start === 0)
    found.push([bytes.toString('utf8', key, equals), bytes.toString('utf8', equals + 1, end - 1)])
  })
  return found
}

test('records are read one after the other, whatever is in their values', () => {
  const expected = [
    ['path', 'a b/ä'],
    ['a', 'b=c'],
    ['x', '9 y=z\n'],
    ['k', ''],
  ]
  assert.deepEqual(recordsIn('15 path=a b/ä\n8 a=b=c\n12 x=9 y=z\n\n5 k=\n'), expected)
  assert.deepEqual(recordsIn(''), [])
  assert.deepEqual(paxValues(Buffer.from('9 size=1\n10 sizes=\n11 size=22\n'), 'size'), ['1', '22'])
})

test('what is no record to its end is refused', () => {
  const wrong = ['x', '5', '5 ', '5 k', '5 k=', '5 k=x', '4 k=\n', '6 k=\n', '05 k=\n', ' 5 k=\n', '+5 k=\n']
  for (const text of [
    ...wrong,
    '5 =x\n',
    '6 kx\n\n',
    '5 kx\n6 a=b\n',
    '1e1 k=xx\n',
    '0 k=\n',
    `${'1'.repeat(12)} k=\n`,
    'é k=\n',
  ])
    assert.throws(() => recordsIn(text), text)
})

test('a filling record has any length from five bytes on', () => {
  for (let bytes = 5; bytes < 1_200; bytes++) {
    const record = fillingRecord(bytes)
    assert.equal(record.length, bytes)
    assert.equal(recordsIn(record.toString()).length, 1, String(bytes))
  }
})
