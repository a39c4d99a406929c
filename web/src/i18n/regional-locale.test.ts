import assert from 'node:assert/strict'
import { test } from 'node:test'
import { regionalLocale } from './regional-locale.ts'

test('dates are written as in the region that the browser names, in the language that was chosen', () => {
  assert.equal(regionalLocale('en', ['de-DE', 'en-GB', 'en-US']), 'en-GB')
  assert.equal(regionalLocale('de', ['en-US', 'de-AT']), 'de-AT')
  assert.equal(regionalLocale('de', ['en-US', 'den-CA']), 'de')
})
