import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { ListFilter, RuntimeContainer } from '#/engines/runtime.ts'
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
  return { asked, world, engineList: new EngineListCache({ list }, onFull, () => world.now) }
}

test('all tasks of a run share one list, and the next run asks anew', async () => {
  const { asked, engineList } = arrange(1)
  await Promise.all([engineList.get(), engineList.get()])
  await engineList.get()
  // What was asked before the first run is its list, too.
  engineList.startRun()
  await engineList.get()
  assert.equal(asked.length, 1)
  engineList.startRun()
  await engineList.get()
  assert.equal(asked.length, 2)
})

test('a list that another part asked for before the first run is that run’s, too, and afterwards its own', async () => {
  const { asked, engineList } = arrange(1)
  await engineList.listAll()
  engineList.startRun()
  await engineList.get()
  assert.deepEqual(asked, ['full'])
  await engineList.listAll()
  await engineList.get()
  assert.deepEqual(asked, ['full', 'full'])
})

test('a full list that took long is followed by lists of what is up, until it was a thirtieth of the time', async () => {
  const { asked, world, engineList } = arrange(2_000)
  engineList.startRun()
  for (let run = 0; run < 4; run++) {
    engineList.startRun()
    assert.equal((await engineList.get()).isFull, run === 0)
  }
  world.now += 2_000 * 30
  engineList.startRun()
  // The run does not wait for it; the next one has it.
  assert.ok(!(await engineList.get()).isFull)
  await turn()
  assert.equal(world.full, 1)
  engineList.startRun()
  assert.ok((await engineList.get()).isFull)
  engineList.startRun()
  assert.ok(!(await engineList.get()).isFull)
  assert.deepEqual(asked, ['full', 'up', 'up', 'up', 'full', 'up', 'up'])
})

test('a full list beside the runs does not count when the engine goes away, and is tried again when it fails', async () => {
  const { asked, world, engineList } = arrange(2_000)
  engineList.startRun()
  await engineList.get()
  world.now += 2_000 * 30
  engineList.startRun()
  world.fails = true
  await assert.rejects(engineList.get(), /no answer/)
  await turn()
  world.fails = false
  engineList.startRun()
  const during = engineList.get()
  engineList.invalidate()
  await during
  await turn()
  assert.equal(world.full, 0)
  assert.deepEqual(asked, ['full', 'full', 'up', 'full', 'up'])
  engineList.startRun()
  assert.ok((await engineList.get()).isFull)
})

test('a full list that takes less than a second is asked for in every run', async () => {
  const { engineList } = arrange(900)
  engineList.startRun()
  for (let run = 0; run < 4; run++) {
    engineList.startRun()
    assert.ok((await engineList.get()).isFull)
  }
})

// The first full list of a cluster is the one that its watch began with. Taken for the time of all, each run had waited for a full
// one, 5 to 8 s with 20,000 pods.
test('a full list of very many that was at hand does not count as quick', async () => {
  const { asked, world, engineList } = arrange(5, 20_000)
  await engineList.listAll()
  for (let run = 0; run < 3; run++) {
    engineList.startRun()
    await engineList.get()
  }
  world.now += 30 * 4_000
  engineList.startRun()
  assert.ok(!(await engineList.get()).isFull)
  await turn()
  engineList.startRun()
  assert.ok((await engineList.get()).isFull)
  assert.deepEqual([asked, world.full], [['full', 'up', 'up', 'full', 'up'], 1])
})

test('after the engine went away, and after a full list that failed, the next one is full', async () => {
  const { asked, world, engineList } = arrange(2_000)
  await engineList.get()
  engineList.invalidate()
  assert.ok((await engineList.get()).isFull)
  engineList.invalidate()
  world.fails = true
  await assert.rejects(engineList.get())
  await assert.rejects(engineList.get(), /no answer/, 'the other tasks of the run hear the same at once')
  world.fails = false
  engineList.startRun()
  engineList.startRun()
  assert.ok((await engineList.get()).isFull)
  assert.deepEqual(asked, ['full', 'full', 'full', 'full'])
})

test('a list that an engine gave before it went away does not count as the last full one', async () => {
  const { engineList } = arrange(2_000)
  const before = engineList.get()
  engineList.invalidate()
  await before
  engineList.startRun()
  engineList.startRun()
  assert.ok((await engineList.get()).isFull)
})
