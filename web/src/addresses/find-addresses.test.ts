import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findAddresses, readTextFile } from './find-addresses.ts'

test('each address and each line without one has the number that editors and spreadsheets show', () => {
  const table = 'Name;E-Mail\r\nAnn;ann@x.org\r\n\r\nOtto;\r\nBen;ben@x.org\r\nAnn again;ANN@x.org\r\n'
  assert.deepEqual(findAddresses(table), {
    addresses: [
      { line: 2, text: 'ann@x.org' },
      { line: 5, text: 'ben@x.org' },
    ],
    rejected: [{ line: 4, text: 'Otto;' }],
    columns: [],
    column: undefined,
  })
})

test('ten thousand lines are read within five seconds', () => {
  const lines = Array.from({ length: 10_000 }, (_, at) => `"Pupil ${at}";pupil${at}@school.example;7b`)
  const withParents = lines.map((line, at) => `${line};parent${at}@y.example`)
  const began = performance.now()
  assert.equal(findAddresses(lines.join('\n')).addresses.length, 10_000)
  assert.equal(findAddresses(withParents.join('\n'), '1 ').addresses.length, 10_000)
  assert.ok(performance.now() - began < 5_000)
})

const utf16 = (text: string) => new Blob([new Uint8Array([0xff, 0xfe]), Buffer.from(text, 'utf16le')])

test('a file is decoded as spreadsheet programs encode it: UTF-8 with or without a byte order mark, UTF-16, Windows-1252', async () => {
  assert.equal(await readTextFile(new Blob(['ann@x.org\n'])), 'ann@x.org\n')
  assert.equal(await readTextFile(new Blob(['\ufeffann@x.org'])), 'ann@x.org')
  assert.equal(await readTextFile(utf16('Jörg;jörg@x.org')), 'Jörg;jörg@x.org')
  const windows = new Blob([Buffer.from('Schüler;ann@x.org', 'latin1')])
  assert.equal(await readTextFile(windows), 'Schüler;ann@x.org')
})

test('an image, or a file that is too large, is not read', async () => {
  assert.equal(await readTextFile(new Blob([new Uint8Array([0x89, 0x50, 0, 0, 1])])), undefined)
  assert.equal(await readTextFile(new Blob([new Uint8Array(9 * 1024 * 1024)])), undefined)
})
