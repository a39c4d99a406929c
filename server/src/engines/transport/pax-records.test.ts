import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fillingRecord, paxValues, visitPaxRecords } from './pax-records.ts'

/** Extended headers of tar archives, of which users send those that no program writes. */
const recordsIn = (text: string) => {
  const bytes = Buffer.from(text)
  const found: [string, string][] = []
  visitPaxRecords(bytes, (start, key, equals, end) => {
    assert.equal(found.length === 0, start === 0)
    found.push([bytes.toString('utf8', key, equals), bytes.toString('utf8', equals + 1, end - 1)])
  })
  return found
}

test('records are read one after the other, whatever is in their values', () => {
  const expected = [
    ['path', 'a b/ä'],
    ['a', 'b=c'],
    ['x', '9 y=z\n'],
    ['k', ''],
  ]
  assert.deepEqual(recordsIn('15 path=a b/ä\n8 a=b=c\n12 x=9 y=z\n\n5 k=\n'), expected)
  assert.deepEqual(recordsIn(''), [])
  assert.deepEqual(paxValues(Buffer.from('9 size=1\n10 sizes=\n11 size=22\n'), 'size'), ['1', '22'])
})

test('what is no record to its end is refused', () => {
  const wrong = ['x', '5', '5 ', '5 k', '5 k=', '5 k=x', '4 k=\n', '6 k=\n', '05 k=\n', ' 5 k=\n', '+5 k=\n']
  for (const text of [
    ...wrong,
    '5 =x\n',
    '6 kx\n\n',
    '5 kx\n6 a=b\n',
    '1e1 k=xx\n',
    '0 k=\n',
    `${'1'.repeat(12)} k=\n`,
    'é k=\n',
  ])
    assert.throws(() => recordsIn(text), text)
})

test('a filling record has any length from five bytes on', () => {
  for (let bytes = 5; bytes < 1_200; bytes++) {
    const record = fillingRecord(bytes)
    assert.equal(record.length, bytes)
    assert.equal(recordsIn(record.toString()).length, 1, String(bytes))
  }
})
