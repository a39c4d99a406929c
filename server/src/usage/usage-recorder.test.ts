import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ContainerState } from '#/containers/routes/container-state.ts'
import { UsageRecorder, savedBy, sumsOf } from './usage-recorder.ts'

const known = { userId: 1, type: 'dev' } as ContainerState
const minute = 60_000
const wall = Date.parse('2026-01-01T23:59:30Z')

function recorderOf(state: { isPaused: boolean; lastUse: number; gpuIds?: string[]; gpus?: number }) {
  return new UsageRecorder({
    routeSync: {
      *running() {
        const seen = state.gpuIds && { gpuIds: state.gpuIds }
        yield { known: { ...known, seen } as ContainerState, isPaused: state.isPaused }
      },
    },
    activity: { lastOf: () => state.lastUse },
    templates: { get: () => ({ cpus: 2, memory: 1_073_741_824, gpus: state.gpus ?? 0 }) as never },
    timeZone: 'Europe/Berlin',
  })
}

test('a container in use, idle and paused adds to its sums, on the day of the time zone', () => {
  const state = { isPaused: false, lastUse: 0 }
  const recorder = recorderOf(state)
  recorder.sample(0, wall)
  state.lastUse = 30_000
  recorder.sample(minute, wall)
  recorder.sample(35 * minute, wall)
  state.isPaused = true
  recorder.sample(36 * minute, wall)
  const [pending, ...others] = recorder.take()
  assert.deepEqual(others, [])
  assert.equal(pending?.day, '2026-01-02')
  const { running_s, paused_s, used_s, core_s, memory_mib_s, idle_30_s } = pending.sums
  // A gap counts for two minutes at most: what ran in it is not known.
  assert.deepEqual([running_s, paused_s, used_s, idle_30_s], [240, 60, 60, 120])
  assert.deepEqual([core_s, memory_mib_s], [360, 240 * 1_024])
  assert.deepEqual(recorder.take(), [])
})

test('GPUs count while a container runs or is paused: those that it has, or as many as its template asks for', () => {
  const gpusOf = (state: Parameters<typeof recorderOf>[0]) => {
    const recorder = recorderOf(state)
    recorder.sample(0, wall)
    recorder.sample(minute, wall)
    return recorder.take()[0]?.sums.gpu_s
  }
  assert.equal(gpusOf({ isPaused: false, lastUse: 0 }), 0)
  assert.equal(gpusOf({ isPaused: false, lastUse: 0, gpus: 2 }), 120)
  // Its template asks for one by now, and it has two until it is made anew.
  assert.equal(gpusOf({ isPaused: true, lastUse: 0, gpus: 1, gpuIds: ['0', '3'] }), 120)
})

test('an idle stop would have saved all time for which a container was idle for longer', () => {
  const at = (minutes: number) =>
    sumsOf({ seconds: 60, isPaused: false, isUsed: false, idleFor: minutes * 60, cores: 1, memory: 0 })
  assert.deepEqual(
    [4, 5, 29, 30, 300].map((minutes) => savedBy(30, at(minutes))),
    [0, 0, 0, 60, 60],
  )
  assert.equal(savedBy(5, at(300)), 60)
})
