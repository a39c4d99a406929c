import assert from 'node:assert/strict'
import { test } from 'node:test'
import { packTar, type TarHeader } from 'modern-tar'
import { rawEntry, tarEnd } from '#test/support/homes/raw-tar.ts'
import { folderSizes } from './folder-sizes.ts'

const all = { folder: '', mayRead: () => true, isEnd: () => false }
async function* parts(bytes: Uint8Array, size = 700) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}
const file = (name: string, size: number) => ({
  header: { name, size, type: 'file' } as TarHeader,
  body: new Uint8Array(size),
})
const folder = (name: string) => ({ header: { name, size: 0, type: 'directory' } as TarHeader })
const link = { header: { name: './a/again', size: 0, type: 'link', linkname: 'a/x' } as TarHeader }

test('a home is summed up by folder, largest first, and a file with two names counts once', async () => {
  const long = `${'b'.repeat(120)}/${'ü'.repeat(60)}/${'c'.repeat(90)}`
  const tar = await packTar([folder('./'), folder('./a/'), file('./a/x', 2_000), link, file(long, 3_000), file('z', 1)])
  assert.deepEqual(await folderSizes(parts(tar), all), {
    bytes: 5_001,
    files: 3,
    isComplete: true,
    hasMore: false,
    entries: [
      { name: 'b'.repeat(120), kind: 'folder', bytes: 3_000, files: 1 },
      { name: 'a', kind: 'folder', bytes: 2_000, files: 1 },
      { name: 'z', kind: 'file', bytes: 1, files: 1 },
    ],
  })
  const below = await folderSizes(parts(tar), { ...all, folder: `${'b'.repeat(120)}/${'ü'.repeat(60)}` })
  assert.deepEqual(below?.entries, [{ name: 'c'.repeat(90), kind: 'file', bytes: 3_000, files: 1 }])
  assert.equal(await folderSizes(parts(tar), { ...all, folder: 'none' }), undefined)
})

test('long names of GNU tar are read, too', async () => {
  const name = `${'d'.repeat(150)}/x`
  const tar = Buffer.concat([
    rawEntry({ name: '././@LongLink', type: 'L', body: `${name}\0` }),
    rawEntry({ body: 'x' }),
    tarEnd,
  ])
  assert.deepEqual((await folderSizes(parts(tar), all))?.entries[0]?.name, 'd'.repeat(150))
})

// A file of a terabyte of holes took 34 s of CPU to read, of which nothing was used.
test('a file that may not be read is counted, and nothing behind its header is asked for', async () => {
  const header = rawEntry({ name: 'holes', size: '17777777777777'.slice(-11) + '\0' })
  let asked = 0
  const endless = async function* () {
    yield rawEntry({ name: 'small', body: 'x' })
    yield header.subarray(0, 512)
    for (; ; asked++) yield new Uint8Array(65_536)
  }
  const found = await folderSizes(endless(), { ...all, mayRead: (bytes) => bytes < 1_000_000 })
  assert.deepEqual([found?.isComplete, asked], [false, 0])
  assert.deepEqual(
    found?.entries.map(({ name }) => name),
    ['holes', 'small'],
  )
})

test('of a folder with many entries the largest are told, also when they come first', async () => {
  const entries = Array.from({ length: 9_000 }, (_, at) =>
    rawEntry({ name: `f${at}`, body: at % 100 === 7 ? 'x'.repeat(at === 7 ? 3 : 1) : '' }),
  )
  const found = await folderSizes(parts(Buffer.concat([...entries, tarEnd]), 65_536), all)
  assert.deepEqual([found?.files, found?.bytes, found?.isComplete, found?.entries.length], [9_000, 92, true, 50])
  assert.deepEqual(
    [found?.entries[0], found?.entries[49]?.bytes],
    [{ name: 'f7', kind: 'file', bytes: 3, files: 1 }, 1],
  )
})
