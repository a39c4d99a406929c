import assert from 'node:assert/strict'
import { test } from 'node:test'
import { localize } from '@berth/texts/localize.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { ExitedOnStart, classifyFailure, explainFailure, unavailableAfter } from './launch-failure.ts'
import type { RuntimeContainer } from '#/engines/runtime.ts'

const runtime = { logs: async () => [], inspectId: async () => undefined }

test('without room the limit that is used up is named, where it is known', async () => {
  const limit = 'few, requested: pods=1, used: pods=3, limited: pods=3'
  const refused = await explainFailure(runtime, new RuntimeError('full', 'create', undefined, limit))
  assert.equal(refused.reason, 'full')
  for (const language of ['en', 'de'] as const) assert.ok(localize(language, refused.sentence).includes(limit))
  const full = await explainFailure(runtime, new RuntimeError('full', 'create'))
  assert.match(localize('en', full.sentence), /^The server has no room/)
})

test('a lost node is the reason of its container alone, and says what has to happen', async () => {
  const lost = await explainFailure(runtime, new RuntimeError('lost', 'stop'))
  assert.equal(lost.reason, 'node-lost')
  assert.match(localize('en', lost.sentence), /starts again as soon as the machine is back/)
  assert.deepEqual(unavailableAfter(lost), { reason: 'node-lost', exitCode: null })
  assert.equal(classifyFailure(lost), 'other')
})

test('an image without a program is told of, and whom to ask', async () => {
  const refused = new RuntimeError('failed', 'create ann-dev', new Error('400: No command specified'))
  const { reason, sentence } = await explainFailure(runtime, refused)
  assert.deepEqual([reason, /names no program.*`command`/.test(localize('en', sentence))], ['failed', true])
})

// On a busy machine Docker told of the end of a program 18 ms before it told that memory was the reason.
test('a program that was killed at its start ran out of memory also if the engine says so a moment later', async () => {
  const ended = (isOutOfMemory: boolean) =>
    ({ id: 'a', state: 'exited', exitCode: 137, isOutOfMemory }) as RuntimeContainer
  const early = new ExitedOnStart('ann-dev', ended(false))
  const late = await explainFailure({ ...runtime, inspectId: async () => ended(true) }, early)
  assert.deepEqual([late.reason, late.isOutOfMemory], ['out-of-memory', true])
  const never = await explainFailure({ ...runtime, inspectId: async () => ended(false) }, early)
  assert.equal(never.reason, 'crashed')
  const silent = await explainFailure({ ...runtime, inspectId: () => Promise.reject(new Error('silent')) }, early)
  assert.equal(silent.reason, 'crashed')
})
