import assert from 'node:assert/strict'
import { test } from 'node:test'
import { missedAnswers, none } from '../../bench/fleet/refusals.ts'
import { memoryIn, memoryOf, plainSum, sharedOnce } from '../../bench/process-memory.ts'
import { missedBesideBuild, missedBesideStreams } from '../../bench/goals.ts'

/** What the benches compare with their goals: a bench that cannot fail proves nothing. */

const status = (peak: number, resident: number, own: number, files: number) =>
  `Name:\tnode\nVmHWM:\t ${peak} kB\nVmRSS:\t ${resident} kB\nRssAnon:\t ${own} kB\nRssFile:\t ${files} kB\nRssShmem:\t 0 kB\n`

test('of the memory of two processes the files that both map count once', () => {
  const gateway = memoryIn(status(204_800, 131_072, 69_632, 61_440))
  const api = memoryIn(status(409_600, 307_200, 235_520, 71_680))
  assert.deepEqual(gateway, { resident: 128, peak: 200, own: 68, files: 60 })
  assert.equal(sharedOnce([gateway, api]), 68 + 230 + 70)
  assert.equal(plainSum([gateway, api]), 128 + 300)
})

test('memory that Linux does not tell is no memory of 0', () => {
  assert.throws(() => memoryIn('Name:\tnode\nVmRSS:\t 1 kB\n'), /no VmHWM/)
})

test('memory of a process is what Node itself reads', () => {
  const { resident, peak, own, files } = memoryOf(process.pid)
  const node = process.memoryUsage.rss() / 1024 ** 2
  assert.ok(Math.abs(resident - node) < 16, `${resident} MB, and ${node} MB by Node`)
  assert.ok(peak >= resident - 1 && own + files <= resident + 1)
})

const answers = (count: number, refused: [request: 'launch' | 'page', sentAt: number][]) => ({
  times: new Map([['launch' as const, Array.from({ length: count }, () => 1)]]),
  refused: refused.map(([request, sentAt]) => ({ request, sentAt, why: '500 full' })),
})

test('a morning in which one launch is refused misses its goal', () => {
  assert.deepEqual(missedAnswers(answers(2_000, []), none), [])
  assert.deepEqual(missedAnswers(answers(2_000, [['launch', 1]]), none), ['launch was refused 1 times: 500 full'])
})

test('what an engine that is away refuses is expected, until it had time to come back', () => {
  const expected = { requests: ['page'], until: 10 } as const
  assert.deepEqual(missedAnswers(answers(4, [['page', 9]]), expected), [])
  assert.deepEqual(missedAnswers(answers(4, [['page', 11]]), expected), ['page was refused 1 times: 500 full'])
  assert.deepEqual(missedAnswers(answers(4, [['launch', 9]]), expected), ['launch was refused 1 times: 500 full'])
})

test('in a storm a small share of the requests may be refused', () => {
  const expected = { requests: ['page'], share: 0.01 } as const
  assert.deepEqual(missedAnswers(answers(100, [['page', 1]]), expected), [])
  const two = answers(100, [
    ['page', 1],
    ['page', 2],
  ])
  assert.deepEqual(missedAnswers(two, expected), ['2 of 100 requests were refused'])
})

test('a launch, ping or list that is slower beside open streams, and a stream that is refused, miss a goal', () => {
  const sample = { launch: [300, 310, 320], ping: [1, 1, 9], list: [3, 3, 3] }
  assert.deepEqual(missedBesideStreams(sample, { ...sample, launch: [350, 372, 373] }, [200, 200]), [])
  assert.deepEqual(missedBesideStreams(sample, { ...sample, list: [2, 4, 5] }, [200]), [
    'list took 1.33 times as long at the median',
  ])
  assert.deepEqual(missedBesideStreams(sample, sample, [200, 503]), ['1 streams were refused: 503'])
  assert.equal(missedBesideStreams(sample, { ...sample, ping: [] }, [200]).length, 1)
})

test('launches that take more than 1.3 times as long beside a build miss their goal', () => {
  const alone = Array.from({ length: 100 }, (_, at) => 200 + at)
  const times = (factor: number) => alone.map((ms) => ms * factor)
  assert.deepEqual(missedBesideBuild(alone, times(1.3)), [])
  assert.deepEqual(missedBesideBuild(alone, times(1.31)), [
    'launches beside a build took 1.31 times as long at the 95th percentile',
  ])
  assert.equal(missedBesideBuild(alone, []).length, 1)
})
