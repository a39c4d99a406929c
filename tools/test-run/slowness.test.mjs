import assert from 'node:assert/strict'
import { test } from 'node:test'
import { measureSlowness, slownessOf } from './slowness.mjs'

test('a machine that is as quick as the reference, or quicker, has the limits as they are written, and one ten times slower has them all', () => {
  assert.deepEqual([slownessOf(137, 137.5), slownessOf(40, 137.5)], [1, 1])
  assert.equal(slownessOf(357.5, 137.5), 2.6)
  assert.equal(slownessOf(60_000, 137.5), 12)
})

test('processes side by side are measured on this machine', async () => {
  const slowness = await measureSlowness(2)
  assert.ok(slowness >= 1 && slowness <= 12, String(slowness))
})
