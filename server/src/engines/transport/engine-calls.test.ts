import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { EngineCalls, type ApiCall, type EngineApi } from './engine-calls.ts'

const calls = new EngineCalls({} as EngineApi<ApiCall>, undefined)
const call: ApiCall = { what: 'ping', method: 'GET', path: '/', timeout: 600 }

test('a call ends at its limit', async () => {
  const work = (signal: AbortSignal) => sleep(60_000, undefined, { signal })
  await assert.rejects(calls.measured(call, work), { kind: 'unreachable' })
})

// On a machine that is slow, a start computes for longer than the limit of a ping: the engine was said not to answer.
test('the time in which this process computes and can read no answer is not waited for by a call', async () => {
  const work = (signal: AbortSignal) => sleep(650, 'answered', { signal })
  const answer = calls.measured(call, work)
  for (const end = performance.now() + 1_000; performance.now() < end;);
  assert.equal(await answer, 'answered')
})
