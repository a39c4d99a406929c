import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dockerCapabilities } from '#/engines/docker/docker-runtime.ts'
import { idleTimesOf } from './idle-times.ts'

const times = { idlePause: 60, idleTimeout: 600, idleCpu: 0.1 }

test('an engine that pauses and reports CPU time keeps the idle times of the template', () => {
  assert.deepEqual(idleTimesOf(times, dockerCapabilities), times)
})

test('where nothing can be paused, a container is stopped after idle_pause', () => {
  const engine = { pauses: false, reportsUsage: true }
  assert.deepEqual(idleTimesOf(times, engine), { idlePause: 0, idleTimeout: 60, idleCpu: 0.1 })
  assert.deepEqual(idleTimesOf({ ...times, idlePause: 0 }, engine), { idlePause: 0, idleTimeout: 600, idleCpu: 0.1 })
})

test('where no CPU time is reported, traffic alone counts as use', () => {
  assert.equal(idleTimesOf(times, { pauses: true, reportsUsage: false }).idleCpu, null)
})
