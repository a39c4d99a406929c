// Part of npm run test:more: faults of what snapshots.test.ts states.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { HomeContents } from '#/engines/runtime.ts'
import { assertOk, assertRefused } from '#test/support/api-calls.ts'
import { startBerth, testTemplates } from '#test/support/berth.ts'
import { execInContainer } from '#test/support/engine/exec-in-container.ts'
import { runtimeWithHomes } from '#test/support/engine/faulty-runtimes.ts'
import { smallDisk } from '#test/support/engine/small-disk.ts'
import { waitFor } from '#test/support/program.ts'
import { onlyLong, waitLimit } from '#test/support/extent.ts'

/** Snapshots while disks are full and the engine hangs: told in time, nothing half done, and the home is free again. */
async function open(
  t: TestContext,
  change: (contents: HomeContents) => HomeContents = (contents) => contents,
  { dataDir, homes = 1_500 }: { readonly dataDir?: string; readonly homes?: number } = {},
) {
  const berth = await startBerth(t, {
    env: { SNAPSHOTS: 'on', CONTAINER_TEMPLATES: await testTemplates() },
    pace: { every: 500, homes },
    wrapRuntime: (runtime) => runtimeWithHomes(runtime, change),
    ...(dataDir === undefined ? {} : { dataDir }),
  })
  await berth.administrator()
  const ann = await berth.signUp('ann@x.org')
  const stop = async () => assertOk(await ann.call('POST', '/api/container/stop/dev'))
  const snapshots = path.join(berth.dataDir, 'snapshots')
  return {
    berth,
    stop,
    take: () => ann.call('POST', '/api/container/snapshots/dev'),
    restore: (id: string) => ann.call('POST', `/api/container/snapshots/dev/${id}/restore`),
    list: async () => (await ann.call('GET', '/api/container/snapshots/dev')).body.snapshots as { id: string }[],
    /** Launches, runs it in the container, and stops it. */
    inHome: async (script: string) => {
      const launched = await ann.call('POST', '/api/container/launch/dev')
      assertOk(launched)
      const said = (await execInContainer(launched.body.container_id, script)).trim()
      await stop()
      return said
    },
    restoring: () => readdirSync(path.join(snapshots, 'restoring')),
    stored: () =>
      readdirSync(path.join(snapshots, 'homes'), { recursive: true }).filter((name) => String(name).includes('.')),
  }
}

/** Passes some parts on, then neither a part nor an end; as with the engine the signal ends it. */
async function* hanging(archive: AsyncIterable<Uint8Array>, parts: number, signal: AbortSignal) {
  let passed = 0
  for await (const part of archive) {
    if (passed++ === parts)
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
    yield part
  }
}

test('a disk without room for a snapshot refuses it, keeps those that are there, and the rest of Berth goes on', async (t) => {
  const disk = await smallDisk('64m')
  if (!disk) return t.skip('this process may not mount a file system')
  const { inHome, take, list, stored, restore } = await open(t, undefined, { dataDir: disk.folder, homes: 60_000 })
  t.after(() => disk.remove())
  await inHome('head -c 25000000 /dev/urandom > large')
  const first = await take()
  assertOk(first)
  await inHome('head -c 45000000 /dev/urandom > large')
  const refused = await take()
  assertRefused(refused, 500)
  assert.equal(refused.headers.get('berth-refusal'), 'snapshotDiskFull')
  assert.deepEqual(
    (await list()).map(({ id }) => id),
    [first.body.snapshot.id],
  )
  assert.equal(stored().length, 1, String(stored()))
  assertOk(await restore(first.body.snapshot.id))
  assert.equal(await inHome('stat -c %s large restored-*/large'), '45000000\n25000000')
})

test('an engine that hangs while a home is read ends the snapshot in time; nothing is left, and the container launches', async (t) => {
  let isHanging = true
  const { inHome, take, list, stored } = await open(t, (contents) => ({
    ...contents,
    read: (volume, signal) => {
      const real = contents.read(volume, signal)
      return isHanging ? hanging(real, 0, signal) : real
    },
  }))
  await inHome('echo a > a')
  const begun = performance.now()
  assertRefused(await take(), 500)
  assert.ok(performance.now() - begun < waitLimit(30_000))
  assert.deepEqual([await list(), stored()], [[], []])
  isHanging = false
  assert.equal(await inHome('cat a'), 'a')
  assertOk(await take())
})

test('an engine that hangs while files are restored leaves none of them', onlyLong, async (t) => {
  let isHanging = true
  const { inHome, take, restore, restoring } = await open(t, (contents) => ({
    ...contents,
    add: (volume, archive, signal) => contents.add(volume, isHanging ? hanging(archive, 4, signal) : archive, signal),
  }))
  await inHome('mkdir many; for at in 1 2 3 4 5 6 7 8 9; do head -c 300000 /dev/urandom > many/$at; done')
  const { id } = (await take()).body.snapshot
  assertRefused(await restore(id), 500)
  assert.equal(
    await inHome('find . -name "restored-*" -type d; find . -name "restored-*" -size 0 | wc -l; ls many | wc -l'),
    '1\n9',
  )
  assert.deepEqual(restoring(), [])
  isHanging = false
  assertOk(await restore(id))
  assert.equal(await inHome('ls restored-*/many | wc -l'), '9')
})

test('what a restore left because the engine did not answer is completed when it does', onlyLong, async (t) => {
  let isIll = true
  const { inHome, take, restore, restoring } = await open(t, (contents) => ({
    ...contents,
    add: async (volume, archive, signal) => {
      if (!isIll) return contents.add(volume, archive, signal)
      await contents.add(volume, hanging(archive, 4, signal), signal)
    },
    discard: async (volume, folder, signal) => {
      if (isIll) throw new RuntimeError('unreachable', 'discard')
      await contents.discard(volume, folder, signal)
    },
  }))
  await inHome('mkdir many; for at in 1 2 3 4 5 6 7 8 9; do head -c 300000 /dev/urandom > many/$at; done')
  const { id } = (await take()).body.snapshot
  const refused = await restore(id)
  assertRefused(refused, 500)
  assert.equal(refused.headers.get('berth-refusal'), 'restoreUnfinished')
  assert.equal(restoring().length, 1)
  isIll = false
  await waitFor('the restore', () => restoring().length === 0, 30_000)
  assert.equal(await inHome('ls restored-*/many | wc -l'), '9')
})
