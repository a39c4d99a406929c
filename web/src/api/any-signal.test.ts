import assert from 'node:assert/strict'
import { test } from 'node:test'
import { anySignal } from './any-signal.ts'

test('a signal aborts with the first of others, for its reason, also in a browser without AbortSignal.any', (t) => {
  const any = Object.getOwnPropertyDescriptor(AbortSignal, 'any') ?? {}
  t.after(() => Object.defineProperty(AbortSignal, 'any', any))
  for (const isOld of [false, true]) {
    if (isOld) Reflect.deleteProperty(AbortSignal, 'any')
    const [one, other] = [new AbortController(), new AbortController()]
    const either = anySignal(one.signal, other.signal)
    assert.equal(either.aborted, false)
    other.abort('late')
    assert.deepEqual([either.aborted, either.reason], [true, 'late'])
    one.abort('later')
    assert.equal(either.reason, 'late')
    assert.equal(anySignal(one.signal, new AbortController().signal).reason, 'later')
  }
})
