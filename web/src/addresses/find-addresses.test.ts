import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findAddresses } from './find-addresses.ts'

test('each address and each line without one has the number that editors and spreadsheets show', () => {
  const table = 'Name;E-Mail\r\nAnn;ann@x.org\r\n\r\nOtto;\r\nBen;ben@x.org\r\nAnn again;ANN@x.org\r\n'
  assert.deepEqual(findAddresses(table), {
    addresses: [
      { line: 2, text: 'ann@x.org' },
      { line: 5, text: 'ben@x.org' },
    ],
    rejected: [{ line: 4, text: 'Otto;' }],
    columns: [],
    column: undefined,
  })
})

test('ten thousand lines are read within five seconds', () => {
  const lines = Array.from({ length: 10_000 }, (_, at) => `"Pupil ${at}";pupil${at}@school.example;7b`)
  const withParents = lines.map((line, at) => `${line};parent${at}@y.example`)
  const began = performance.now()
  assert.equal(findAddresses(lines.join('\n')).addresses.length, 10_000)
  assert.equal(findAddresses(withParents.join('\n'), '1 ').addresses.length, 10_000)
  assert.ok(performance.now() - began < 5_000)
})
