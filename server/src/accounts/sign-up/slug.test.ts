import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deriveSlug } from './slug.ts'

test('a slug is what letters and digits the local part has, at most 24 of them', () => {
  assert.equal(deriveSlug('ann@example.org'), 'ann')
  assert.equal(deriveSlug('ann.b+lab-1@example.org'), 'annblab1')
  assert.equal(deriveSlug(`${'x'.repeat(60)}@example.org`), 'x'.repeat(24))
})

test('an address without letters or digits in its local part gets the slug "user"', () => {
  assert.equal(deriveSlug('+_@example.org'), 'user')
})
