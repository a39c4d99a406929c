import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CrashLoops } from './crash-loops.ts'

const owned = { userId: 1, type: 'dev' }

function arrange() {
  let now = 0
  const loops = new CrashLoops(() => now)
  const run = (ms: number) => {
    loops.started(owned)
    now += ms
    loops.ended(owned)
  }
  return { loops, run, pass: (ms: number) => void (now += ms) }
}

test('a program that ended soon three times in a row is left alone for a while, then longer and longer', () => {
  const { loops, run, pass } = arrange()
  run(100)
  run(100)
  assert.ok(loops.mayStart(owned))
  run(100)
  assert.ok(!loops.mayStart(owned))
  pass(5_000)
  assert.ok(loops.mayStart(owned))
  run(100)
  pass(5_000)
  assert.ok(!loops.mayStart(owned))
  for (let time = 0; time < 20; time++) run(100)
  pass(300_000)
  assert.ok(loops.mayStart(owned), 'never longer than five minutes')
})

test('one that lasted has a new beginning, and an end that is told twice counts once', () => {
  const { loops, run } = arrange()
  run(100)
  run(100)
  loops.ended(owned)
  loops.ended(owned)
  assert.ok(loops.mayStart(owned))
  run(20_000)
  run(100)
  run(100)
  assert.ok(loops.mayStart(owned))
})
