import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { test, type TestContext } from 'node:test'
import { pauseFor } from '#/groups/term-end/archive-member.ts'
import { ArchiveStore, writeOrLink } from './archive-store.ts'

// Archives filled the disk of the store to its last byte, and Berth could store nothing any more.
test('an archive leaves the reserve of the store, and all archives wait until there is room', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-archives-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  let left = 20 * 1024 ** 2
  const files = new ArchiveStore(folder, async () => Math.max(0, left))
  const home = (async function* () {
    for (let at = 0; at < 100; at++, left -= 1024 ** 2) yield new Uint8Array(1024 ** 2)
  })()
  const failure: unknown = await files.write('7', 'one', home).catch((error: unknown) => error)
  assert.equal(pauseFor(failure)?.problem, 'disk')
  assert.deepEqual(readdirSync(path.join(folder, '7')), [])
})

test('an archive takes the place of an earlier one of its name, of which a download goes on', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-archives-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const store = new ArchiveStore(folder)
  const first = await store.write('7', 'one', parts('the first content'))
  const download = await store.open(first.file)
  // What a process that was killed has left is in no other archive's way.
  writeFileSync(path.join(folder, '7', 'one.unfinished'), 'a part')
  const second = await store.write('7', 'one', parts('another'))
  assert.equal(second.file, first.file)
  assert.deepEqual(
    [await download.readFile(), readFileSync(path.join(folder, second.file))].map((each) =>
      gunzipSync(each).toString(),
    ),
    ['the first content', 'another'],
  )
  await download.close()
  assert.deepEqual([await store.has(second), await store.has(first)], [true, first.bytes === second.bytes])
  assert.deepEqual(readdirSync(path.join(folder, '7')), ['one.tar.gz'])
})

test('names of an archive lead nowhere else', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-archives-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const store = new ArchiveStore(path.join(folder, 'in'))
  for (const [key, name] of [
    ['..', 'x'],
    ['7', '../x'],
    ['a/b', 'x'],
    ['7', ''],
  ] as const)
    await assert.rejects(store.write(key, name, parts('content')), /no name/)
  await assert.rejects(store.removeAll('..'), /no name/)
  assert.deepEqual(readdirSync(folder), [])
})

function linkFilesOf(t: TestContext, known: string) {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-link-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const names = { known: path.join(folder, 'known'), file: path.join(folder, 'file') }
  writeFileSync(names.known, known)
  return names
}
async function* parts(text: string, size = 3) {
  for (let at = 0; at < text.length; at += size) yield Buffer.from(text.slice(at, at + size))
}

test('the same content is another name of the known file, and nothing is written meanwhile', async (t) => {
  // Both files were read again behind the write: a snapshot of a home that had not changed took longer than the first.
  const { known, file } = linkFilesOf(t, 'same content')
  const watched = async function* () {
    for await (const part of parts('same content')) {
      assert.equal(statSync(file, { throwIfNoEntry: false }), undefined)
      yield part
    }
  }
  await writeOrLink(watched(), file, known)
  assert.equal(statSync(file).ino, statSync(known).ino)
})

test('other content is written whole, wherever it begins to differ', async (t) => {
  for (const text of ['', 'x', 'same', 'same contend', 'same content, and more', 'other content']) {
    const { known, file } = linkFilesOf(t, 'same content')
    await writeOrLink(parts(text), file, known)
    assert.equal(readFileSync(file, 'utf8'), text)
    assert.notEqual(statSync(file).ino, statSync(known).ino)
    assert.equal(readFileSync(known, 'utf8'), 'same content')
  }
})

test('without a known file, also one that was removed, all is written', async (t) => {
  for (const gone of [true, false]) {
    const { known, file } = linkFilesOf(t, 'content')
    if (gone) rmSync(known)
    await writeOrLink(parts('content'), file, gone ? known : undefined)
    assert.equal(readFileSync(file, 'utf8'), 'content')
  }
})

test('content that ends with an error, and a file that exists, fail', async (t) => {
  const { known, file } = linkFilesOf(t, 'content')
  const failing = async function* () {
    yield Buffer.from('con')
    throw new Error('the engine ended it')
  }
  await assert.rejects(writeOrLink(failing(), file, known), /the engine ended it/)
  writeFileSync(file, 'there')
  await assert.rejects(writeOrLink(parts('content'), file, known))
  assert.equal(readFileSync(file, 'utf8'), 'there')
})
