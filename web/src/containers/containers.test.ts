import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ContainerEntry } from '@berth/api/schemas/user.ts'
import { isFirstVisit, needsRefresh, applyEvents } from './containers.ts'

const entry = (type: string, status: string): ContainerEntry => ({
  type,
  display_name: type,
  description: '',
  status,
  service_url: `http://x.test/ann-${type}`,
  container_id: status === 'not_created' ? null : 'c1',
  created_at: null,
  last_used: null,
  is_blocked: false,
  blocked_at: null,
})
const stands = (type: string, status: string) => ({ name: 'container', data: { type, status } })
const launch = (type: string, stage: string) => ({ name: 'launch', data: { type, stage } })
const snapshot = { name: 'snapshot', data: {} }
const entries = [entry('dev', 'running'), entry('prod', 'not_created')]
const statusOf = (told: string, before = 'running') =>
  applyEvents([entry('dev', before)], [stands('dev', told)])[0]?.status

test('an event changes the status of a container at once, in the words of the list', () => {
  assert.deepEqual(
    ['paused', 'asleep', 'crashed', 'missing', 'unknown'].map((told) => statusOf(told)),
    ['paused', 'exited', 'exited', 'not_found', 'error'],
  )
  assert.equal(applyEvents(entries, [stands('dev', 'blocked')])[0]?.is_blocked, true)
  assert.equal(statusOf('running', 'not_created'), 'running')
})

test('of several events about a container the last one counts', () => {
  assert.equal(applyEvents(entries, [stands('dev', 'asleep'), stands('dev', 'running')])[0]?.status, 'running')
})

test('an event with the status that is shown changes nothing', () => {
  const shown = [entry('dev', 'created'), entry('prod', 'not_created')]
  assert.equal(
    applyEvents(shown, [stands('dev', 'asleep'), stands('prod', 'missing'), stands('lab', 'running')]),
    shown,
  )
})

test('a changed container and an ended launch cause a refresh; a position in the queue does not', () => {
  assert.equal(needsRefresh(entries, [launch('dev', 'queued'), launch('dev', 'starting')]), false)
  for (const event of [stands('dev', 'running'), launch('dev', 'ready'), launch('dev', 'failed')])
    assert.equal(needsRefresh(entries, [event]), true)
})

test('a snapshot causes a refresh when it differs from what is shown', () => {
  assert.equal(needsRefresh(undefined, [snapshot, stands('dev', 'running')]), false)
  assert.equal(needsRefresh(entries, [snapshot, stands('dev', 'running'), stands('prod', 'missing')]), false)
  assert.equal(needsRefresh(entries, [snapshot, stands('dev', 'asleep')]), true)
})

test('the first visit is one before any launch but that of the sign-up', () => {
  const now = Date.parse('2026-11-21T09:00:00Z')
  const justNow = '2026-11-21T08:50:00.000Z'
  const never = [entry('dev', 'not_created'), entry('prod', 'not_created')]
  assert.equal(isFirstVisit(never, null, now), true)
  assert.equal(isFirstVisit(entries, justNow, now), true)
  assert.equal(isFirstVisit(entries, '2026-11-20T09:00:00.000Z', now), false)
  assert.equal(isFirstVisit([entry('dev', 'not_created'), entry('prod', 'exited')], justNow, now), false)
  assert.equal(isFirstVisit([], justNow, now), false)
})
