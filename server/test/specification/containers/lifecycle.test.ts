import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertOk, blockContainer, engineState, logIn, onEngine, recordOf } from '../../support/api-calls.ts'
import { startBerth } from '../../support/berth.ts'
import { askEngine } from '../../support/engine/engine.ts'

const berth = await startBerth({ after })
const admin = await berth.administrator()
/** Two for all tests, because a container for each costs more than what they state; an address gets three links an hour. */
const [ann, dan] = [await berth.signUp('ann@x.org'), await berth.signUp('dan@x.org')]
const primary = async () => (await recordOf(admin, ann.id)).container_id ?? ''

test('verify-signup creates and starts the container of the first configured type', async () => {
  const record = await recordOf(admin, ann.id, 'dev')
  assert.equal(record.container_id, ann.auth.user.container_id)
  assert.equal(await engineState(berth, record.container_id ?? ''), 'running')
  assert.equal((await onEngine(berth, ann.id)).length, 1, 'other types are created on demand only')
})

test('verify-login starts the primary container when it does not run', async () => {
  const id = await primary()
  await berth.runtime.stop(id)
  const reply = await logIn(berth, 'ann@x.org')
  assertOk(reply)
  assert.equal(reply.body.user.container_id, id)
  assert.equal(await engineState(berth, id), 'running')
})

test('verify-login recreates the primary container when it is missing', async () => {
  const id = await primary()
  await berth.runtime.remove(id)
  const reply = await logIn(berth, 'ann@x.org')
  assertOk(reply)
  assert.notEqual(reply.body.user.container_id, id)
  assert.equal(await engineState(berth, reply.body.user.container_id), 'running')
})

test('verify-login leaves a running primary container alone', async () => {
  assert.equal((await logIn(berth, 'dan@x.org')).body.user.container_id, dan.auth.user.container_id)
})

test('a container of the same name that already exists is found and reused, not a name conflict', async () => {
  const id = await primary()
  // As after a crash between creating the container and storing its id.
  await berth.database.db
    .updateTable('user_containers')
    .set({ container_id: null })
    .where('user_id', '=', ann.id)
    .execute()
  const reply = await ann.call('POST', '/api/container/launch/dev')
  assertOk(reply)
  assert.equal(reply.body.container_id, id)
  assert.equal((await recordOf(admin, ann.id)).container_id, id)
})

test('a running container that was renamed is used on, and no second one is made beside it', async () => {
  const rae = await berth.signUp('rae@x.org')
  const id = rae.auth.user.container_id ?? ''
  await askEngine('POST', `/containers/${id}/rename`, { query: { name: `${berth.installation}-renamed` } })
  const reply = await rae.call('POST', '/api/container/launch/dev')
  assertOk(reply)
  assert.equal(reply.body.container_id, id)
  assert.equal((await onEngine(berth, rae.id)).length, 1)
})

test('a container of the same name that already exists but is stopped is started', async () => {
  const id = await primary()
  await berth.runtime.stop(id)
  await berth.database.db.deleteFrom('user_containers').where('user_id', '=', ann.id).execute()
  assert.equal((await ann.call('POST', '/api/container/launch/dev')).body.container_id, id)
  assert.equal(await engineState(berth, id), 'running')
})

test('verify-login never starts a blocked primary container, and is 200 all the same', async () => {
  assertOk(await blockContainer(admin, (await recordOf(admin, dan.id)).id))
  assertOk(await logIn(berth, 'dan@x.org'))
  assert.equal(await engineState(berth, dan.auth.user.container_id ?? ''), 'exited')
})

test('each type has its own container, whose name carries the type suffix', async () => {
  const hal = await berth.signUp('hal@x.org')
  assertOk(await hal.call('POST', '/api/container/launch/prod'))
  const names = (await berth.runtime.list({ userId: hal.id })).map(({ name }) => name).sort()
  assert.deepEqual(names, [`${berth.installation}-hal-dev`, `${berth.installation}-hal-prod`])
})

test('containers go on running when Berth stops, and the next start finds them', async (t) => {
  const first = await startBerth(t)
  const ivy = await first.signUp('ivy@x.org')
  await first.close()
  const second = await startBerth(t, { dataDir: first.dataDir, installation: first.installation })
  const reply = await second.call('GET', '/api/container/status', { token: ivy.token })
  assert.deepEqual(reply.body, { container_id: ivy.auth.user.container_id, status: 'running' })
})
