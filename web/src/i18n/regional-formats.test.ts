import assert from 'node:assert/strict'
import { test } from 'node:test'
import { diskUsageText, formatShare, regionalLocale, shareOf } from './regional-formats.ts'

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

// Four files of 40 bytes each were "0 kB in 4 files".
test('a size below a kilobyte is shown in bytes', () => {
  const text = (bytes: number) =>
    Object.values(formatShare(shareOf(bytes, bytes, 'decimal'), write))
      .slice(1)
      .join(' ')
  assert.deepEqual([0, 160, 1_000, 48_000_000].map(text), ['0 B', '160 B', '1 kB', '48 MB'])
})

test('dates follow the browser’s region in the chosen language', () => {
  assert.equal(regionalLocale('en', ['de-DE', 'en-GB', 'en-US']), 'en-GB')
  assert.equal(regionalLocale('de', ['en-US', 'de-AT']), 'de-AT')
  assert.equal(regionalLocale('de', ['en-US', 'den-CA']), 'de')
})
