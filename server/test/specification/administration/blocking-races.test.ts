import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertOk, blockContainer, engineState, recordOf, unblockContainer } from '../../support/api-calls.ts'
import { startBerth } from '../../support/berth.ts'
import { observationTime } from '#test/support/observation-time.ts'

const berth = await startBerth({ after })
const admin = await berth.administrator()

test('launch, block, unblock and launch at once: a user whose last answer was "running" has a running container', async () => {
  const ann = await berth.signUp('ann@x.org')
  const { id } = await recordOf(admin, ann.id)
  for (let round = 0; round < 3; round++) {
    await berth.runtime.remove((await recordOf(admin, ann.id)).container_id ?? '')
    const first = ann.call('POST', '/api/container/launch/dev')
    const block = blockContainer(admin, id)
    await new Promise((resolve) => setTimeout(resolve, 50))
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
  // Block and lift have to fall between two looks of a launch; on a slow machine one of those finds the block, rightly.
  for (let attempt = 0; attempt < 10; attempt++) {
    const { container_id } = await recordOf(admin, ben.id)
    await berth.runtime.remove(container_id ?? '')
    const launch = ben.call('POST', '/api/container/launch/dev')
    await new Promise((resolve) => setTimeout(resolve, 20))
    const block = blockContainer(admin, id)
    await new Promise((resolve) => setTimeout(resolve, 20))
    assertOk(await unblockContainer(admin, id))
    const [launched] = await Promise.all([launch, block])
    if (launched.status === 403) continue
    assertOk(launched)
    assert.equal(await engineState(berth, launched.body.container_id), 'running')
    return
  }
  assert.fail('no launch outlived a block that was lifted at once')
})

test('a container whose id no record knows is stopped by a block, too', async () => {
  const eve = await berth.signUp('eve@x.org')
  const { id, container_id } = await recordOf(admin, eve.id)
  await berth.database.db.updateTable('user_containers').set({ container_id: null }).where('id', '=', id).execute()
  assertOk(await blockContainer(admin, id))
  assert.equal(await engineState(berth, container_id ?? ''), 'exited')
})
