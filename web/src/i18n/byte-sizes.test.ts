import assert from 'node:assert/strict'
import { test } from 'node:test'
import { diskUsageText } from './byte-sizes.ts'

const write = (value: number, how: Intl.NumberFormatOptions) => new Intl.NumberFormat('de', how).format(value)

test('disk use is shown in the units of the limits', () => {
  assert.deepEqual(diskUsageText({ type: 'dev', used: 9.26 * 2 ** 30, limit: 10 * 2 ** 30 }, write), {
    key: 'one',
    values: { part: '9,3', whole: '10,0', unit: 'GiB' },
  })
  assert.deepEqual(diskUsageText({ type: null, used: 95 * 2 ** 20, limit: 100 * 2 ** 20 }, write), {
    key: 'all',
    values: { part: '95', whole: '100', unit: 'MiB' },
  })
})
