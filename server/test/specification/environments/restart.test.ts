import assert from 'node:assert/strict'
import { mkdtemp } from 'node:fs/promises'
import path from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openDatabase } from '#/store/database.ts'
import { logIn } from '#test/support/api-calls.ts'
import { startBerth } from '#test/support/berth.ts'
import { startEnvironmentBerth } from '#test/support/environment-berth.ts'
import { askEngine } from '#test/support/engine/engine.ts'
import { waitLimit } from '#test/support/extent.ts'
import { quickFolder } from '#test/support/store/empty-store.ts'

/** What is left of builds when Berth stops, and when it died. */
test('a build that was interrupted failed with words, and nothing of it is left', async () => {
  const dataDir = await mkdtemp(path.join(quickFolder(), 'berth-test-'))
  const first = await startEnvironmentBerth({ after }, { dataDir })
  const { installation } = first.berth
  await first.make('course', { dockerfile: `FROM ${first.base}\nRUN sleep 600` })
  assert.equal((await first.ask('POST', '/course/build')).status, 202)
  const end = Date.now() + waitLimit(20_000)
  while (Date.now() < end && (await first.left()).containers === 0) await sleep(50)
  assert.equal((await first.left()).containers, 1)
  await first.berth.close()
  const { containers: stepsLeft, networks: networksLeft } = await first.left()
  assert.deepEqual([stepsLeft, networksLeft], [0, 0])

  // As after the death of the process: the store says that it is being built, and the engine has a step of it.
  const store = await openDatabase(null, dataDir)
  await store.db.updateTable('environment_versions').set({ state: 'building', error: null }).execute()
  await store.db.deleteFrom('environment_logs').execute()
  await store.close()
  const { Id: image } = await askEngine<{ Id: string }>('GET', `/images/${first.base}/json`)
  await askEngine('POST', '/containers/create', {
    body: {
      Image: image,
      Cmd: ['/bin/sleep', '600'],
      Labels: { 'berth.build': installation, 'berth.build_id': '1-1' },
    },
  })
  await askEngine('POST', '/networks/create', {
    body: { Name: `${installation}-build-1-1`, Labels: { 'berth.instance': installation } },
  })
  const { containers, networks } = await first.left()
  assert.deepEqual([containers, networks], [1, 1])

  const env = { ENVIRONMENTS: 'admins' }
  const second = await startBerth({ after }, { dataDir, installation, env, pace: { every: 500 } })
  const token = (await logIn(second, 'boss@x.org')).body.access_token as string
  const read = await second.call('GET', '/api/admin/environments/course', { token })
  const [version] = read.body.environment.versions
  assert.equal(version.state, 'failed')
  assert.match(version.error, /^Berth was stopped while this version was being built/)
  const until = Date.now() + waitLimit(20_000)
  while (Date.now() < until && (await first.left()).networks > 0) await sleep(100)
  assert.deepEqual(await first.left(), { containers: 0, networks: 0, images: [] })
})
