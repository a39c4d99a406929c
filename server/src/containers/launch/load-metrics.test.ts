import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HostReport } from '#/engines/runtime.ts'
import { LaunchMetrics, LoadTimeSeries, type LoadTimeSeriesParts } from './load-metrics.ts'

const minute = 60_000

function begin(fields: Partial<LoadTimeSeriesParts> = {}) {
  const launchMetrics = new LaunchMetrics()
  const admission = { counts: () => ({ waiting: 3, underWay: 1, parallel: 4 }) }
  const hostResources = { report: undefined }
  const history = new LoadTimeSeries({ admission, capacity: { running: 7 }, hostResources, launchMetrics, ...fields })
  let minutes = 0
  const pass = (count: number, each: () => void = () => undefined) => {
    for (let one = 0; one < count; one++) {
      each()
      history.sample(new Date(++minutes * minute))
    }
  }
  return { launchMetrics, history, pass }
}

test('a sample says how things are, and what happened since the one before', () => {
  const report = { memory: { total: 9, available: 5 }, disk: { total: 8, free: 4 } } as HostReport
  const { launchMetrics, history, pass } = begin({ hostResources: { report } })
  launchMetrics.failed()
  pass(1)
  for (const seconds of [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]) launchMetrics.launched(seconds * 1_000)
  launchMetrics.launched(undefined)
  pass(1)
  const same = { running: 7, waiting: 3, memoryLeft: 5, diskLeft: 4 }
  assert.deepEqual(history.samples(), [
    { ...same, at: new Date(minute), launched: 0, failed: 1, readySeconds: null },
    { ...same, at: new Date(2 * minute), launched: 11, failed: 0, readySeconds: { median: 5, p90: 9 } },
  ])
})

test('what happened since the last sample is reported before the next one has it', () => {
  const { launchMetrics, history, pass } = begin()
  pass(1)
  launchMetrics.launched(2_000)
  const told = () => history.current(new Date(90_000)).launched
  assert.deepEqual([told(), told()], [1, 1])
  pass(1)
  assert.deepEqual([told(), history.samples().at(-1)?.launched], [0, 1])
})

test('what the host has left is null until it is known', () => {
  const { history, pass } = begin()
  pass(1)
  const [sample] = history.samples()
  assert.deepEqual([sample?.memoryLeft, sample?.diskLeft], [null, null])
})

test('the last two hours are there by the minute, before that one in ten, and nothing is older than a day', () => {
  const { launchMetrics, history, pass } = begin()
  pass(3 * 24 * 60, () => launchMetrics.launched(2_000))
  const samples = history.samples()
  const [first, last] = [samples[0], samples.at(-1)]
  assert.ok(samples.length <= 132 + 130)
  assert.equal(last?.at.getTime(), 3 * 24 * 60 * minute)
  const gaps = samples.slice(1).map(({ at }, index) => at.getTime() - (samples[index]?.at.getTime() ?? 0))
  assert.ok(gaps.slice(-119).every((gap) => gap === minute))
  assert.deepEqual(new Set(gaps), new Set([minute, 10 * minute]))
  const span = (last?.at.getTime() ?? 0) - (first?.at.getTime() ?? 0)
  assert.ok(span > 23.5 * 60 * minute && span <= 24 * 60 * minute, `${span / minute} minutes`)
  assert.deepEqual([first?.launched, first?.readySeconds, last?.launched], [10, { median: 2, p90: 2 }, 1])
})

test('what happened is neither lost nor told twice when samples are merged', () => {
  const { launchMetrics, history, pass } = begin()
  let launches = 0
  pass(300, () => {
    for (let each = 0; each < launches % 3; each++) launchMetrics.launched(1_000)
    if (launches++ % 5 === 0) launchMetrics.failed()
  })
  const sum = (numberOf: (sample: { launched: number; failed: number }) => number) =>
    history.samples().reduce((total, sample) => total + numberOf(sample), 0)
  assert.deepEqual([sum(({ launched }) => launched), sum(({ failed }) => failed)], [300, 60])
})

test('of more launches than are remembered the latest are taken', () => {
  const { launchMetrics, history, pass } = begin()
  pass(1)
  for (let each = 1; each <= 1_500; each++) launchMetrics.launched(each <= 500 ? 900_000 : 1_000)
  pass(1)
  const last = history.samples().at(-1)
  assert.deepEqual([last?.launched, last?.readySeconds], [1_500, { median: 1, p90: 1 }])
})
