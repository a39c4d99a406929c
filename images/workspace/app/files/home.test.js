import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Home, temporaryFolder } from '../../testing/app.js'

/** @import { TestContext } from 'node:test' */

/** A home beside a secret that is not in it. @param {TestContext} t */
function homeBesideSecret(t) {
  const folder = temporaryFolder(t)
  mkdirSync(join(folder, 'home/inner'), { recursive: true })
  mkdirSync(join(folder, 'home-of-another'))
  writeFileSync(join(folder, 'secret'), 'secret')
  writeFileSync(join(folder, 'home-of-another/secret'), 'secret')
  writeFileSync(join(folder, 'home/inner/note.txt'), 'note')
  return { root: join(folder, 'home'), home: new Home(join(folder, 'home')) }
}

/** @param {string} text */
async function* bytes(text) {
  yield Buffer.from(text)
}

for (const path of ['../secret', 'inner/../../secret', '..', 'a/../../home-of-another/secret', '/../secret']) {
  test(`the path ${path} does not lead out of the home`, async (t) => {
    const { home } = homeBesideSecret(t)
    await assert.rejects(home.read(path, 100), { status: 403 })
    await assert.rejects(home.write(path, bytes('x'), { limit: 100 }), { status: 403 })
    await assert.rejects(home.remove(path), { status: 403 })
  })
}

test('a symbolic link to a file outside can be neither read nor written through', async (t) => {
  const { root, home } = homeBesideSecret(t)
  symlinkSync(join(root, '../secret'), join(root, 'link'))
  await assert.rejects(home.read('link', 100), { status: 403 })
  await assert.rejects(home.write('link', bytes('x'), { limit: 100 }), { status: 403 })
  assert.equal(readFileSync(join(root, '../secret'), 'utf8'), 'secret')
})

test('a symbolic link to a folder outside cannot be walked through, not even to a new file', async (t) => {
  const { root, home } = homeBesideSecret(t)
  symlinkSync(join(root, '../home-of-another'), join(root, 'door'))
  await assert.rejects(home.list('door'), { status: 403 })
  await assert.rejects(home.write('door/new', bytes('x'), { limit: 100 }), { status: 403 })
  await assert.rejects(home.move('inner/note.txt', 'door/note.txt'), { status: 403 })
  await assert.rejects(home.remove('door/secret'), { status: 403 })
  assert.deepEqual(readdirSync(join(root, '../home-of-another')), ['secret'])
})

test('a link to a place that does not exist yet creates nothing there', async (t) => {
  const { root, home } = homeBesideSecret(t)
  symlinkSync(join(root, '../made-outside'), join(root, 'link'))
  await assert.rejects(home.write('link', bytes('x'), { limit: 100 }), { status: 403 })
  assert.ok(!readdirSync(join(root, '..')).includes('made-outside'))
})

test('deleting a link leaves what it leads to', async (t) => {
  const { root, home } = homeBesideSecret(t)
  symlinkSync(join(root, '../home-of-another'), join(root, 'door'))
  await home.remove('door')
  assert.deepEqual(readdirSync(root), ['inner'])
  assert.deepEqual(readdirSync(join(root, '../home-of-another')), ['secret'])
})

test('a link within the home is followed, and writing through it keeps it a link', async (t) => {
  const { root, home } = homeBesideSecret(t)
  symlinkSync('inner/note.txt', join(root, 'link'))
  await home.write('link', bytes('changed'), { limit: 100 })
  assert.equal(readFileSync(join(root, 'inner/note.txt'), 'utf8'), 'changed')
  assert.equal((await home.read('link', 100)).content.toString(), 'changed')
})

test('a write that breaks off leaves the old content and no rubbish', async (t) => {
  const { root, home } = homeBesideSecret(t)
  async function* brokenOff() {
    yield Buffer.from('half of the new')
    throw new Error('the sender went away')
  }
  await assert.rejects(home.write('inner/note.txt', brokenOff(), { limit: 100 }), /went away/)
  await assert.rejects(home.write('inner/note.txt', bytes('x'.repeat(101)), { limit: 100 }), { status: 413 })
  assert.equal(readFileSync(join(root, 'inner/note.txt'), 'utf8'), 'note')
  assert.deepEqual(readdirSync(join(root, 'inner')), ['note.txt'])
})

test('the home folder itself cannot be deleted or moved', async (t) => {
  const { home } = homeBesideSecret(t)
  for (const path of ['', '/', '.', './']) {
    await assert.rejects(home.remove(path), { status: 403 })
    await assert.rejects(home.move(path, 'elsewhere'), { status: 403 })
  }
})
