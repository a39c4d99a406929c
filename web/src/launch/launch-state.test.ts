import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '@berth/api/client.ts'
import type { LaunchEvent } from '@berth/api/schemas/container.ts'
import { failureOf, withLaunch, without, type Launches } from './launch-state.ts'

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
