import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { test, type TestContext } from 'node:test'
import { packTar, unpackTar } from 'modern-tar'
import { createDockerRuntime, dockerHomeArchive } from '#/engines/docker/docker-runtime.ts'
import { extractHome } from '@berth/cli/backup/restore-backup.ts'
import { resultOf, runCommand, signedBy, startCommand } from '#test/support/command-line.ts'
import {
  archiveOf,
  askEngine,
  engineAddress,
  newInstallation,
  removeInstallation,
  testImage,
} from '#test/support/engine/engine.ts'
import { engineBindingSizes, engineRefusingAnArchive } from './engine-binding-sizes.ts'
import { fillSmallStore } from '#test/support/store/filled-store.ts'
import { onlyLong } from '#test/support/extent.ts'

/** Homes in backups, on the engine, without a service. */

const { signal } = new AbortController()

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-homes-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

/**
 * An installation with one home: a file of this size, and a small one behind it.
 * @param size bytes
 */
async function withHome(t: TestContext, installation: string, size = 1_000_000) {
  const files = path.join(folderOf(t), 'files')
  mkdirSync(files)
  writeFileSync(path.join(files, 'big'), '')
  truncateSync(path.join(files, 'big'), size)
  writeFileSync(path.join(files, 'last.txt'), 'precious')
  const volume = `${installation}-ann-dev`
  const archive = dockerHomeArchive(installation, engineAddress)
  const home = { volume, owner: { userId: 2, slug: 'ann', type: 'dev' } }
  t.after(() => removeInstallation(installation))
  const content = await archiveOf(files)
  await archive.write(home, () => Readable.from([content]), { signal, beforeCreate: async () => {} })
  return { volume, archive }
}

test('a home of which a file shrinks to zeros while it is read is not taken for complete', async (t) => {
  // The engine ends such an archive in the middle of the file, without an error. It ended with zeros, as a complete archive
  // does: the backup was reported complete, lacked every file behind that one, and could not be restored.
  const { volume, archive } = await withHome(t, newInstallation(), 50_000_000)
  const shrink = {
    Image: await testImage(),
    User: '0',
    Cmd: ['/bin/truncate', '-s', '1000000', '/home/berth/big'],
    HostConfig: { Mounts: [{ Type: 'volume', Source: volume, Target: '/home/berth' }], AutoRemove: true },
  }
  const { Id } = await askEngine<{ Id: string }>('POST', '/containers/create', { body: shrink })
  let isShrunk = false
  const read = async () => {
    for await (const _ of archive.read(volume, signal)) {
      if (isShrunk) continue
      isShrunk = true
      await askEngine('POST', `/containers/${Id}/start`)
      await askEngine('POST', `/containers/${Id}/wait`, { query: { condition: 'removed' } }).catch(() => undefined)
    }
  }
  await assert.rejects(read, /a file changed while it was read/)
  // Read again, it is complete.
  const parts = await Array.fromAsync(archive.read(volume, signal))
  assert.ok(Buffer.concat(parts).includes('precious'))
})

test('a home is bound to its size again, and restored without where the engine cannot do so', async (t) => {
  const size = 64 * 1024 ** 2
  const installation = newInstallation()
  const { archive, volume } = await withHome(t, installation)
  const content = Buffer.concat(await Array.fromAsync(archive.read(volume, signal)))
  const remake = async (address: string) => {
    await askEngine('DELETE', `/volumes/${volume}`)
    const home = { volume, owner: { userId: 2, slug: 'ann', type: 'dev' }, size }
    const over = dockerHomeArchive(installation, address)
    const outcome = await over.write(home, () => Readable.from([content]), { signal, beforeCreate: async () => {} })
    assert.ok(Buffer.concat(await Array.fromAsync(over.read(volume, signal))).includes('precious'))
    return { outcome, home: (await over.homes()).find((each) => each.volume === volume) }
  }
  const bound = await remake(await engineBindingSizes(t))
  assert.deepEqual([bound.outcome, bound.home?.size], ['created', size])
  const refusing = await engineBindingSizes(t, 'quota size requested but no quota support')
  const unbound = await remake(refusing)
  assert.deepEqual([unbound.outcome, unbound.home?.size], ['created-unbound', undefined])
  await assert.rejects(
    remake(await engineBindingSizes(t, 'no space left on device')),
    /restore test-[0-9a-f]+x-ann-dev/,
  )
})

test('a home that is restored belongs to whom it belonged, with its mode', async (t) => {
  // Docker leaves the folder alone that it unpacks into: programs that are not root could not save at the top of a restored home.
  const installation = newInstallation()
  t.after(() => removeInstallation(installation))
  const archive = dockerHomeArchive(installation, engineAddress)
  const rights = { mode: 0o700, uid: 1234, gid: 4321 }
  const content = await packTar([
    { header: { name: './', size: 0, type: 'directory', ...rights } },
    { header: { name: './file', size: 1, type: 'file', uid: 1234, gid: 4321 }, body: 'x' },
  ])
  const home = { volume: `${installation}-ann-dev`, owner: { userId: 2, slug: 'ann', type: 'dev' } }
  await archive.write(home, () => Readable.from([content]), { signal, beforeCreate: async () => {} })
  const [top] = await unpackTar(Buffer.concat(await Array.fromAsync(archive.read(home.volume, signal))))
  const { mode = 0, uid, gid } = top?.header ?? {}
  assert.deepEqual({ mode: mode & 0o7777, uid, gid }, rights)
})

test('a folder of a group is in a backup, and comes back as one', async (t) => {
  const installation = newInstallation()
  const { archive } = await withHome(t, installation)
  const runtime = createDockerRuntime({ installation, dockerHost: engineAddress, network: installation })
  const volume = `${installation}-folder-3-0123456789`
  await runtime.ensureFolder(volume)
  const contents = runtime.homeContents()
  assert.ok(contents)
  const file = await packTar([{ header: { name: 'task', size: 4, type: 'file' }, body: 'task' }])
  await contents.add(volume, Readable.from([file]), signal)
  const folder = path.join(folderOf(t), 'data')
  await fillSmallStore(null, folder, installation)
  const made = await runCommand({ DATA_DIR: folder }, 'backup', path.join(folderOf(t), 'backups'), '--json')
  assert.equal(made.code, 0, made.stderr)
  const { backup } = JSON.parse(made.stdout) as { backup: string }
  await runtime.removeFolder(volume)
  const place = { DATA_DIR: path.join(folderOf(t), 'other') }
  const restored = await runCommand(place, 'restore', backup, ...(await signedBy(folder)))
  assert.equal(restored.code, 0, restored.stderr)
  const found = await unpackTar(Buffer.concat(await Array.fromAsync(archive.read(volume, signal))))
  assert.deepEqual(
    found.map(({ header }) => header.name),
    ['./', './task'],
  )
  assert.equal((found[0]?.header.mode ?? 0) & 0o777, 0o777)
  assert.ok((await archive.homes()).some((each) => each.volume === volume && each.isFolder))
  assert.ok(!(await runtime.homes()).some((each) => each.volume === volume), 'no user’s home')
  await runtime.removeFolder(volume)
  assert.ok(!(await archive.homes()).some((each) => each.volume === volume))
})

test('a home that a killed restore has written in part is written again by the next one', onlyLong, async (t) => {
  // The second restore found a volume of this name, took it for a home that existed before, and left it as it was: empty.
  const installation = newInstallation()
  const folder = folderOf(t)
  const dataDir = path.join(folder, 'data')
  await fillSmallStore(null, dataDir, installation)
  const { volume, archive } = await withHome(t, installation, 50_000_000)
  const made = await runCommand({ DATA_DIR: dataDir }, 'backup', path.join(folder, 'backups'), '--json')
  assert.equal(made.code, 0, made.stderr)
  const { backup } = JSON.parse(made.stdout) as { backup: string }
  await askEngine('DELETE', `/volumes/${volume}`)

  const orders = path.join(folder, 'orders')
  writeFileSync(orders, 'restore.in-home')
  const place = { DATA_DIR: path.join(folder, 'other') }
  const killed = startCommand({ ...place, BERTH_CRASH_ORDERS: orders }, [
    'restore',
    backup,
    ...(await signedBy(dataDir)),
  ])
  await resultOf(killed)
  assert.equal(killed.signalCode, 'SIGKILL')
  await askEngine('GET', `/volumes/${volume}`)

  const second = await runCommand(place, 'restore', backup, ...(await signedBy(dataDir)), '--json')
  assert.equal(second.code, 0, second.stderr)
  assert.deepEqual((JSON.parse(second.stdout) as { keptHomes: string[] }).keptHomes, [])
  assert.ok(Buffer.concat(await Array.fromAsync(archive.read(volume, signal))).includes('precious'))
  assert.deepEqual(readdirSync(place.DATA_DIR).sort(), ['berth.sqlite', 'lock', 'signing-key.json'])

  // A home that existed before is left alone, also by the next one.
  const third = await runCommand(place, 'restore', backup, ...(await signedBy(dataDir)), '--force', '--json')
  assert.equal(third.code, 0, third.stderr)
  assert.deepEqual((JSON.parse(third.stdout) as { keptHomes: string[] }).keptHomes, [volume])
})

test('a home with links that lead out of it is restored as it was, links included', async (t) => {
  // The engine refuses an archive with such a link: one of them kept a whole backup from being restored.
  const installation = newInstallation()
  const folder = folderOf(t)
  const dataDir = path.join(folder, 'data')
  await fillSmallStore(null, dataDir, installation)
  const { volume, archive } = await withHome(t, installation)
  const script = `cd /home/berth && mkdir -p a/b && ln -s ../../etc/x a/out && ln -s ../../../tmp a/b/far && ln -s ../last.txt a/in &&
    ln a/out a/same && ln last.txt a/other && chown 1234 last.txt && chmod 640 last.txt && touch -d @1000000000 last.txt`
  const make = {
    Image: await testImage(),
    User: '0',
    Cmd: ['/bin/sh', '-c', script],
    HostConfig: { Mounts: [{ Type: 'volume', Source: volume, Target: '/home/berth' }] },
  }
  const { Id } = await askEngine<{ Id: string }>('POST', '/containers/create', { body: make })
  await askEngine('POST', `/containers/${Id}/start`)
  const { StatusCode } = await askEngine<{ StatusCode: number }>('POST', `/containers/${Id}/wait`)
  await askEngine('DELETE', `/containers/${Id}`)
  assert.equal(StatusCode, 0)
  const entries = async () => {
    const found = await unpackTar(Buffer.concat(await Array.fromAsync(archive.read(volume, signal))))
    return found.map(({ header: { name, type, linkname, mode, uid, mtime, size } }) => [
      name,
      ...(type === 'file' ? [mtime] : []),
      type,
      linkname,
      mode,
      uid,
      size,
    ])
  }
  const before = await entries()
  const made = await runCommand({ DATA_DIR: dataDir }, 'backup', path.join(folder, 'backups'), '--json')
  assert.equal(made.code, 0, made.stderr)
  const { backup } = JSON.parse(made.stdout) as { backup: string }
  await askEngine('DELETE', `/volumes/${volume}`)
  const restored = await runCommand(
    { DATA_DIR: path.join(folder, 'other') },
    'restore',
    backup,
    ...(await signedBy(dataDir)),
    '--json',
  )
  assert.equal(restored.code, 0, restored.stderr)
  assert.deepEqual(await entries(), before)
  assert.ok(before.some(([name, , target]) => String(name).endsWith('a/out') && target === '../../etc/x'))
})

test('a home that the engine does not unpack is named, and store and other homes are restored', async (t) => {
  // One user, with a home that the engine refuses, kept the store, the keys and the homes of all others from being restored.
  const installation = newInstallation()
  const folder = folderOf(t)
  const dataDir = path.join(folder, 'data')
  await fillSmallStore(null, dataDir, installation)
  const { volume, archive } = await withHome(t, installation)
  const other = `${installation}-bob-dev`
  const owner = { userId: 3, slug: 'bob', type: 'dev' }
  const content = Buffer.concat(await Array.fromAsync(archive.read(volume, signal)))
  await archive.write({ volume: other, owner }, () => Readable.from([content]), {
    signal,
    beforeCreate: async () => {},
  })
  const made = await runCommand({ DATA_DIR: dataDir }, 'backup', path.join(folder, 'backups'), '--json')
  assert.equal(made.code, 0, made.stderr)
  const { backup } = JSON.parse(made.stdout) as { backup: string }
  for (const each of [volume, other]) await askEngine('DELETE', `/volumes/${each}`)
  const place = { DATA_DIR: path.join(folder, 'other'), DOCKER_HOST: await engineRefusingAnArchive(t) }
  const restored = await runCommand(place, 'restore', backup, ...(await signedBy(dataDir)), '--json')
  assert.equal(restored.code, 1)
  const { homes, missingHomes } = JSON.parse(restored.stdout) as { homes: number; missingHomes: { volume: string }[] }
  assert.deepEqual([homes, missingHomes.map((each) => each.volume)], [1, [volume]])
  assert.match(restored.stderr, /not restored: test-[0-9a-f]+x-ann-dev: .*file name too long/)
  assert.match(restored.stderr, /1 home missing; the rest is restored/)
  assert.deepEqual(
    (await archive.homes()).map((each) => each.volume),
    [other],
  )
  assert.deepEqual(readdirSync(place.DATA_DIR).sort(), ['berth.sqlite', 'lock', 'signing-key.json'])
})

test('a home beside the present ones is for the account of the operator alone, whatever its folder allowed', async (t) => {
  // The folder got the mode and the owner that it had in the container: every account of the machine could read it, and run
  // a program that the user had made setuid.
  const folder = folderOf(t)
  const files = path.join(folder, 'files')
  mkdirSync(files)
  execFileSync('chmod', ['0777', files])
  const into = path.join(folder, 'ann')
  await extractHome(Readable.from([await archiveOf(files)]), into, signal)
  assert.equal(statSync(into).mode & 0o7777, 0o700)
  assert.equal(statSync(into).uid, process.getuid?.())
})
