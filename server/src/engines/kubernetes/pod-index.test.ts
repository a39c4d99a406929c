import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WatchState } from './pod-index.ts'

function arrange() {
  const world = { now: 0 }
  return { world, watch: new WatchState(() => world.now) }
}

/** Whether it answers lists of running pods, and lists of all. */
const answers = (watch: WatchState) => [watch.canAnswer(true), watch.canAnswer(false)]

test('a watch that is open answers lists of running pods, and those of all only right after the list that it began with', () => {
  const { world, watch } = arrange()
  assert.deepEqual(answers(watch), [false, false])
  watch.noteOpening()
  assert.deepEqual(answers(watch), [false, false])
  watch.noteOpen()
  assert.deepEqual(answers(watch), [true, true])
  world.now = 10_000
  assert.deepEqual(answers(watch), [true, false])
})

test('a watch that continues another has no list of its own to share', () => {
  const { watch } = arrange()
  watch.noteOpen()
  assert.deepEqual(answers(watch), [true, false])
})

test('a watch that broke answers nothing until it is open again', () => {
  const { watch } = arrange()
  watch.noteOpening()
  watch.noteOpen()
  watch.noteLost()
  assert.deepEqual(answers(watch), [false, false])
  watch.noteOpen()
  assert.deepEqual(answers(watch), [true, false])
})

test('a watch without a line for a minute and a half answers nothing until there is one', () => {
  const { world, watch } = arrange()
  watch.noteOpen()
  world.now = 89_999
  assert.ok(watch.canAnswer(true))
  world.now = 90_000
  assert.ok(!watch.canAnswer(true))
  watch.noteLine()
  assert.ok(watch.canAnswer(true))
})

test('who waits for the list of a watch goes on when it is open, and when it failed', async () => {
  const { watch } = arrange()
  await watch.settled()
  for (const end of [() => watch.noteOpen(), () => watch.noteLost()]) {
    let isSettled = false
    watch.noteOpening()
    const waiting = watch.settled().then(() => (isSettled = true))
    await Promise.resolve()
    assert.ok(!isSettled)
    end()
    await waiting
  }
})
