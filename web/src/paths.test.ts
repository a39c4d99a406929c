import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pages, withNext } from './paths.ts'

test('a safe path is passed in the query, encoded', () => {
  const link = withNext(pages.login, '/ann-dev/?a=1&b=2')
  assert.equal(new URL(link, 'http://berth.test').searchParams.get('next'), '/ann-dev/?a=1&b=2')
  assert.equal(new URL(link, 'http://berth.test').pathname, '/login')
})

test('a page without a safe path, or with the start page as its path, has no query', () => {
  for (const next of [undefined, '//evil.example', '/']) assert.equal(withNext(pages.signUp, next), '/signup')
})
