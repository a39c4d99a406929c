import assert from 'node:assert/strict'
import { test } from 'node:test'
import { languageOf } from './language.ts'
import { timeLimit } from '@berth/server/test/support/extent.ts'

const cases: readonly (readonly [asked: string | undefined, language: string])[] = [
  [undefined, 'en'],
  ['', 'en'],
  ['*', 'en'],
  ['de', 'de'],
  ['DE', 'de'],
  ['de-AT', 'de'],
  ['de-Latn-DE', 'de'],
  ['de-AT,de;q=0.9,en;q=0.8', 'de'],
  ['en-GB,en;q=0.9,de;q=0.8', 'en'],
  ['en;q=0.2, de;q=0.7', 'de'],
  ['fr, de;q=0.5, en;q=0.4', 'de'],
  ['fr-CH, fr', 'en'],
  ['fr, *;q=0.1', 'en'],
  ['de;q=0, *', 'en'],
  ['de;q=no, ;;;,,=', 'en'],
  ['deutsch', 'en'],
]
for (const [asked, language] of cases) {
  test(`who asks for "${asked ?? 'nothing'}" reads ${language}`, () => {
    assert.equal(languageOf([], asked), language)
  })
}

test('what a person chose counts more than what their browser asks for, as long as it is a language', () => {
  assert.equal(languageOf(['de'], 'en'), 'de')
  assert.equal(languageOf(['en'], 'de'), 'en')
  assert.equal(languageOf(['fr', 'de'], undefined), 'de')
  for (const nonsense of ['', 'DE', '__proto__']) assert.equal(languageOf([nonsense], undefined), 'en')
})

test('a header of the longest length that is let in is read in no time', () => {
  const begun = performance.now()
  languageOf([], 'xx-yy;q=0.5,'.repeat(1_300))
  assert.ok(performance.now() - begun < timeLimit(1_000))
})
