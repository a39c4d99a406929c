import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { writeOrLink } from './write-or-link.ts'

function filesOf(t: TestContext, known: string) {
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
  const { known, file } = filesOf(t, 'same content')
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
    const { known, file } = filesOf(t, 'same content')
    await writeOrLink(parts(text), file, known)
    assert.equal(readFileSync(file, 'utf8'), text)
    assert.notEqual(statSync(file).ino, statSync(known).ino)
    assert.equal(readFileSync(known, 'utf8'), 'same content')
  }
})

test('without a known file, also one that was removed, all is written', async (t) => {
  for (const gone of [true, false]) {
    const { known, file } = filesOf(t, 'content')
    if (gone) rmSync(known)
    await writeOrLink(parts('content'), file, gone ? known : undefined)
    assert.equal(readFileSync(file, 'utf8'), 'content')
  }
})

test('content that ends with an error, and a file that exists, fail', async (t) => {
  const { known, file } = filesOf(t, 'content')
  const failing = async function* () {
    yield Buffer.from('con')
    throw new Error('the engine ended it')
  }
  await assert.rejects(writeOrLink(failing(), file, known), /the engine ended it/)
  writeFileSync(file, 'there')
  await assert.rejects(writeOrLink(parts('content'), file, known))
  assert.equal(readFileSync(file, 'utf8'), 'there')
})
