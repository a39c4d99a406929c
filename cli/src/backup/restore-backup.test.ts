import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { forgetInterruptedRestore, partlyRestored, volumeMark } from '@berth/server/machine/data-folder.ts'
import type { HomeArchive } from '@berth/server/engines/home-archive.ts'
import { RuntimeError } from '@berth/server/engines/runtime-error.ts'
import { installationName, openDatabase } from '@berth/server/store/database.ts'
import { createBackup, spoolStore } from './create-backup.ts'
import { backupSigner, ownPublicKeys } from './backup-signature.ts'
import { folderTarget } from './backup-target.ts'
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
  const restore = restoreOf({ folder, backup, dataDir, archive })
  const first = await restore('spool-1', false)
  assert.deepEqual([first.homes, first.keptHomes, first.partialHomes], [0, [bobHome], [annHome]])

  // As the operator was told.
  existing.delete(annHome)
  const second = await restore('spool-2', true)
  assert.deepEqual([second.homes, second.keptHomes, second.partialHomes], [1, [bobHome], []])
  assert.deepEqual([...partlyRestored(dataDir)], [])
  assert.ok(!existsSync(path.join(dataDir, volumeMark)))
})

// The user of a home that the engine does not unpack kept the store, the keys and the homes of all others from being restored.
test('a home that the engine refuses is left out and named; store and other homes are restored', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-restore-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const volumes = ['ann', 'bob', 'eve'].map((slug) => `berth-ghkmn-home-1-${slug}-dev`)
  const [annHome = '', bobHome = '', eveHome = ''] = volumes
  const existing = new Set<string>()
  const archive = homesFor(volumes, existing)
  const backup = await backUp(folder, archive)
  const dataDir = path.join(folder, 'restored')
  mkdirSync(dataDir)
  const present = async () => (await archive.homes()).filter(({ volume }) => existing.has(volume))
  const failing = (kind: 'failed' | 'unreachable', homes = present): HomeArchive => ({
    ...archive,
    homes,
    write: async (home, content, options) => {
      if (home.volume !== annHome) return archive.write(home, content, options)
      await options.beforeCreate()
      existing.add(annHome)
      throw new RuntimeError(kind, `restore ${annHome}`, new Error('file name too long'))
    },
  })
  const away = async () => Promise.reject(new RuntimeError('unreachable', 'list homes'))
  const withoutEngine = restoreOf({ folder, backup, dataDir, archive: failing('unreachable', away) })
  await assert.rejects(withoutEngine('spool-1', false), /restore berth-ghkmn-home-1-ann-dev/)
  assert.deepEqual([...existing], [])
  assert.ok(!existsSync(path.join(dataDir, 'berth.sqlite')), 'without an engine the old store stays in use')

  // A call that took too long counts as unreachable, too, and the engine answers others.
  for (const [at, kind] of (['failed', 'unreachable'] as const).entries()) {
    existing.clear()
    const restored = await restoreOf({ folder, backup, dataDir, archive: failing(kind) })(`spool-${at + 2}`, at > 0)
    const reason = `restore ${annHome}: file name too long`
    assert.deepEqual([restored.homes, restored.missingHomes], [2, [{ volume: annHome, reason }]])
    assert.deepEqual([...existing], [bobHome, eveHome])
    assert.ok(existsSync(path.join(dataDir, 'berth.sqlite')))
    assert.ok(!existsSync(path.join(dataDir, volumeMark)))
  }
})

// Its helper could not be removed, so the volume stayed, with a part of the files, and was reported as not there.
test('a home whose part the engine does not remove ends the restore, and stays named for the next one', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-restore-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const volume = 'berth-ghkmn-home-1-ann-dev'
  const archive = homesFor([volume], new Set())
  const backup = await backUp(folder, archive)
  const dataDir = path.join(folder, 'restored')
  mkdirSync(dataDir)
  const inUse: HomeArchive = {
    ...archive,
    write: async (_home, _content, { beforeCreate }) => {
      await beforeCreate()
      throw new RuntimeError('failed', `restore ${volume}`)
    },
    removeUnfinished: async () => undefined,
  }
  await assert.rejects(restoreOf({ folder, backup, dataDir, archive: inUse })('spool-1', false), /restore berth-ghkmn/)
  assert.ok(!existsSync(path.join(dataDir, 'berth.sqlite')), 'the old store stays in use')
  assert.equal(forgetInterruptedRestore(dataDir), volume)
})

// The mark of a part is what the next restore removes.
test('a home that existed before is never marked as a part, also when the engine fails at it', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-restore-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const volume = 'berth-ghkmn-home-1-ann-dev'
  const existing = new Set([volume])
  const archive = homesFor([volume], existing)
  const backup = await backUp(folder, archive)
  const dataDir = path.join(folder, 'restored')
  mkdirSync(dataDir)
  const write = async () => Promise.reject(new RuntimeError('failed', `inspect ${volume}`))
  const restore = restoreOf({ folder, backup, dataDir, archive: { ...archive, write } })
  await assert.rejects(restore('spool-1', false), /inspect berth-ghkmn/)
  assert.ok(!existsSync(path.join(dataDir, volumeMark)))
  await restoreOf({ folder, backup, dataDir, archive })('spool-2', false)
  assert.deepEqual([...existing], [volume])
})

// A full disk of the engine ended in "Restored", with every home missing.
test('an engine that takes none of several homes ends the restore, with the old store in use', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-restore-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const archive = homesFor(
    ['ann', 'bob', 'eve'].map((slug) => `berth-ghkmn-home-1-${slug}-dev`),
    new Set(),
  )
  const backup = await backUp(folder, archive)
  const dataDir = path.join(folder, 'restored')
  mkdirSync(dataDir)
  const cause = new Error('no space left on device')
  const write = async () => Promise.reject(new RuntimeError('failed', 'restore a home', cause))
  const full = { ...archive, homes: async () => [], write }
  const restore = restoreOf({ folder, backup, dataDir, archive: full })
  await assert.rejects(restore('spool-1', false), /takes none of the 3 homes: restore a home: no space left/)
  assert.ok(!existsSync(path.join(dataDir, 'berth.sqlite')))
})

interface Scene {
  readonly folder: string
  readonly backup: string
  readonly dataDir: string
  readonly archive: HomeArchive
}

function restoreOf({ folder, backup, dataDir, archive }: Scene) {
  return async (spool: string, force: boolean) => {
    mkdirSync(path.join(folder, spool))
    return restoreBackup({
      backup,
      databaseUrl: null,
      dataDir,
      force,
      decrypt: null,
      trust: { keys: await ownPublicKeys(path.join(folder, 'data'), null), acceptUnsigned: false },
      spool: path.join(folder, spool),
      homesOf: async () => archive,
      onProgress: () => {},
      requireStopped: async () => {},
      signal: new AbortController().signal,
    })
  }
}

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
    signer: await backupSigner(dataDir),
  })
  return (await createBackup(target, { ...snapshot, installation }, options)).name
}
