import assert from 'node:assert/strict'
import { test } from 'node:test'
import { packTar, unpackTar } from 'modern-tar'
import { inFolder } from './home-contents.ts'

test('a home comes below a folder without its pipes and their other names, so that an engine takes the rest', async () => {
  // A hard link to what is not there fails the whole archive.
  const archive = async function* () {
    yield await packTar([
      { header: { name: 'pipe', size: 0, type: 'fifo' } },
      { header: { name: 'pipe-2', size: 0, type: 'link', linkname: 'pipe' } },
      { header: { name: 'text', size: 1, type: 'file' }, body: 'a' },
      { header: { name: 'text-2', size: 0, type: 'link', linkname: 'text' } },
    ])
  }
  const pieces: Uint8Array[] = []
  for await (const piece of inFolder(archive(), 'new')) pieces.push(piece)
  const entries = await unpackTar(Buffer.concat(pieces))
  assert.deepEqual(
    entries.map(({ header }) => [header.name, header.linkname ?? '']),
    [
      ['new/text', ''],
      ['new/text-2', 'new/text'],
    ],
  )
})
