import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { SizeLimitExceeded } from '#/engines/tar/checked-archive.ts'
import { SnapshotFiles } from './snapshot-files.ts'

const volume = 'berth-x-home-1-ann-dev'
const now = new Date('2026-12-01T10:00:00Z')
const terms = { now, maxBytes: 1_000 }

function filesOf(t: TestContext) {
  const folder = path.join(mkdtempSync(path.join(tmpdir(), 'berth-snapshots-')), 'homes')
  t.after(() => rmSync(path.dirname(folder), { recursive: true, force: true }))
  return { files: new SnapshotFiles(folder), folder, inside: () => readdirSync(path.join(folder, volume)) }
}
async function* bytes(...parts: string[]) {
  for (const part of parts) yield Buffer.from(part)
}
async function* failing() {
  yield Buffer.from('a part')
  throw new Error('the engine ended it')
}

test('a snapshot reads back as it was written, for its owner alone', async (t) => {
  const { files, folder } = filesOf(t)
  const made = await files.write(volume, 'manual', bytes('one ', 'two'), terms)
  assert.deepEqual(await files.list(volume), [made])
  assert.deepEqual([made.reason, made.createdAt], ['manual', now])
  assert.equal((await buffer(files.read(volume, made.id))).toString(), 'one two')
  assert.equal(statSync(path.join(folder, volume)).mode & 0o777, 0o700)
  await files.remove(volume, made.id)
  assert.deepEqual(await files.list(volume), [])
})

test('an archive that ends early, or is too large, leaves nothing', async (t) => {
  const { files, inside } = filesOf(t)
  await assert.rejects(files.write(volume, 'manual', failing(), terms), /the engine ended it/)
  await assert.rejects(files.write(volume, 'manual', bytes('x'.repeat(1_001)), terms), SizeLimitExceeded)
  assert.deepEqual(inside(), [])
})

test('what a process that was killed left is no snapshot, and is removed at the next start', async (t) => {
  const { files, folder, inside } = filesOf(t)
  mkdirSync(path.join(folder, volume), { recursive: true })
  writeFileSync(path.join(folder, volume, '1796119200000-manual.unfinished'), 'a part')
  assert.deepEqual(await files.list(volume), [])
  await files.removeUnfinished()
  assert.deepEqual(inside(), [])
})

test('an archive that was cut off on the disk fails when it is read', async (t) => {
  const { files, folder } = filesOf(t)
  const { id } = await files.write(volume, 'manual', bytes('x'.repeat(500)), terms)
  writeFileSync(path.join(folder, volume, `${id}.tar.gz`), Buffer.alloc(5))
  await assert.rejects(buffer(files.read(volume, id)))
})

test('a snapshot with the content of the newest is another name of its file, and each goes by itself', async (t) => {
  const { files, folder } = filesOf(t)
  const write = (text: string, at: number) =>
    files.write(volume, 'manual', bytes(text), { ...terms, now: new Date(now.getTime() + at) })
  const made = [await write('same', 0), await write('same', 1), await write('othr', 2)]
  const inode = ({ id }: { id: string }) => statSync(path.join(folder, volume, `${id}.tar.gz`)).ino
  const [first, second, third] = made.map(inode)
  assert.equal(first, second)
  assert.notEqual(second, third)
  await files.remove(volume, made[0]?.id ?? '')
  assert.equal((await buffer(files.read(volume, made[1]?.id ?? ''))).toString(), 'same')
})

test('ids and names of volumes lead nowhere else', async (t) => {
  const { files } = filesOf(t)
  await assert.rejects(files.remove(volume, '../../x'), /no id/)
  await assert.rejects(files.list('../x'), /no name/)
  await assert.rejects(files.list('..'), /no name/)
})
