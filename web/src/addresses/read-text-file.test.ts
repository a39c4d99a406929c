import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readTextFile } from './read-text-file.ts'

const utf16 = (text: string) => new Blob([new Uint8Array([0xff, 0xfe]), Buffer.from(text, 'utf16le')])

test('a file is decoded as spreadsheet programs encode it: UTF-8 with or without a byte order mark, UTF-16', async () => {
  assert.equal(await readTextFile(new Blob(['ann@x.org\n'])), 'ann@x.org\n')
  assert.equal(await readTextFile(new Blob(['\ufeffann@x.org'])), 'ann@x.org')
  assert.equal(await readTextFile(utf16('Jörg;jörg@x.org')), 'Jörg;jörg@x.org')
})

test('an image, or a file that is too large, is not read', async () => {
  assert.equal(await readTextFile(new Blob([new Uint8Array([0x89, 0x50, 0, 0, 1])])), undefined)
  assert.equal(await readTextFile(new Blob([new Uint8Array(9 * 1024 * 1024)])), undefined)
})
