import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { test, type TestContext } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { generateIdentity, identityToRecipient } from 'age-encryption'
import { BackupProblem, decryptor, encryptor, readManifest, sumsOf } from '@berth/cli/backup/backup-format.ts'
import { backupSigner, ownPublicKeys } from '@berth/cli/backup/backup-signature.ts'
import { restoreBackup } from '@berth/cli/backup/restore-backup.ts'
import { folderTarget, pruneBackups } from '@berth/cli/backup/backup-target.ts'
import { makeSpoolFolder } from '@berth/cli/backup/create-backup.ts'
import { loadSigningKeys } from '#/accounts/sessions/signing-keys.ts'
import { openDatabase } from '#/store/database.ts'
import { insertUser } from '#/store/users.ts'
import { noEngine, resultOf, runCommand, signedBy, startCommand } from '#test/support/command-line.ts'
import { extent, firstOfList, onlyLong } from '#test/support/extent.ts'
import { addressesIn, fillSmallStore } from '#test/support/store/filled-store.ts'

/** Backup and restore of store and keys by the command line, without homes. */

interface Scene {
  readonly dataDir: string
  readonly backups: string
  readonly settings: Record<string, string>
  /** Runs `berth backup`; it has to succeed. @returns the folder of the backup */
  backUp(...args: string[]): Promise<string>
  /** Names in the folder of backups, hidden ones too. */
  names(): string[]
}

async function setScene(t: TestContext): Promise<Scene> {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-backup-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const [dataDir, backups] = [path.join(folder, 'data'), path.join(folder, 'backups')]
  await fillSmallStore(null, dataDir, 'berth-ghkmn')
  const settings = { ...noEngine, DATA_DIR: dataDir }
  const backUp = async (...args: string[]) => {
    const { code, stdout, stderr } = await runCommand(settings, 'backup', backups, '--no-homes', '--json', ...args)
    assert.equal(code, 0, stderr)
    return (JSON.parse(stdout) as { backup: string }).backup
  }
  return { dataDir, backups, settings, backUp, names: () => readdirSync(backups) }
}

/** Another, empty place to restore to. */
const emptyPlace = ({ dataDir, settings }: Scene, name = 'other') => ({ ...settings, DATA_DIR: `${dataDir}-${name}` })

/** A signer without a file. */
const testSigner = () => backupSigner('', 's'.repeat(32))

const users = ['boss@x.org', 'ann@x.org', 'zoë@x.org']

test('a backup of a store that is being written has all that was committed before, and is restored with its keys', async (t) => {
  const scene = await setScene(t)
  const { db, close } = await openDatabase(null, scene.dataDir)
  const end = new AbortController()
  const writing = (async () => {
    // Statements of SQLite end without an event in between.
    for (let number = 0; !end.signal.aborted; number++, await turn())
      await insertUser(db, { email: `late${number}@x.org`, slug: `late${number}`, isAdmin: false, now: new Date() })
  })()
  const backup = await scene.backUp()
  end.abort()
  await writing
  await close()
  assert.equal(statSync(backup).mode & 0o777, 0o700)
  for (const name of readdirSync(backup)) assert.equal(statSync(path.join(backup, name)).mode & 0o777, 0o600, name)
  execFileSync('sha256sum', ['--check', '--strict', '--quiet', 'SHA256SUMS'], { cwd: backup })

  const place = emptyPlace(scene)
  const { code, stderr } = await runCommand(place, 'restore', backup, ...(await signedBy(scene.dataDir)))
  assert.equal(code, 0, stderr)
  const restored = await addressesIn(null, place.DATA_DIR)
  assert.deepEqual(restored.slice(0, 3), users)
  // Those who came meanwhile are there in their order, without a gap.
  assert.deepEqual(
    restored.slice(3),
    Array.from({ length: restored.length - 3 }, (_, at) => `late${at}@x.org`),
  )
  assert.equal((await loadSigningKeys(place.DATA_DIR)).kid, (await loadSigningKeys(scene.dataDir)).kid)
  assert.equal(statSync(path.join(place.DATA_DIR, 'berth.sqlite')).mode & 0o777, 0o600)
})

for (const [index, point] of ['backup.before-name', 'backup.after-store'].entries())
  test(
    `a backup that is killed at ${point} leaves none, and the next one removes what is left of it`,
    firstOfList(index),
    async (t) => {
      const scene = await setScene(t)
      const orders = path.join(scene.dataDir, '..', 'orders')
      writeFileSync(orders, point)
      const settings = { ...scene.settings, BERTH_CRASH_ORDERS: orders }
      const killed = startCommand(settings, ['backup', scene.backups, '--no-homes'])
      await resultOf(killed)
      assert.equal(killed.signalCode, 'SIGKILL')
      assert.deepEqual(
        scene.names().filter((name) => !name.startsWith('.partial-')),
        [],
      )
      const backup = await scene.backUp()
      assert.deepEqual(scene.names(), [path.basename(backup)])
      assert.deepEqual(
        readdirSync(scene.dataDir).filter((name) => name.startsWith('spool')),
        [],
      )
    },
  )

for (const [index, point] of ['restore.after-aside', 'restore.after-mark', 'restore.after-store'].entries())
  test(
    `after a restore that is killed at ${point} nothing starts, until a second one completes it`,
    firstOfList(index),
    async (t) => {
      const scene = await setScene(t)
      const backup = await scene.backUp()
      const orders = path.join(scene.dataDir, '..', 'orders')
      writeFileSync(orders, point)
      const settings = { ...scene.settings, BERTH_CRASH_ORDERS: orders }
      const killed = startCommand(settings, ['restore', backup, '--force', '--no-homes'])
      await resultOf(killed)
      assert.equal(killed.signalCode, 'SIGKILL')
      assert.match((await runCommand(scene.settings, 'users', 'list')).stderr, /a restore into .* was interrupted/)
      const second = await runCommand(scene.settings, 'restore', backup, '--no-homes')
      assert.equal(second.code, 0, second.stderr)
      assert.deepEqual(await addressesIn(null, scene.dataDir), users)
    },
  )

test('a damaged backup is refused by the names of its files, and nothing is changed', async (t) => {
  const scene = await setScene(t)
  const place = emptyPlace(scene)
  for (const name of ['berth.sqlite', 'SHA256SUMS', 'signing-key.json', 'manifest.json'].slice(0, extent(2, 4))) {
    const backup = await scene.backUp()
    const file = path.join(backup, name)
    const bytes = readFileSync(file)
    // In the middle of the store, and of the sum of the manifest.
    const at = name === 'SHA256SUMS' ? bytes.lastIndexOf('  manifest') - 5 : bytes.length >> 1
    bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at)
    writeFileSync(file, bytes)
    const { code, stderr } = await runCommand(place, 'restore', backup, ...(await signedBy(scene.dataDir)))
    assert.equal(code, 1)
    assert.match(
      stderr,
      name === 'SHA256SUMS' ? /manifest\.json in .* is damaged/ : new RegExp(`${name}.* damaged|damaged.*${name}`),
    )
    assert.ok(!existsSync(path.join(place.DATA_DIR, 'berth.sqlite')))
    rmSync(file)
    assert.equal((await runCommand(place, 'restore', backup, ...(await signedBy(scene.dataDir)))).code, 1)
    rmSync(backup, { recursive: true })
  }
})

test('a store that is there is replaced with --force only, and kept', async (t) => {
  const scene = await setScene(t)
  const backup = await scene.backUp()
  const { db, close } = await openDatabase(null, scene.dataDir)
  await insertUser(db, { email: 'late@x.org', slug: 'late', isAdmin: false, now: new Date() })
  await close()
  const refused = await runCommand(scene.settings, 'restore', backup, '--no-homes')
  assert.equal(refused.code, 1)
  // "Written last at at an unknown time", where no readiness check had written the time.
  const words =
    /a store with 4 users already, written last at 20\S+Z, after .* With --force it is moved aside, and what was/
  assert.match(refused.stderr, words)
  const { code, stdout, stderr } = await runCommand(scene.settings, 'restore', backup, '--no-homes', '--force')
  assert.equal(code, 0, stderr)
  assert.deepEqual(await addressesIn(null, scene.dataDir), users)
  const [, aside = ''] = /What was there before is in (.*)\.$/m.exec(stdout) ?? []
  assert.deepEqual(await addressesIn(null, aside), [...users, 'late@x.org'])
  assert.ok(existsSync(path.join(aside, 'signing-key.json')))
})

test('a backup whose manifest names a file outside of it is refused', async (t) => {
  const scene = await setScene(t)
  const backup = await scene.backUp()
  const manifest = await readManifest(backup)
  const [store, keys] = manifest.parts
  assert.ok(store && keys)
  const outside = path.relative(backup, path.join(scene.dataDir, 'signing-key.json'))
  const parts = [store, { ...keys, file: outside }]
  const text = JSON.stringify({ ...manifest, parts })
  writeFileSync(path.join(backup, 'manifest.json'), text)
  writeFileSync(path.join(backup, 'SHA256SUMS'), sumsOf(text, parts))
  const place = emptyPlace(scene)
  const { code, stderr } = await runCommand(place, 'restore', backup, ...(await signedBy(scene.dataDir)), '--no-homes')
  assert.equal(code, 1)
  assert.match(stderr, /names a file that no backup has: .*signing-key\.json/)
  assert.ok(!existsSync(path.join(place.DATA_DIR, 'signing-key.json')))
})

test('a store is not replaced when Berth was started while homes were restored', onlyLong, async (t) => {
  const scene = await setScene(t)
  const backup = await scene.backUp()
  const [dataDir, spool] = ['other', 'spool'].map((name) => path.join(scene.backups, name)) as [string, string]
  for (const folder of [dataDir, spool]) mkdirSync(folder)
  const options = {
    backup,
    databaseUrl: null,
    dataDir,
    spool,
    force: false,
    decrypt: null,
    homesOf: null,
    trust: { keys: await ownPublicKeys(scene.dataDir, null), acceptUnsigned: false },
  }
  const requireStopped = async () => {
    throw new BackupProblem('Berth runs')
  }
  const { signal } = new AbortController()
  await assert.rejects(
    restoreBackup({ ...options, requireStopped, signal, onProgress: () => {} }),
    new BackupProblem('Berth runs'),
  )
  assert.deepEqual(readdirSync(dataDir), [])
})

test('a backup of a newer Berth is refused', async (t) => {
  const scene = await setScene(t)
  const { db, close } = await openDatabase(null, scene.dataDir)
  const migrations = db.withTables<{ kysely_migration: { name: string; timestamp: string } }>()
  await migrations.insertInto('kysely_migration').values({ name: '999-future', timestamp: 'x' }).execute()
  await close()
  const backup = await scene.backUp()
  const place = emptyPlace(scene)
  const { code, stderr } = await runCommand(place, 'restore', backup, ...(await signedBy(scene.dataDir)), '--no-homes')
  assert.equal(code, 1)
  assert.match(stderr, /was made by Berth \S+ and cannot be used by this version.*Nothing was changed/)
  assert.ok(!existsSync(path.join(place.DATA_DIR, 'berth.sqlite')))
})

test('an encrypted backup is read with the secret key alone', onlyLong, async (t) => {
  const scene = await setScene(t)
  const [identity, other] = [await generateIdentity(), await generateIdentity()]
  const backup = await scene.backUp('--encrypt-to', await identityToRecipient(identity))
  const names = readdirSync(backup).sort()
  assert.deepEqual(names, ['SHA256SUMS', 'berth.sqlite.age', 'manifest.json', 'manifest.sig', 'signing-key.json.age'])
  for (const name of names)
    assert.doesNotMatch(readFileSync(path.join(backup, name), 'latin1'), /ann@x\.org|SQLite format/)
  const [right, wrong] = ['right', 'wrong'].map((name) => path.join(scene.backups, name)) as [string, string]
  writeFileSync(right, `# made by a test\n${identity}\n`)
  writeFileSync(wrong, other)
  const place = emptyPlace(scene)
  const refused = await runCommand(place, 'restore', backup, ...(await signedBy(scene.dataDir)), '--identity', wrong)
  assert.match(refused.stderr, /the backup cannot be decrypted with this identity/)
  assert.match(
    (await runCommand(place, 'restore', backup, ...(await signedBy(scene.dataDir)))).stderr,
    /berth: .*encrypted.*--identity/,
  )
  assert.equal(
    (await runCommand(place, 'restore', backup, ...(await signedBy(scene.dataDir)), '--check', '--identity', right))
      .code,
    0,
  )
  const { code, stderr } = await runCommand(
    place,
    'restore',
    backup,
    ...(await signedBy(scene.dataDir)),
    '--identity',
    right,
  )
  assert.equal(code, 0, stderr)
  assert.deepEqual(await addressesIn(null, place.DATA_DIR), users)
  assert.match(
    (await runCommand(scene.settings, 'backup', scene.backups, '--encrypt-to', 'ssh-rsa x')).stderr,
    /is no public key of age/,
  )
})

test('a home that did not change is encrypted again when the keys are others', onlyLong, async (t) => {
  // After a change of keys the next backup was a link to the file of the former key, if the home was the same: its manifest
  // named the new key, which could not read it, and the former one still could.
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-backup-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const [former, present] = [await generateIdentity(), await generateIdentity()]
  const owner = { userId: 1, slug: 'ann', type: 'dev' }
  const home = { volume: 'berth-ghkmn-ann-dev', owner }
  const file = `homes/${home.volume}.tar.age`
  const backUp = async (identity: string, now: Date) => {
    const recipients = [await identityToRecipient(identity)]
    const target = await folderTarget(
      folder,
      'berth-ghkmn',
      { recipients, encrypt: await encryptor(recipients), signer: await testSigner() },
      now,
    )
    const content = Readable.from([Buffer.from('the same')])
    const part = await target.add({ kind: 'home', file, home, content }, new AbortController().signal)
    const store = { from: 'SQLite', migration: '001', rows: {} } as const
    const made = { format: 1, version: '1.0.0', createdAt: now.toISOString(), installation: 'berth-ghkmn' } as const
    return target.finish({ ...made, store, recipients, parts: [part], missing: [] })
  }
  const first = await backUp(former, new Date('2026-11-20T02:00:00Z'))
  const again = await backUp(former, new Date('2026-11-21T02:00:00Z'))
  const last = await backUp(present, new Date('2026-11-22T02:00:00Z'))
  assert.equal(statSync(path.join(again, file)).ino, statSync(path.join(first, file)).ino)
  const decrypt = await decryptor(present)
  assert.equal(
    Buffer.concat(await Array.fromAsync(decrypt(createReadStream(path.join(last, file))))).toString(),
    'the same',
  )
})

test('--keep leaves the last backup of a home that later ones could not read', async (t) => {
  // With --keep 2 and a home that could not be read for two nights, its only copy was removed.
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-backup-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const volume = 'berth-ghkmn-ann-dev'
  const home = { volume, owner: { userId: 1, slug: 'ann', type: 'dev' } }
  const store = { from: 'SQLite', migration: '001', rows: {} } as const
  const backUp = async (day: string, isRead: boolean) => {
    const now = new Date(`2026-11-${day}T02:00:00Z`)
    const signer = await testSigner()
    const target = await folderTarget(
      folder,
      'berth-ghkmn',
      { recipients: [], encrypt: (content) => content, signer },
      now,
    )
    const content = Readable.from([Buffer.from(day)])
    const part = { kind: 'home', file: `homes/${volume}.tar`, home, content } as const
    const parts = isRead ? [await target.add(part, new AbortController().signal)] : []
    const missing = isRead ? [] : [{ volume, reason: 'input/output error' }]
    const made = { format: 1, version: '1.0.0', createdAt: now.toISOString(), installation: 'berth-ghkmn' } as const
    await target.finish({ ...made, store, recipients: [], parts, missing })
    await pruneBackups(folder, 'berth-ghkmn', 2)
    return readdirSync(folder).map((name) => name.slice('berth-202611'.length, -'T020000Z'.length))
  }
  for (const day of ['10', '11']) await backUp(day, true)
  for (const day of ['12', '13']) await backUp(day, false)
  assert.deepEqual(await backUp('14', false), ['11', '13', '14'])
  assert.deepEqual(await backUp('15', true), ['14', '15'])
})

test('a backup begins although a former process with the same id was killed', async (t) => {
  // In a container each run has the same process id: after one that was killed every backup ended with EEXIST.
  const scene = await setScene(t)
  const left = path.join(scene.dataDir, `spool-${process.pid}`)
  mkdirSync(left)
  writeFileSync(path.join(left, 'berth.sqlite'), '')
  assert.deepEqual(readdirSync(makeSpoolFolder(scene.dataDir)), [])
})

test('--keep removes the oldest backups of this installation, and of no other', onlyLong, async (t) => {
  const scene = await setScene(t)
  const foreign = path.join(scene.backups, 'berth-20010101T000000Z')
  const first = await scene.backUp()
  execFileSync('cp', ['-a', first, foreign])
  const manifest = readFileSync(path.join(foreign, 'manifest.json'), 'utf8').replaceAll('berth-ghkmn', 'berth-other')
  writeFileSync(path.join(foreign, 'manifest.json'), manifest)
  mkdirSync(path.join(scene.backups, 'berth-of-mine'))
  const [second, third] = [await scene.backUp(), await scene.backUp('--keep', '2')]
  assert.deepEqual(
    scene.names().sort(),
    [foreign, second, third, 'berth-of-mine'].map((name) => path.basename(name)).sort(),
  )
  assert.equal((await readManifest(third)).installation, 'berth-ghkmn')
})

test('a backup on standard output is a tar archive of the same files', async (t) => {
  const scene = await setScene(t)
  mkdirSync(scene.backups)
  const child = startCommand(scene.settings, ['backup', '-', '--no-homes'])
  const chunks: Buffer[] = []
  child.stdout?.on('data', (chunk: Buffer) => void chunks.push(chunk))
  const { code, stderr } = await resultOf(child)
  assert.equal(code, 0, stderr)
  execFileSync('tar', ['-x', '-C', scene.backups], { input: Buffer.concat(chunks) })
  const [name = ''] = scene.names()
  const place = emptyPlace(scene)
  const restored = await runCommand(
    place,
    'restore',
    path.join(scene.backups, name),
    ...(await signedBy(scene.dataDir)),
    '--no-homes',
  )
  assert.equal(restored.code, 0, restored.stderr)
  assert.deepEqual(await addressesIn(null, place.DATA_DIR), users)
})
