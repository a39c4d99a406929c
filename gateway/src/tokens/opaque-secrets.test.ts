import assert from 'node:assert/strict'
import { test } from 'node:test'
import { randomText } from './opaque-secrets.ts'

test('no two texts are equal or overlap, also where the pool is filled anew', () => {
  const texts = Array.from({ length: 1_000 }, () =>
    Buffer.from(randomText(16, 'base64url'), 'base64url').toString('hex'),
  )
  assert.ok(texts.every((text) => text.length === 32))
  const halves = texts.flatMap((text) => [text.slice(0, 16), text.slice(16)])
  assert.equal(new Set(halves).size, 2_000)
  assert.ok(!halves.includes('0'.repeat(16)), 'the pool is filled before its first use')
})

test('a text is as long as its bytes, whatever was asked for before', () => {
  for (const bytes of [1, 22, 2_048, 2_047, 16]) {
    assert.equal(Buffer.from(randomText(bytes, 'base64'), 'base64').length, bytes)
  }
})
