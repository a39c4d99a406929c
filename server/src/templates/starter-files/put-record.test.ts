import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { emptyRecord, maxRecord, readRecord, writeRecord } from './put-record.ts'

/** The record lies in the home, where its owner writes what they like. */

const hash = 'a'.repeat(64)
const list = (length: number, each: (at: number) => string) => Array.from({ length }, (_, at) => each(at)).join(',')

// 16 MiB of such a text took the parser up to ten seconds, in which the API process answered no request.
test('a record that would take the parser long is not parsed, and counts as none', (t) => {
  const parse = t.mock.method(JSON, 'parse')
  const hostile = {
    keys: `{"files":{${list(100_000, (at) => `"${at}a":""`)}}}`,
    numbers: `{"files":{${list(100_000, (at) => `"${at}":""`)}}}`,
    lists: `{"put":[${list(100_000, () => '[]')}]}`,
    depth: '['.repeat(100_000),
    shapes: `[${list(100_000, (at) => `{"${at}a":1}`)}]`,
    bytes: `{"put":["${'x'.repeat(maxRecord)}"]}`,
  }
  for (const [name, text] of Object.entries(hostile)) assert.deepEqual(readRecord(text), emptyRecord, name)
  assert.equal(parse.mock.callCount(), 0)
})

test('a record of two sets of 10,000 files is read as it was written', () => {
  const paths = Array.from(
    { length: 20_000 },
    (_, at) => `course/week ${at % 40}, lesson [${at}]/notebook of ${at}.ipynb`,
  )
  const hashes = new Map(paths.map((path) => [path, hash]))
  const record = { put: new Set(['one', 'two']), hashes, unfinished: new Set<string>() }
  assert.ok(isDeepStrictEqual(readRecord(writeRecord(record).toString()), record))
  const begun = { ...record, hashes: new Map(), unfinished: new Set(paths) }
  assert.ok(isDeepStrictEqual(readRecord(writeRecord(begun).toString()), begun))
})

test('a record with more files than it may have keeps those that were put there last', () => {
  const paths = Array.from({ length: 30_000 }, (_, at) => `${'folder/'.repeat(30)}${at}`)
  const hashes = new Map(paths.map((path) => [path, hash]))
  const written = writeRecord({ put: new Set(['one']), hashes, unfinished: new Set(paths.slice(-100)) })
  assert.ok(written.length <= maxRecord)
  const read = readRecord(written.toString())
  assert.ok(read.hashes.size > 10_000, `${read.hashes.size} files`)
  assert.deepEqual([...read.hashes.keys()], paths.slice(-read.hashes.size))
  assert.deepEqual([read.put.size, read.unfinished.size], [1, 100])
})
