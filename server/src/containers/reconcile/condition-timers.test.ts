import assert from 'node:assert/strict'
import { test } from 'node:test'
import { movableClock } from '#test/support/clock.ts'
import { day } from '#test/support/plan-cases.ts'
import { onSteadyClock } from './condition-timers.ts'

const ageOf = (instant: number) => performance.now() - onSteadyClock(instant)

for (const [words, by] of [
  ['forward', 20 * day],
  ['back', -20 * day],
] as const)
  test(`a container seems no older than it is while the system clock is set ${words}`, (t) => {
    const before = Date.now()
    assert.ok(Math.abs(ageOf(before)) < 1_000)
    movableClock(t).set(by)
    for (const instant of [before, Date.now()]) assert.ok(ageOf(instant) < 1_000, `${ageOf(instant)} ms`)
  })
