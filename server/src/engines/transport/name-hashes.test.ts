import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NameHashes } from './name-hashes.ts'

test('names that were added are there, also after it has grown, and no others', () => {
  const names = new NameHashes()
  const count = 50_000
  for (let at = 0; at < count; at++) names.add(`folder/${at % 40_000}`)
  for (let at = 0; at < count; at++) assert.equal(names.has(`folder/${at}`), at < 40_000, String(at))
  assert.equal(names.has(''), false)
})
