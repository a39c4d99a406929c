import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { RuntimeContainer } from '#/runtime/runtime-container.ts'
import type { ListFilter } from '#/runtime/runtime.ts'
import { EngineListCache } from './engine-list.ts'

const listed: RuntimeContainer = {
  id: 'id',
  name: 'name',
  owner: null,
  state: 'running',
  address: null,
  port: null,
  imageId: '',
  exitCode: null,
  isOutOfMemory: false,
  startedAt: null,
  endedAt: null,
  fingerprint: null,
}

/** @param takes ms for a full list @param containers that it has */
function arrange(takes: number, containers = 0) {
  const asked: string[] = []
  const world = { fails: false, now: 1_000, full: 0 }
  const list = async ({ isUp }: ListFilter = {}) => {
    asked.push(isUp ? 'up' : 'full')
    world.now += isUp ? 1 : takes
    await Promise.resolve()
    if (world.fails) throw new Error('no answer')
    return Array.from({ length: containers }, () => listed)
  }
  const onFull = () => void world.full++
  return { asked, world, looks: new EngineListCache({ list }, onFull, () => world.now) }
}

test('all tasks of a run share one list, and the next run asks anew', async () => {
  const { asked, looks } = arrange(1)
  await Promise.all([looks.get(), looks.get()])
  await looks.get()
  // What was asked before the first run is its look, too.
  looks.startRun()
  await looks.get()
  assert.equal(asked.length, 1)
  looks.startRun()
  await looks.get()
  assert.equal(asked.length, 2)
})

test('a list that another part asked for before the first run is that run’s, too, and afterwards its own', async () => {
  const { asked, looks } = arrange(1)
  await looks.listAll()
  looks.startRun()
  await looks.get()
  assert.deepEqual(asked, ['full'])
  await looks.listAll()
  await looks.get()
  assert.deepEqual(asked, ['full', 'full'])
})

test('a full list that took long is followed by lists of what is up, until it was a thirtieth of the time', async () => {
  const { asked, world, looks } = arrange(2_000)
  looks.startRun()
  for (let run = 0; run < 4; run++) {
    looks.startRun()
    assert.equal((await looks.get()).isFull, run === 0)
  }
  world.now += 2_000 * 30
  looks.startRun()
  // The run does not wait for it; the next one has it.
  assert.ok(!(await looks.get()).isFull)
  await turn()
  assert.equal(world.full, 1)
  looks.startRun()
  assert.ok((await looks.get()).isFull)
  looks.startRun()
  assert.ok(!(await looks.get()).isFull)
  assert.deepEqual(asked, ['full', 'up', 'up', 'up', 'full', 'up', 'up'])
})

test('a full list beside the runs does not count when the engine goes away, and is tried again when it fails', async () => {
  const { asked, world, looks } = arrange(2_000)
  looks.startRun()
  await looks.get()
  world.now += 2_000 * 30
  looks.startRun()
  world.fails = true
  await assert.rejects(looks.get(), /no answer/)
  await turn()
  world.fails = false
  looks.startRun()
  const during = looks.get()
  looks.invalidate()
  await during
  await turn()
  assert.equal(world.full, 0)
  assert.deepEqual(asked, ['full', 'full', 'up', 'full', 'up'])
  looks.startRun()
  assert.ok((await looks.get()).isFull)
})

test('a full list that takes less than a second is asked for in every run', async () => {
  const { looks } = arrange(900)
  looks.startRun()
  for (let run = 0; run < 4; run++) {
    looks.startRun()
    assert.ok((await looks.get()).isFull)
  }
})

// The first full list of a cluster is the one that its watch began with. Taken for the time of all, each run had waited for a full
// one, 5 to 8 s with 20,000 pods.
test('a full list of very many that was at hand does not count as quick', async () => {
  const { asked, world, looks } = arrange(5, 20_000)
  await looks.listAll()
  for (let run = 0; run < 3; run++) {
    looks.startRun()
    await looks.get()
  }
  world.now += 30 * 4_000
  looks.startRun()
  assert.ok(!(await looks.get()).isFull)
  await turn()
  looks.startRun()
  assert.ok((await looks.get()).isFull)
  assert.deepEqual([asked, world.full], [['full', 'up', 'up', 'full', 'up'], 1])
})

test('after the engine went away, and after a full list that failed, the next one is full', async () => {
  const { asked, world, looks } = arrange(2_000)
  await looks.get()
  looks.invalidate()
  assert.ok((await looks.get()).isFull)
  looks.invalidate()
  world.fails = true
  await assert.rejects(looks.get())
  await assert.rejects(looks.get(), /no answer/, 'the other tasks of the run hear the same at once')
  world.fails = false
  looks.startRun()
  looks.startRun()
  assert.ok((await looks.get()).isFull)
  assert.deepEqual(asked, ['full', 'full', 'full', 'full'])
})

test('a list that an engine gave before it went away does not count as the last full one', async () => {
  const { looks } = arrange(2_000)
  const before = looks.get()
  looks.invalidate()
  await before
  looks.startRun()
  looks.startRun()
  assert.ok((await looks.get()).isFull)
})
