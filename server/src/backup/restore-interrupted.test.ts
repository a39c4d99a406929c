import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { forgetInterruptedRestore, partlyRestored, volumeMark } from '#/data-folder/restore-mark.ts'
import type { HomeArchive } from '#/runtime/home-archive.ts'
import { openDatabase } from '#/store/database.ts'
import { installationName } from '#/store/installation.ts'
import { createBackup, spoolStore } from './create-backup.ts'
import { folderTarget } from './folder-target.ts'
import { restoreBackup } from './restore-backup.ts'

// After a reboot in the middle of a restore Berth started by itself, and the next restore took the home that was
// written in part for one that had existed before.
test('a home that a restore left in part is named by the next one, also after Berth was started', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-restore-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const volumes = ['ann', 'bob'].map((slug) => `berth-ghkmn-home-1-${slug}-dev`)
  const [annHome = '', bobHome = ''] = volumes
  const existing = new Set(volumes)
  const archive = homesFor(volumes, existing)
  const backup = await backUp(folder, archive)

  const dataDir = path.join(folder, 'restored')
  mkdirSync(dataDir)
  writeFileSync(path.join(dataDir, volumeMark), annHome)
  assert.equal(forgetInterruptedRestore(dataDir), annHome)
  assert.equal(forgetInterruptedRestore(dataDir), undefined)
  const restore = async (spool: string, force: boolean) => {
    mkdirSync(path.join(folder, spool))
    return restoreBackup({
      backup,
      databaseUrl: null,
      dataDir,
      force,
      decrypt: null,
      spool: path.join(folder, spool),
      homesOf: async () => archive,
      onProgress: () => {},
      requireStopped: async () => {},
      signal: new AbortController().signal,
    })
  }
  const first = await restore('spool-1', false)
  assert.deepEqual([first.homes, first.keptHomes, first.partialHomes], [0, [bobHome], [annHome]])

  // As the operator was told.
  existing.delete(annHome)
  const second = await restore('spool-2', true)
  assert.deepEqual([second.homes, second.keptHomes, second.partialHomes], [1, [bobHome], []])
  assert.deepEqual([...partlyRestored(dataDir)], [])
  assert.ok(!existsSync(path.join(dataDir, volumeMark)))
})

function homesFor(volumes: readonly string[], existing: Set<string>): HomeArchive {
  return {
    homes: async () =>
      volumes.map((volume) => ({ volume, owner: { userId: 1, slug: volume.slice(-7, -4), type: 'dev' } })),
    read: async function* () {
      yield Buffer.from('files')
    },
    write: async ({ volume }, content, { beforeCreate }) => {
      if (existing.has(volume)) return 'exists'
      await beforeCreate()
      await Readable.from(content()).toArray()
      existing.add(volume)
      return 'created'
    },
    removeUnfinished: async (volume) => void existing.delete(volume),
  }
}

async function backUp(folder: string, archive: HomeArchive): Promise<string> {
  const dataDir = path.join(folder, 'data')
  const { db, close } = await openDatabase(null, dataDir)
  const installation = await installationName(db, () => 'berth-ghkmn')
  await close()
  writeFileSync(path.join(dataDir, 'signing-key.json'), '{}')
  mkdirSync(path.join(folder, 'spool'))
  const options = {
    databaseUrl: null,
    dataDir,
    spool: path.join(folder, 'spool'),
    version: '1.0.0',
    recipients: [],
    homesOf: async () => archive,
    onProgress: () => {},
    signal: new AbortController().signal,
  }
  const snapshot = await spoolStore(options)
  const target = await folderTarget(path.join(folder, 'backups'), installation, {
    recipients: [],
    encrypt: (content) => content,
  })
  return (await createBackup(target, { ...snapshot, installation }, options)).name
}
