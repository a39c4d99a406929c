import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ContainerState } from '#/containers/routes/container-state.ts'
import type { RuntimeContainer } from '#/engines/runtime.ts'
import { findContainer } from '#/store/user-containers.ts'
import { rigOf } from '#test/support/container-reconciler-rig.ts'
import { waitLimit } from '#test/support/extent.ts'

/** Ann's container, restored after an outage; `end` lets its program end, and waits until that counts as its end by itself. */
async function arrange(t: TestContext) {
  const { database, engine, world, reconciler, person } = await rigOf(t, { down: 40 })
  const { user } = await person('ann', 'running')
  const known = { userId: user.id, type: 'dev' } as ContainerState
  const become = (fields: Partial<RuntimeContainer>) =>
    void engine.set('ann', { ...(engine.get('ann') as RuntimeContainer), ...fields })
  const untilRestored = async (times: number) => {
    for (const end = performance.now() + waitLimit(10_000); world.restored.length < times && performance.now() < end;)
      await sleep(5)
    assert.equal(world.restored.length, times)
  }
  await reconciler.run()
  reconciler.onEvent({ id: undefined, action: 'lost' }, undefined)
  become({ state: 'exited' })
  reconciler.onEvent({ id: undefined, action: 'other' }, undefined)
  await reconciler.run()
  await untilRestored(1)
  reconciler.onEvent({ id: 'ann', action: 'start' }, known)
  const end = async (exitCode: number, isOutOfMemory = false) => {
    become({ state: 'exited', exitCode, isOutOfMemory })
    reconciler.onEvent({ id: 'ann', action: 'die' }, known)
    await sleep(60)
    await reconciler.run()
  }
  const shouldRun = async () => (await findContainer(database.db, user.id, 'dev'))?.runningSince !== null
  const untilGivenUp = async () => {
    for (const limit = performance.now() + waitLimit(10_000); (await shouldRun()) && performance.now() < limit;)
      await sleep(5)
    assert.equal(await shouldRun(), false)
  }
  return { world, reconciler, end, untilRestored, shouldRun, untilGivenUp }
}

// Forty of one template were restored at once, and the OOM killer ended some three seconds later: they stayed stopped for good.
test('what the OOM killer of the host ends seconds after its restoration is restored again, as often as it takes', async (t) => {
  const { world, reconciler, end, untilRestored, shouldRun } = await arrange(t)
  world.isMemoryShort = true
  for (let times = 2; times <= 6; times++) {
    await end(137, true)
    await untilRestored(times)
  }
  assert.equal(await shouldRun(), true)
  assert.deepEqual(reconciler.warnings(), [])
})

test('an end counts by the memory there was at that moment: what was killed has freed some since', async (t) => {
  const { world, end, untilRestored } = await arrange(t)
  for (let times = 2; times <= 5; times++) {
    world.isMemoryShort = true
    const ended = end(137, true)
    world.isMemoryShort = false
    await ended
    await untilRestored(times)
  }
})

for (const [words, exitCode, isOutOfMemory] of [
  ['ends by itself', 3, false],
  ['needs more memory than its limit, while the host has enough,', 137, true],
] as const)
  test(`a program that ${words} soon after each of three restorations is given up, and told`, async (t) => {
    const { world, reconciler, end, untilRestored, untilGivenUp } = await arrange(t)
    for (let times = 2; times <= 3; times++) {
      await end(exitCode, isOutOfMemory)
      await untilRestored(times)
    }
    await end(exitCode, isOutOfMemory)
    await untilGivenUp()
    assert.equal(world.restored.length, 3)
    assert.equal(reconciler.warnings().length, 1)
  })

for (const [words, exitCode] of [
  ['is killed by a person', 143],
  ['ends without a failure, as its work is done,', 0],
] as const)
  test(`a program that ${words} soon after its restoration stays stopped, and that is no failure`, async (t) => {
    const { world, reconciler, end, untilGivenUp } = await arrange(t)
    await end(exitCode)
    await untilGivenUp()
    assert.equal(world.restored.length, 1)
    assert.deepEqual(reconciler.warnings(), [])
  })

test('a program that ends more than a minute after its restoration stays stopped', async (t) => {
  const { world, end, untilGivenUp } = await arrange(t)
  const clock = performance.now.bind(performance)
  performance.now = () => clock() + 61_000
  try {
    await end(3)
    await untilGivenUp()
  } finally {
    performance.now = clock
  }
  assert.equal(world.restored.length, 1)
})
