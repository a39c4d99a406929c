import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTranslator } from 'use-intl/core'
import { ApiError } from '@berth/api/client.ts'
import type { LaunchEvent } from '@berth/api/schemas/container.ts'
import * as everyPage from '#/i18n/english.ts'
import { inLanguage } from '#/i18n/texts.ts'
import {
  factsOf,
  failureOf,
  helpAfter,
  stageIn,
  stageShare,
  stageValues,
  stages,
  stepState,
  withLaunch,
  without,
  type Launches,
  type StageEvent,
} from './launch-state.ts'

const queued = (place: number): LaunchEvent => ({ type: 'dev', stage: 'queued', place, waiting: 40 })
const starting: LaunchEvent = { type: 'dev', stage: 'starting' }
const failed: LaunchEvent = {
  type: 'dev',
  stage: 'failed',
  reason: 'out-of-memory',
  message: 'It needed too much.',
  exit_code: 137,
  last_lines: ['Killed'],
}
const none: Launches = new Map()

test('a stage is announced when it begins, and not at each change of its numbers', () => {
  const first = withLaunch(none, queued(12))
  const later = withLaunch(withLaunch(first, queued(11)), queued(10)).get('dev')
  assert.deepEqual([later?.event, later?.began], [queued(10), queued(12)])
  assert.equal(withLaunch(first, starting).get('dev')?.began, starting)
})

test('forgetting an event keeps a newer one', () => {
  const known = withLaunch(none, starting)
  assert.equal(without(known, queued(1)), known)
  assert.equal(without(known, starting).size, 0)
})

test('a failure known from an event is shown as the response would have been', () => {
  const error = failureOf(undefined, failed)
  assert.ok(error instanceof ApiError)
  const { error: sentence, exit_code, is_out_of_memory, last_lines } = error.body
  assert.deepEqual([sentence, exit_code, is_out_of_memory, last_lines], ['It needed too much.', 137, true, ['Killed']])
})

test('after the server’s timeout no failure is shown while the launch is under way, and then how it ended', () => {
  for (const late of [
    new ApiError(500, { error: 'Your container waits for its turn.' }),
    new DOMException('signal timed out', 'TimeoutError'),
  ]) {
    assert.equal(failureOf(late, queued(3)), undefined)
    assert.equal((failureOf(late, failed) as Error).message, 'It needed too much.')
    assert.equal(failureOf(late, undefined), late)
  }
})

test('a refusal is shown whatever events arrived', () => {
  for (const refusal of [
    new ApiError(403, { error: 'This container is blocked.' }),
    new ApiError(500, { error: 'The server is full.', reason: 'full' }),
    new TypeError('Failed to fetch'),
  ]) {
    assert.equal(failureOf(refusal, starting), refusal)
    assert.equal(failureOf(refusal, undefined), refusal)
  }
})

test('a launch that its owner stopped is not shown as a failure', () => {
  const stopped: LaunchEvent = { ...failed, reason: 'stopped', exit_code: null, last_lines: [] }
  assert.equal(failureOf(undefined, stopped), undefined)
  assert.equal(failureOf(new ApiError(500, { error: 'It was stopped.', reason: 'stopped' }), undefined), undefined)
})

const pull = (layers: [number, number], bytes: [number, number]): StageEvent => ({
  type: 'dev',
  stage: 'pulling',
  layers_done: layers[0],
  layers_total: layers[1],
  bytes_done: bytes[0],
  bytes_total: bytes[1],
})

/** The sentence of a stage as pages show it. */
function sentenceOf(event: StageEvent, locale: 'en' | 'de'): string {
  const t = createTranslator({ locale, messages: inLanguage(everyPage, locale), namespace: 'dashboard.stage' })
  return t(
    event.stage,
    stageValues(event, (value, how) => new Intl.NumberFormat(locale, how).format(value)),
  )
}

const cases: [StageEvent, string, number | undefined][] = [
  [{ type: 'dev', stage: 'queued', place: 12, waiting: 1400 }, 'In the queue: position 12 of 1,400', undefined],
  [
    { type: 'dev', stage: 'queued', place: 1, waiting: 2, waits_for: 'gpu' },
    'All GPUs are in use: position 1 of 2',
    undefined,
  ],
  [pull([3, 7], [120e6, 400e6]), 'Downloading the image: 3 of 7 layers, 120 of 400 MB', 0.3],
  [pull([1, 2], [1.25e9, 3.4e9]), 'Downloading the image: 1 of 2 layers, 1.3 of 3.4 GB', 1.25 / 3.4],
  [pull([0, 1], [0, 2_000]), 'Downloading the image: 0 of 1 layer, 0 of 2 kB', 0],
  [pull([1, 4], [0, 0]), 'Downloading the image: 1 of 4 layers', 0.25],
  [pull([0, 0], [0, 0]), 'Downloading the image', undefined],
  [pull([2, 2], [5e6, 4e6]), 'Downloading the image: 2 of 2 layers, 5 of 4 MB', 1],
  [{ type: 'dev', stage: 'creating' }, 'Creating the container', undefined],
  [{ type: 'dev', stage: 'starting' }, 'Starting the container', undefined],
  [{ type: 'dev', stage: 'starting', waits_for: 'node' }, 'Waiting for a server with room', undefined],
  [{ type: 'dev', stage: 'starting', waits_for: 'volume' }, 'Waiting for the storage of your files', undefined],
  [{ type: 'dev', stage: 'waiting' }, 'Waiting for the app', undefined],
]

for (const [event, words, share] of cases) {
  test(`the stage ${event.stage} is shown as "${words}"`, () => {
    assert.deepEqual([sentenceOf(event, 'en'), stageShare(event)], [words, share])
  })
}

test('numbers of a stage are formatted in German', () => {
  assert.equal(
    sentenceOf(pull([1, 2], [1.25e9, 3.4e9]), 'de'),
    'Image wird heruntergeladen: 1 von 2 Schichten, 1,3 von 3,4 GB',
  )
})

test('a launch that is ready has no stage', () => {
  const ready: LaunchEvent = { type: 'dev', stage: 'ready' }
  assert.deepEqual([stageIn(ready), stageIn(undefined)], [undefined, undefined])
})

test('all steps are listed from the beginning, and a skipped one counts as done', () => {
  const shown = (now?: StageEvent['stage']) => stages.map((stage) => stepState(stage, now)).join(' ')
  assert.equal(shown(), 'next next next next next')
  assert.equal(shown('queued'), 'now next next next next')
  assert.equal(shown('starting'), 'done done done now next')
  assert.equal(shown('waiting'), 'done done done done now')
})

test('the end of a program is described unless the server’s sentence describes it', () => {
  const none = { isOutOfMemory: false, exitCode: undefined }
  assert.deepEqual(factsOf({ error: 'It ended (exit code 3).', exit_code: 3, is_out_of_memory: false }), none)
  assert.deepEqual(factsOf({ error: 'Es endete mit 13.', exit_code: 3 }), { ...none, exitCode: 3 })
  const killed = { error: 'It ended.', exit_code: 137, is_out_of_memory: true }
  assert.deepEqual(factsOf(killed), { isOutOfMemory: true, exitCode: 137 })
  assert.deepEqual(factsOf({ ...killed, reason: 'out-of-memory' }), none)
  assert.deepEqual(factsOf({ error: 'The server is full.', reason: 'full' }), none)
})

test('a failure for lack of memory or a command leads to the administrator, any other to another launch', () => {
  const helps = ['out-of-memory', 'no-image', 'crashed', 'full', 'engine', 'failed', undefined].map((reason) =>
    helpAfter(reason === undefined ? {} : { reason }),
  )
  assert.deepEqual(helps, ['contact', 'contact', 'retry', 'retry', 'retry', 'retry', 'retry'])
  // A missing command once led to "Start it again".
  assert.deepEqual(
    [126, 127, 1].map((exit_code) => helpAfter({ reason: 'crashed', exit_code })),
    ['contact', 'contact', 'retry'],
  )
})
