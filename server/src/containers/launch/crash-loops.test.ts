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

test('one that lasted has a new beginning, and an end that is reported twice counts once', () => {
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

test('what has run for ten seconds is not remembered, however many run', () => {
  let now = 0
  const loops = new CrashLoops(() => now)
  for (let userId = 1; userId <= 5_000; userId++) {
    loops.started({ userId, type: 'dev' })
    now += 100
  }
  assert.ok(loops.size <= 101, `${loops.size} are remembered`)
})

test('beyond the limit the oldest start is forgotten, and no other', () => {
  // Formerly all were forgotten at the 10,000th: every crash loop began anew at the same moment.
  const [loops, crowd] = [new CrashLoops(() => 0, 100), 150]
  for (let time = 0; time < 3; time++)
    for (let userId = 1; userId <= crowd; userId++) {
      loops.started({ userId, type: 'dev' })
      loops.ended({ userId, type: 'dev' })
    }
  assert.equal(loops.size, 100)
  const fresh = { userId: crowd, type: 'dev' }
  for (let time = 0; time < 3; time++) {
    loops.started(fresh)
    loops.ended(fresh)
  }
  for (let userId = 1_000; userId < 1_060; userId++) loops.started({ userId, type: 'dev' })
  assert.ok(!loops.mayStart(fresh), 'a loop is held up although others were started since')
})
