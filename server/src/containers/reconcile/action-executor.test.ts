import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RuntimeContainer } from '#/engines/runtime.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { findContainer, noteStopped } from '#/store/user-containers.ts'
import { gate, ghost, now, rigOf } from '#test/support/container-reconciler-rig.ts'

test('fifty unused containers are retired in a run, and those that ended lately delay none of them', async (t) => {
  const { engine, reconciler, person, database } = await rigOf(t, { retire: 60_000 })
  for (let at = 0; at < 120; at++) {
    const { user } = await person(`p${at}`, 'exited')
    await noteStopped(database.db, user.id, 'dev', now)
    const endedAt = at < 50 ? Date.now() : now.getTime()
    engine.set(`p${at}`, { ...(engine.get(`p${at}`) as RuntimeContainer), endedAt })
  }
  const lefts = []
  for (let run = 0; run < 4; run++) {
    await reconciler.run()
    lefts.push(engine.size)
  }
  assert.deepEqual(lefts, [120, 70, 50, 50])
  assert.equal(reconciler.counts().retire, 70)
})

test('a container that can never be stopped keeps nothing from being retired', async (t) => {
  const { engine, world, reconciler, person, database } = await rigOf(t, { retire: 60_000 })
  const { user } = await person('ann', 'exited')
  await noteStopped(database.db, user.id, 'dev', now)
  engine.set('ghost1', ghost(1))
  const [cannotStop, cannotRemove] = [new Error('it cannot be stopped'), new Error('it cannot be removed')]
  world.beforeStop = () => Promise.reject(cannotStop)
  world.beforeRetire = () => Promise.reject(cannotRemove)
  await assert.rejects(
    reconciler.run(),
    { name: 'Unfinished', reasons: [cannotStop, cannotRemove] },
    'both are reported',
  )
  const other = (await person('bob', 'exited')).user
  await noteStopped(database.db, other.id, 'dev', now)
  world.beforeRetire = async () => {}
  await assert.rejects(reconciler.run(), { name: 'Unfinished', reasons: [cannotStop] })
  assert.deepEqual([...engine.keys()], ['ann', 'ghost1'], 'who was tried lately is tried later')
})

for (const [words, error, isRemoved] of [
  ['whose answer is lost', new RuntimeError('unreachable', 'remove'), true],
  ['about which the engine never answers', new RuntimeError('unreachable', 'remove'), false],
  ['that the engine refuses', new RuntimeError('failed', 'remove'), false],
] as const)
  test(`a retirement ${words} leaves a place that is never called missing`, async (t) => {
    const { engine, world, reconciler, person, database } = await rigOf(t, { retire: 60_000 })
    const { user } = await person('ann', 'exited')
    await noteStopped(database.db, user.id, 'dev', now)
    world[isRemoved ? 'afterRetire' : 'beforeRetire'] = () => Promise.reject(error)
    await assert.rejects(reconciler.run(), { name: 'Unfinished', reasons: [error] })
    const record = await findContainer(database.db, user.id, 'dev')
    const isKept = error.kind === 'failed'
    assert.deepEqual([record?.containerId, record?.retiredAt !== null], [isKept ? 'ann' : null, !isKept])
    // What the engine has after all is adopted by its name.
    world.beforeRetire = world.afterRetire = async () => {}
    await reconciler.run()
    assert.equal((await findContainer(database.db, user.id, 'dev'))?.containerId, isRemoved ? null : 'ann')
    assert.equal(engine.has('ann'), !isRemoved)
  })

test('of candidates of whom none was begun in a run each is a candidate in the next one', async (t) => {
  const { engine, world, reconciler, person, database } = await rigOf(t, { retire: 60_000 }, 300)
  for (const slug of ['ann', 'bob', 'cat', 'dan']) {
    const { user } = await person(slug, 'exited')
    await noteStopped(database.db, user.id, 'dev', now)
  }
  const end = gate()
  world.beforeRetire = (id) => (id === 'ann' || id === 'bob' ? end.passed : Promise.resolve())
  await reconciler.run()
  assert.equal(engine.size, 4)
  // The two that the engine works on are found there meanwhile; to adopt them has to wait.
  await assert.rejects(reconciler.run(), { name: 'Unfinished' })
  assert.deepEqual([...engine.keys()], ['ann', 'bob'])
  end.open()
})

// A machine whose clock was weeks ahead at the start retired fifty containers in each run, until a time server corrected it.
test('nothing is retired before the date is settled', async (t) => {
  const { engine, world, reconciler, person, database } = await rigOf(t, { retire: 86_400_000 })
  const { user } = await person('ann', 'exited')
  await noteStopped(database.db, user.id, 'dev', now)
  world.isDateSettled = false
  for (let run = 0; run < 3; run++) await reconciler.run()
  assert.equal(engine.size, 1)
  world.isDateSettled = true
  for (let run = 0; run < 2; run++) await reconciler.run()
  assert.equal(engine.size, 0)
})
