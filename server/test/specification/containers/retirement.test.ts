import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { ContainerEntry } from '@berth/api/schemas/user.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { Runtime } from '#/engines/runtime.ts'
import {
  assertOk,
  assertRefused,
  blockContainer,
  engineState,
  onEngine,
  recordOf,
  unblockContainer,
} from '../../support/api-calls.ts'
import { startBerth, type Person } from '../../support/berth.ts'
import { outside, pollUntil } from '../../support/control-plane.ts'
import { homesOf, markedTemplates, markOf } from '../../support/engine/homes.ts'
import { observationTime } from '#test/support/observation-time.ts'
import { onlyLong } from '#test/support/extent.ts'

/** What owners and administrators see of a container that was removed from the engine because it was not used. */

const fault = { active: false }
const refusing = (runtime: Runtime): Runtime => ({
  ...runtime,
  removeStopped: async (id) => {
    if (fault.active) throw new RuntimeError('failed', 'remove it')
    return runtime.removeStopped(id)
  },
})
const [retire, every] = [1_500, 200]
const berth = await startBerth(
  { after },
  { env: { CONTAINER_TEMPLATES: await markedTemplates() }, pace: { every, retire }, wrapRuntime: refusing },
)
const admin = await berth.administrator()

const idOf = (person: Person) => String(person.auth.user.container_id)
const stop = async (person: Person) => assertOk(await person.call('POST', '/api/container/stop/dev'))
const entryOf = async (person: Person): Promise<ContainerEntry> =>
  (await person.call('GET', '/api/user/containers')).body.containers[0]
const untilGone = (person: Person) =>
  pollUntil(
    async () => (await onEngine(berth, person.id)).length === 0,
    () => 'it is still in the engine',
  )
/** As administrators read it in their list. */
const statusOf = async (person: Person) =>
  (await admin.call('GET', `/api/admin/containers?q=${person.slug}`)).body.containers[0].status

test('a stopped container that is not used goes from the engine; its record and its home stay, and a launch brings it back', async () => {
  const ann = await berth.signUp('ann@x.org')
  const mark = await markOf(ann)
  await stop(ann)
  const [before, homes] = [await entryOf(ann), await homesOf(berth, ann.id)]
  await untilGone(ann)
  await pollUntil(
    async () => (await entryOf(ann)).container_id === null,
    () => 'its owner still reads an id',
  )
  const { last_used: lastUsed, ...entry } = await entryOf(ann)
  assert.deepEqual({ ...entry, last_used: before.last_used }, { ...before, status: 'not_created', container_id: null })
  assert.ok(lastUsed !== null && lastUsed >= String(before.last_used), 'when it was used last is kept')
  assert.deepEqual(await homesOf(berth, ann.id), homes)
  assert.equal((await ann.call('GET', '/api/container/status')).body.status, 'no_container')
  assert.equal(await statusOf(ann), 'stopped')
  const record = await recordOf(admin, ann.id)
  assert.deepEqual([record.container_id, record.last_used !== null], [null, true])
  const { actions, failures } = (await admin.call('GET', '/api/admin/system')).body.reconciler
  assert.ok(actions.retire >= 1, JSON.stringify(actions))
  assert.deepEqual(failures, [])
  assertOk(await ann.call('POST', '/api/container/launch/dev'))
  assert.equal((await entryOf(ann)).status, 'running')
  assert.equal(await markOf(ann), mark)
})

test(
  'a visit of its owner wakes it as it wakes what is stopped, and what others get told is no different',
  onlyLong,
  async () => {
    const bob = await berth.signUp('bob@x.org')
    const mark = await markOf(bob)
    await stop(bob)
    await untilGone(bob)
    assertRefused(await admin.call('GET', `/${bob.slug}-dev/home.txt`), 403)
    assert.deepEqual(await onEngine(berth, bob.id), [])
    assert.equal(await markOf(bob), mark)
    assert.equal(await statusOf(bob), 'running')
  },
)

test('what is blocked is retired, too, and stays blocked until it is unblocked', async () => {
  const cat = await berth.signUp('cat@x.org')
  const mark = await markOf(cat)
  const { id } = await recordOf(admin, cat.id)
  assertOk(await blockContainer(admin, id))
  await untilGone(cat)
  assert.equal((await entryOf(cat)).is_blocked, true)
  assertRefused(await cat.call('POST', '/api/container/launch/dev'), 403, ['blocked_at'])
  assertRefused(await cat.call('GET', `/${cat.slug}-dev/home.txt`), 403)
  assertOk(await unblockContainer(admin, id))
  assert.equal(await markOf(cat), mark)
})

test('what runs or is paused stays, however long it is unused', onlyLong, async () => {
  const [dan, eve] = [await berth.signUp('dan@x.org'), await berth.signUp('eve@x.org')]
  const old = { last_used: 1, created_at: 1 }
  await berth.database.db.updateTable('user_containers').set(old).where('user_id', 'in', [dan.id, eve.id]).execute()
  await outside.pause(idOf(eve))
  await observationTime(retire + 5 * every)
  assert.equal(await engineState(berth, idOf(dan)), 'running')
  assert.equal(await engineState(berth, idOf(eve)), 'paused')
})

test('what ended lately stays, although its record says that it was used long ago', onlyLong, async () => {
  const fay = await berth.signUp('fay@x.org')
  await stop(fay)
  const old = { last_used: 1, created_at: 1, stopped_at: 1 }
  await berth.database.db.updateTable('user_containers').set(old).where('user_id', '=', fay.id).execute()
  await observationTime(3 * every)
  assert.equal(await engineState(berth, idOf(fay)), 'exited')
})

test('what the engine does not remove keeps its id, and is reported to the operator', async () => {
  const gil = await berth.signUp('gil@x.org')
  fault.active = true
  await stop(gil)
  const failures = async () => (await admin.call('GET', '/api/admin/system')).body.reconciler.failures
  await pollUntil(
    async () => (await failures()).length > 0,
    () => 'nothing is reported',
  )
  fault.active = false
  await pollUntil(
    async () => (await entryOf(gil)).container_id === idOf(gil),
    () => 'its id is lost',
  )
  assert.equal(await engineState(berth, idOf(gil)), 'exited')
  assertOk(await gil.call('POST', '/api/container/launch/dev'))
  assert.equal((await entryOf(gil)).container_id, idOf(gil))
})
