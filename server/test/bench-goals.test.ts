import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryIn, memoryOf, plainSum, sharedOnce } from '../../bench/process-memory.ts'

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
