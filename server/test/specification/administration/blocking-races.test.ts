import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertOk, blockContainer, engineState, recordOf, unblockContainer, until } from '../../support/api-calls.ts'
import { startBerth } from '../../support/berth.ts'
import { CreationGate } from '../../support/engine/creation-gate.ts'
import { observationTime } from '#test/support/observation-time.ts'

const gate = new CreationGate()
const berth = await startBerth({ after }, { wrapRuntime: (runtime) => gate.before(runtime) })
const admin = await berth.administrator()
const untilBlocked = (userId: number) => until(async () => (await recordOf(admin, userId)).is_blocked)

test('launch, block, unblock and launch at once: a user whose last answer was "running" has a running container', async () => {
  const ann = await berth.signUp('ann@x.org')
  const { id } = await recordOf(admin, ann.id)
  for (let round = 0; round < 3; round++) {
    await berth.runtime.remove((await recordOf(admin, ann.id)).container_id ?? '')
    const first = ann.call('POST', '/api/container/launch/dev')
    const block = blockContainer(admin, id)
    await untilBlocked(ann.id)
    assertOk(await unblockContainer(admin, id))
    const last = await ann.call('POST', '/api/container/launch/dev')
    await Promise.all([first, block])
    await observationTime(500)
    assertOk(last)
    assert.equal(await engineState(berth, last.body.container_id), 'running')
  }
})

test('a block that is lifted before its stop had its turn stops nothing', async () => {
  const ben = await berth.signUp('ben@x.org')
  const { id } = await recordOf(admin, ben.id)
  await berth.runtime.remove((await recordOf(admin, ben.id)).container_id ?? '')
  // Block and lift fall between two looks of a launch; the stop waits for the launch, which the engine keeps waiting.
  const count = gate.asked.length
  gate.close()
  const launch = ben.call('POST', '/api/container/launch/dev')
  await until(async () => gate.asked.length > count)
  const block = blockContainer(admin, id)
  await untilBlocked(ben.id)
  assertOk(await unblockContainer(admin, id))
  gate.open()
  const [launched, blocked] = await Promise.all([launch, block])
  assertOk(launched)
  assertOk(blocked)
  assert.equal(await engineState(berth, launched.body.container_id), 'running')
})

test('a container whose id no record knows is stopped by a block, too', async () => {
  const eve = await berth.signUp('eve@x.org')
  const { id, container_id } = await recordOf(admin, eve.id)
  await berth.database.db.updateTable('user_containers').set({ container_id: null }).where('id', '=', id).execute()
  assertOk(await blockContainer(admin, id))
  assert.equal(await engineState(berth, container_id ?? ''), 'exited')
})
