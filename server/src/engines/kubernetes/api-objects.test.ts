import assert from 'node:assert/strict'
import { test } from 'node:test'
import { quantity } from './api-objects.ts'

test('quantities are read with decimal and binary units and with exponents', () => {
  const read = ['3', '500m', '1.5', '10Gi', '2k', '1e3', '500u', '0'].map(quantity)
  assert.deepEqual(read, [3, 0.5, 1.5, 10 * 2 ** 30, 2_000, 1_000, 0.0005, 0])
  for (const wrong of ['', 'Gi', '1Xi', 'ten', '1 Gi']) assert.ok(Number.isNaN(quantity(wrong)), wrong)
})
