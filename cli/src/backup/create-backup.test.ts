import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { PassThrough, Writable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import type { HomeArchive } from '@berth/server/engines/home-archive.ts'
import { createBackup } from './create-backup.ts'
import { backupSigner } from './backup-signature.ts'
import { folderTarget, streamTarget } from './backup-target.ts'

const installation = 'berth-ghkmn'
const volumes = ['ann', 'bob', 'eve'].map((slug) => `${installation}-home-1-${slug}-dev`)

// A home larger than what was free took the whole disk, and the service could not write its store meanwhile.
test('homes leave the store its room on the disk; the rest of the backup is complete', async (t) => {
  const { folder, options, snapshot } = makeScene(t)
  const encrypt = (content: AsyncIterable<Uint8Array>) => content
  const room = roomFor(1)
  const target = await folderTarget(
    path.join(folder, 'backups'),
    installation,
    { recipients: [], encrypt, room, signer: await backupSigner(folder) },
    new Date(),
  )
  const { name, manifest } = await createBackup(target, snapshot(), options)
  assert.deepEqual(
    manifest.parts.map(({ file }) => file),
    ['berth.sqlite', 'signing-key.json', `homes/${volumes[0]}.tar`],
  )
  assert.deepEqual(
    manifest.missing.map(({ volume }) => volume),
    volumes.slice(1),
  )
  assert.match(manifest.missing[0]?.reason ?? '', /make room, or back up to another disk/)
  assert.deepEqual(readdirSync(path.join(name, 'homes')), [`${volumes[0]}.tar`])
})

// The folder of backups was on a disk of its own: a file of holes in one home filled it, and store and keys were removed again.
test('a home for which the disk has no room is left out and named; store, keys and the other homes stay', async (t) => {
  for (const code of ['ENOSPC', 'EDQUOT']) {
    const { folder, options, snapshot } = makeScene(t)
    let homes = 0
    const room = async () => {
      if (++homes === 2) throw Object.assign(new Error(`${code}: no space left, write`), { syscall: 'write', code })
      return 1
    }
    const encrypt = (content: AsyncIterable<Uint8Array>) => content
    const signer = await backupSigner(folder)
    const target = await folderTarget(path.join(folder, 'backups'), installation, {
      recipients: [],
      encrypt,
      room,
      signer,
    })
    const { name, manifest } = await createBackup(target, snapshot(), options)
    const saved = [volumes[0], volumes[2]].map((volume) => `${volume}.tar`)
    assert.deepEqual(
      manifest.parts.map(({ file }) => file),
      ['berth.sqlite', 'signing-key.json', ...saved.map((file) => `homes/${file}`)],
    )
    assert.deepEqual(
      manifest.missing.map(({ volume }) => volume),
      [volumes[1]],
    )
    assert.deepEqual(readdirSync(path.join(name, 'homes')), saved, 'nothing of the part stays')
  }
})

test('a backup to standard output that cannot be written fails, whatever is wrong with it', async (t) => {
  const { folder, options, snapshot } = makeScene(t)
  const output = new Writable({
    write: (_bytes, _encoding, done) =>
      done(++written > 8 ? Object.assign(new Error('full'), { syscall: 'write', code: 'ENOSPC' }) : null),
  })
  output.on('error', () => undefined)
  let written = 0
  const target = streamTarget(output, folder, { encrypt: (content) => content, signer: await backupSigner(folder) })
  await assert.rejects(createBackup(target, snapshot(), options), /full/)
})

test('a backup to standard output leaves the store its room for the file that it makes meanwhile', async (t) => {
  const { folder, options, snapshot } = makeScene(t)
  const output = new PassThrough()
  const archive = buffer(output)
  const signer = await backupSigner(folder)
  const target = streamTarget(output, folder, { encrypt: (content) => content, signer, room: roomFor(0) })
  const { manifest } = await createBackup(target, snapshot(), options)
  output.end()
  assert.deepEqual([manifest.parts.length, manifest.missing.length], [2, 3])
  assert.ok(!(await archive).includes('homes/'.concat(volumes[0] ?? '')))
  assert.ok(!existsSync(path.join(folder, 'part')))
})

/** Room for so many homes, of which each asks once. */
function roomFor(homes: number): () => Promise<number> {
  let asked = 0
  return async () => (asked++ < homes ? 1 : 0)
}

function makeScene(t: TestContext) {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-backup-'))
  t.after(() => rmSync(folder, { recursive: true }))
  writeFileSync(path.join(folder, 'signing-key.json'), '{}')
  const archive: Pick<HomeArchive, 'homes' | 'read'> = {
    homes: async () =>
      volumes.map((volume) => ({ volume, owner: { userId: 1, slug: volume.slice(-7, -4), type: 'dev' } })),
    read: async function* () {
      yield Buffer.from('files')
    },
  }
  const snapshot = () => {
    const file = path.join(folder, 'store')
    writeFileSync(file, 'store')
    return { file, migration: '001', rows: {}, installation }
  }
  const options = {
    databaseUrl: null,
    dataDir: folder,
    spool: folder,
    version: '1.0.0',
    recipients: [],
    homesOf: async () => archive as HomeArchive,
    onProgress: () => {},
    signal: new AbortController().signal,
  }
  return { folder, options, snapshot }
}
