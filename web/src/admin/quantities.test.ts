import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFormatter } from 'use-intl/core'
import { quantitiesWith } from './quantities.ts'

const inLanguage = (locale: 'en' | 'de') => {
  const { number } = createFormatter({ locale, timeZone: 'UTC' })
  return quantitiesWith((value, options) => number(value, options))
}
const [english, german] = [inLanguage('en'), inLanguage('de')]
/** The space before a unit is non-breaking; here it is an ordinary one. */
const plain = (text: string) => text.replaceAll('\u00A0', ' ')

test('bytes are written in binary units, with a decimal where it is significant', () => {
  const written = [0, 1023, 1536, 5 * 2 ** 20, 1.44 * 2 ** 30, 42.4 * 2 ** 30, 3 * 2 ** 40].map(english.bytes)
  const expected = ['0 B', '1,023 B', '1.5 KiB', '5 MiB', '1.4 GiB', '42 GiB', '3 TiB']
  assert.deepEqual(written.map(plain), expected)
  assert.equal(plain(german.bytes(1.44 * 2 ** 30)), '1,4 GiB')
})

test('durations are written in the largest units that fit', () => {
  const written = [0, 0.34, 0.9999, 1.44, 9.99, 42, 59.9, 120, 3_599, 12_000, 13 * 3_600].map(english.duration)
  const expected = ['0 s', '340 ms', '1 s', '1.4 s', '10 s', '42 s', '1 min', '2 min', '1 h', '3 h 20 min', '13 h']
  assert.deepEqual(written.map(plain), expected)
  assert.equal(plain(german.duration(1.44)), '1,4 s')
})

test('shares and counts follow the language', () => {
  assert.deepEqual([0.333, 0.012, 0, 1].map(english.percent), ['33%', '1.2%', '0%', '100%'])
  assert.equal(plain(german.percent(0.333)), '33 %')
  assert.deepEqual([12_345, 0.5].map(german.count), ['12.345', '0,5'])
})
