import assert from 'node:assert/strict'
import { test } from 'node:test'
import { regionalLocale } from './regional-locale.ts'

test('dates follow the browser’s region in the chosen language', () => {
  assert.equal(regionalLocale('en', ['de-DE', 'en-GB', 'en-US']), 'en-GB')
  assert.equal(regionalLocale('de', ['en-US', 'de-AT']), 'de-AT')
  assert.equal(regionalLocale('de', ['en-US', 'den-CA']), 'de')
})
