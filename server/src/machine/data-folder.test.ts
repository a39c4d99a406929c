import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { restrictPermissions } from './data-folder.ts'
import { openDatabase } from '#/store/database.ts'

function folder(t: TestContext): string {
  const made = mkdtempSync(path.join(tmpdir(), 'berth-data-'))
  t.after(() => rmSync(made, { recursive: true, force: true }))
  return made
}
const modeOf = (file: string) => (statSync(file).mode & 0o7777).toString(8)

test('a folder that is not there is made for its owner alone', (t) => {
  const dataDir = path.join(folder(t), 'deep', 'data')
  assert.deepEqual(restrictPermissions(dataDir), [])
  assert.equal(modeOf(dataDir), '700')
})

test('a wider one is tightened with all files in it, the outbox included', (t) => {
  const dataDir = folder(t)
  const outbox = path.join(dataDir, 'outbox')
  mkdirSync(outbox)
  const files = ['berth.sqlite', 'berth.sqlite-wal', 'signing-key.json', 'outbox/a.eml', 'outbox/.b'].map((name) =>
    path.join(dataDir, name),
  )
  for (const file of files) {
    writeFileSync(file, 'x')
    chmodSync(file, 0o666)
  }
  for (const each of [dataDir, outbox]) chmodSync(each, 0o755)
  assert.deepEqual(restrictPermissions(dataDir), [])
  assert.deepEqual([dataDir, outbox].map(modeOf), ['700', '700'])
  for (const file of files) assert.equal(modeOf(file), '600', file)
})

test('links in it are not followed, and a folder for all programs is left as it is', (t) => {
  const [dataDir, outside] = [folder(t), folder(t)]
  const file = path.join(outside, 'of-somebody-else')
  writeFileSync(file, 'x')
  chmodSync(file, 0o644)
  symlinkSync(file, path.join(dataDir, 'link'))
  symlinkSync(outside, path.join(dataDir, 'outbox'))
  assert.deepEqual(restrictPermissions(dataDir), [])
  assert.equal(modeOf(file), '644')
  chmodSync(dataDir, 0o1777)
  assert.match(restrictPermissions(dataDir).join(), /folder for all programs/)
  assert.equal(modeOf(dataDir), '1777')
})

test('the database is its owner’s alone, its log and its index too, whatever the process lets new files be', async (t) => {
  const dataDir = path.join(folder(t), 'data')
  const before = process.umask(0)
  t.after(() => process.umask(before))
  const database = await openDatabase(null, dataDir)
  const files = ['berth.sqlite', 'berth.sqlite-wal', 'berth.sqlite-shm'].map((name) => path.join(dataDir, name))
  for (const file of files) assert.equal(modeOf(file), '600', file)
  await database.close()
})
