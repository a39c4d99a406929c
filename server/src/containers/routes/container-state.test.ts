import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isWakeable, unavailable } from '@berth/gateway/port/gateway.ts'
import type { RuntimeContainer } from '#/engines/runtime.ts'
import { sinceOf, upstreamOf, type ContainerState } from './container-state.ts'

const owner = { userId: 1, slug: 'ann', type: 'dev' }
const seenAs = (state: string, fields: Partial<RuntimeContainer> = {}) =>
  ({
    id: 'c1',
    owner,
    state,
    address: null,
    port: 8080,
    exitCode: null,
    isOutOfMemory: false,
    ...fields,
  }) as RuntimeContainer
const stateOf = (seen: ContainerState['seen'], fields: Partial<ContainerState> = {}): ContainerState => {
  const known = { userId: 1, type: 'dev', recordId: 1, prefix: 'ann-dev', containerId: 'c1', isBlocked: false }
  return {
    ...known,
    wasStopped: false,
    stopReason: null,
    since: null,
    isStopRequested: false,
    isRetired: false,
    isKeptStopped: true,
    failure: undefined,
    seen,
    ...fields,
  }
}
const where = (...parts: Parameters<typeof stateOf>) => {
  const found = upstreamOf(stateOf(...parts))
  return 'reason' in found ? `${found.reason} ${found.exitCode}` : `${found.host} ${found.isPaused ? 'paused' : 'runs'}`
}

test('what runs or is paused has its address', () => {
  assert.equal(where(seenAs('running', { address: '172.18.0.2' })), '172.18.0.2 runs')
  assert.equal(where(seenAs('paused', { address: '172.18.0.2' })), '172.18.0.2 paused')
  assert.equal(where(seenAs('running')), 'failed null')
})

test('what ended without a fault sleeps; with one it says so', () => {
  for (const exitCode of [0, 137, 143]) assert.equal(where(seenAs('exited', { exitCode })), `asleep ${exitCode}`)
  assert.equal(where(seenAs('exited', { exitCode: 1 })), 'crashed 1')
  assert.equal(where(seenAs('exited', { exitCode: 137, isOutOfMemory: true })), 'out-of-memory 137')
  assert.equal(where(seenAs('created')), 'asleep null')
})

test('what Berth stopped has done nothing wrong, whatever it ended with', () => {
  const wasStopped = true
  assert.equal(where(seenAs('exited', { exitCode: 1 }), { wasStopped }), 'asleep 1')
  assert.equal(where(seenAs('exited', { exitCode: 137, isOutOfMemory: true }), { wasStopped }), 'asleep 137')
})

test('without a container, and with one of another owner, it is missing', () => {
  assert.equal(where(undefined, { containerId: null }), 'missing null')
  assert.equal(where('gone'), 'missing null')
  for (const other of [null, { ...owner, userId: 2 }, { ...owner, type: 'prod' }])
    assert.equal(where(seenAs('running', { address: '172.18.0.2', owner: other })), 'missing null')
})

test('what was retired sleeps, unless its last launch failed', () => {
  const retired = { containerId: null, isRetired: true }
  assert.equal(where(undefined, retired), 'asleep null')
  assert.equal(where(undefined, { ...retired, failure: unavailable('no-image') }), 'no-image null')
})

test('why a launch failed counts where nothing runs, but not before the end of a program', () => {
  const failure = unavailable('no-image')
  assert.equal(where('gone', { failure }), 'no-image null')
  assert.equal(where(seenAs('created'), { failure }), 'no-image null')
  assert.equal(where(seenAs('exited', { exitCode: 127 }), { failure: unavailable('failed') }), 'crashed 127')
  assert.equal(where(seenAs('running', { address: '172.18.0.2' }), { failure }), '172.18.0.2 runs')
})

test('where the engine keeps no stopped containers, one that is gone sleeps, and its last failure is reported', () => {
  assert.equal(where('gone'), 'missing null')
  assert.equal(where('gone', { isKeptStopped: false }), 'asleep null')
  assert.equal(where('gone', { isKeptStopped: false, containerId: null }), 'missing null')
  const failure = { reason: 'no-image', exitCode: null } as const
  assert.equal(where('gone', { isKeptStopped: false, failure }), 'no-image null')
})

test('what its cluster ended says so and wakes as one that is asleep, unless Berth had stopped it', () => {
  const evicted = seenAs('exited', { exitCode: 137, disruption: 'evicted' })
  assert.equal(where(evicted, { isKeptStopped: false }), 'evicted null')
  assert.equal(where(evicted, { isKeptStopped: false, wasStopped: true }), 'asleep 137')
  const failure = unavailable('evicted')
  assert.equal(where('gone', { isKeptStopped: false, failure }), 'evicted null')
  assert.ok(isWakeable(failure))
  assert.ok(!isWakeable(unavailable('crashed', 1)))
})

test('one whose node does not answer says so, also when Berth wants it to stop', () => {
  const lost = seenAs('removing', { disruption: 'node-lost' })
  assert.equal(where(lost, { isKeptStopped: false }), 'node-lost null')
  assert.equal(where(lost, { isKeptStopped: false, wasStopped: true }), 'node-lost null')
  assert.equal(where(seenAs('removing'), { isKeptStopped: false }), 'asleep null')
})

test('it runs since its program was started, or else since when it is to run; what Berth stopped says when and why', () => {
  const at = (ms: number) => new Date(ms).toISOString()
  const runs = (startedAt: number | null) => stateOf(seenAs('running', { startedAt }), { since: 2_000 })
  assert.deepEqual(sinceOf(runs(1_000), 'running'), { since: at(1_000) })
  assert.deepEqual(sinceOf(runs(null), 'running'), { since: at(2_000) })
  const ended = stateOf(seenAs('exited', { startedAt: 1_000 }), { since: 2_000 })
  assert.deepEqual(sinceOf(ended, 'asleep'), {}, 'Berth did not stop it')
  const stopped = { ...ended, wasStopped: true }
  assert.deepEqual(sinceOf(stopped, 'asleep'), { since: at(2_000) })
  assert.deepEqual(sinceOf({ ...stopped, stopReason: 'idle' }, 'asleep'), { since: at(2_000), why: 'idle' })
  assert.deepEqual(sinceOf({ ...stopped, stopReason: 'idle' }, 'blocked'), {})
})
