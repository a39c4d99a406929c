// Part of npm run test:more: a command over what specification/snapshots states.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { homeVolume } from '#/containers/container-name.ts'
import { ensureContainer } from '#/store/user-containers.ts'
import { installationName, openDatabase } from '#/store/database.ts'
import { findUserByEmail } from '#/store/users.ts'
import { makeStore, noEngine, runCommand } from '#test/support/command-line.ts'

test('without a running service the operator lists and removes snapshots; homes are left alone, with words', async (t) => {
  const dataDir = await makeStore(mkdtempSync(path.join(tmpdir(), 'berth-snapshots-')))
  t.after(() => rmSync(dataDir, { recursive: true, force: true }))
  const settings = { ...noEngine, DATA_DIR: dataDir, SNAPSHOTS: 'on', CONTAINER_TEMPLATES: '{"dev":{"image":"x"}}' }
  const berth = (...args: string[]) => runCommand(settings, 'snapshots', ...args)
  const folder = path.join(dataDir, 'snapshots/homes', await homeOfAnn(dataDir))
  mkdirSync(folder, { recursive: true })
  writeFileSync(path.join(folder, '1796119200000-manual.tar.gz'), 'x'.repeat(3_000_000))

  const listed = await berth('list', '1')
  assert.match(listed.stdout, /1796119200000-manual +2026-12-01.* manual +3 MiB/, listed.stderr)
  for (const args of [
    ['take', '1'],
    ['restore', '1', '1796119200000-manual'],
  ]) {
    const { code, stderr } = await berth(...args)
    assert.deepEqual([code, /Berth does not run\. Start it first/.test(stderr)], [1, true], stderr)
  }
  const removed = await berth('remove', '1', '1796119200000-manual', '--json')
  assert.equal(removed.code, 0, removed.stderr)
  assert.match((await berth('list', '1')).stderr, /None/)
})

async function homeOfAnn(dataDir: string): Promise<string> {
  const { db, close } = await openDatabase(null, dataDir)
  const ann = await findUserByEmail(db, 'ann@x.org')
  assert.ok(ann)
  await ensureContainer(db, ann.id, 'dev', 'x', new Date())
  const installation = await installationName(db, () => 'test')
  await close()
  return homeVolume(installation, ann.id, ann.slug, 'dev')
}
