import assert from 'node:assert/strict'
import { test } from 'node:test'
import { initialEventState, reduceEvents } from './event-reducer.ts'

const launch = (type: string, stage: string) => ({ name: 'launch', data: { type, stage } })
const disk = (type: string | null, used: number, measured = true) => ({
  name: 'disk',
  data: { type, used: used * 2 ** 30, limit: 10 * 2 ** 30, measured },
})

test('a snapshot replaces the state of all launches and disks', () => {
  const before = reduceEvents(initialEventState, [
    launch('dev', 'starting'),
    launch('prod', 'creating'),
    disk(null, 9.5),
  ])
  const after = reduceEvents(before, [{ name: 'snapshot', data: {} }, launch('dev', 'waiting')])
  assert.deepEqual([[...after.launches.keys()], after.disks.size], [['dev'], 0])
})

test('a nearly full home is listed until an event reports space again', () => {
  const full = reduceEvents(initialEventState, [disk('dev', 9.2), disk(null, 9.9), disk('dev', 9.5)])
  assert.equal(full.disks.get('dev')?.used, 9.5 * 2 ** 30)
  assert.deepEqual([...reduceEvents(full, [disk('dev', 8.9)]).disks.keys()], [null])
})

test('what a container has written outside of its home is listed until it is less again, or the container stops', () => {
  const layer = (used: number) => ({ name: 'layer', data: { type: 'dev', used, limit: 100 } })
  const near = reduceEvents(initialEventState, [layer(92), layer(95)])
  assert.equal(near.layers.get('dev')?.used, 95)
  assert.equal(reduceEvents(near, [layer(89)]).layers.size, 0)
  assert.equal(reduceEvents(near, [{ name: 'container', data: { type: 'dev', status: 'asleep' } }]).layers.size, 0)
})

test('a home that cannot be measured is listed until it can be, however little was known of it', () => {
  const unmeasured = reduceEvents(initialEventState, [disk('dev', 0, false)])
  assert.equal(unmeasured.disks.get('dev')?.measured, false)
  assert.equal(reduceEvents(unmeasured, [disk('dev', 1)]).disks.size, 0)
})

test('a warning of idle suspension holds until the container is used or stops', () => {
  const idle = (at: string | null) => ({ name: 'idle', data: { type: 'dev', action: 'stop', at } })
  const stands = (status: string) => ({ name: 'container', data: { type: 'dev', status } })
  const warned = reduceEvents(initialEventState, [stands('running'), idle('2026-11-21T09:01:00.000Z')])
  assert.equal(warned.idles.get('dev')?.at, '2026-11-21T09:01:00.000Z')
  assert.equal(reduceEvents(warned, [stands('running')]).idles.size, 1)
  assert.equal(reduceEvents(warned, [idle(null)]).idles.size, 0)
  assert.equal(reduceEvents(warned, [stands('asleep')]).idles.size, 0)
})

// A user was told "This container is blocked" after the unblock, until the page was loaded anew.
test('a launch that a block ended is forgotten with the block, and one that failed for itself is not', () => {
  const stands = (status: string) => ({ name: 'container', data: { type: 'dev', status } })
  const blocked = reduceEvents(initialEventState, [launch('dev', 'failed'), stands('blocked')])
  assert.equal(blocked.launches.size, 1)
  assert.equal(reduceEvents(blocked, [stands('asleep')]).launches.size, 0)
  assert.equal(reduceEvents(blocked, [launch('dev', 'queued'), stands('running')]).launches.size, 1)
  const failed = reduceEvents(initialEventState, [stands('running'), launch('dev', 'failed'), stands('crashed')])
  assert.equal(failed.launches.size, 1)
})

test('a takeover is sent once, so a snapshot does not remove it', () => {
  const takeover = { by: 'root@x.org', reason: 'You asked', until: '2026-11-21T09:15:00.000Z' }
  const told = reduceEvents(initialEventState, [
    { name: 'takeover', data: takeover },
    { name: 'snapshot', data: {} },
  ])
  assert.deepEqual(told.takeover, takeover)
})
