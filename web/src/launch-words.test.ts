import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LaunchEvent } from '@berth/api/container.ts'
import { factsOf, stageView } from './launch-words.ts'

const pull = (layers: [number, number], bytes: [number, number]): LaunchEvent => ({
  type: 'dev',
  stage: 'pulling',
  layers_done: layers[0],
  layers_total: layers[1],
  bytes_done: bytes[0],
  bytes_total: bytes[1],
})

const cases: [LaunchEvent, string, number | undefined][] = [
  [{ type: 'dev', stage: 'queued', place: 12, waiting: 40 }, 'Waiting: place 12 of 40', undefined],
  [pull([3, 7], [120e6, 400e6]), 'Fetching the image: 3 of 7 layers, 120 of 400 MB', 0.3],
  [pull([1, 2], [1.25e9, 3.4e9]), 'Fetching the image: 1 of 2 layers, 1.3 of 3.4 GB', 1.25 / 3.4],
  [pull([0, 1], [0, 2_000]), 'Fetching the image: 0 of 1 layers, 0 of 2 kB', 0],
  [pull([1, 4], [0, 0]), 'Fetching the image: 1 of 4 layers', 0.25],
  [pull([0, 0], [0, 0]), 'Fetching the image', undefined],
  [pull([2, 2], [5e6, 4e6]), 'Fetching the image: 2 of 2 layers, 5 of 4 MB', 1],
  [{ type: 'dev', stage: 'creating' }, 'Creating the container', undefined],
  [{ type: 'dev', stage: 'starting' }, 'Starting the container', undefined],
  [{ type: 'dev', stage: 'waiting' }, 'Waiting for the app', undefined],
]

for (const [event, words, share] of cases) {
  test(`the stage ${event.stage} is shown as "${words}"`, () => {
    const view = stageView(event)
    assert.deepEqual([view?.words, view?.share], [words, share])
  })
}

test('when it is ready there is nothing to wait for', () => {
  assert.equal(stageView({ type: 'dev', stage: 'ready' }), undefined)
})

test('how a program ended is said unless the sentence about it says it already', () => {
  assert.equal(factsOf({ error: 'It ended (exit code 3).', exit_code: 3, is_out_of_memory: false, last_lines: [] }), '')
  assert.equal(
    factsOf({ error: 'It ended.', exit_code: 137, is_out_of_memory: true }),
    'It ran out of memory. Its exit code was 137.',
  )
  assert.equal(factsOf({ error: 'The server is full.', reason: 'full' }), '')
})
