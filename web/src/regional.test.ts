import assert from 'node:assert/strict'
import { test } from 'node:test'
import { regional } from './regional.ts'

test('dates are written as in the region that the browser names, in the language that was chosen', () => {
  assert.equal(regional('en', ['de-DE', 'en-GB', 'en-US']), 'en-GB')
  assert.equal(regional('de', ['en-US', 'de-AT']), 'de-AT')
  assert.equal(regional('de', ['en-US', 'den-CA']), 'de')
})
