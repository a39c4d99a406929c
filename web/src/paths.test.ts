import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pages, safeNext, withNext } from './paths.ts'

const safe = [
  '/',
  '/ann-dev/',
  '/ann-dev/a%2Fb?x=1&y=//z#top',
  '/ann-dev/https://example.org',
  '/apiary-dev/',
  '/ünal-dev/',
]

for (const path of safe) {
  test(`signing in may lead on to ${path}`, () => assert.equal(safeNext(path), path))
}

const strange = {
  'another host': '//evil.example',
  'another host behind three slashes': '///evil.example',
  'another host behind a backslash': '/\\evil.example',
  'a backslash anywhere': '/ann-dev/\\evil.example',
  'another host behind a tab, which browsers drop': '/\t/evil.example',
  'another host behind a line feed': '/\n/evil.example',
  'a path that becomes another host when its dots are resolved': '/.//evil.example',
  'an absolute address': 'https://evil.example/',
  'a script': 'javascript:alert(1)',
  'a relative path': 'ann-dev/',
  'the API, whose links sign people in': '/api/auth/verify-login?token=theirs',
  'the API by an encoded name': '/%61pi/auth/verify-login?token=theirs',
  'the API behind dots': '/ann-dev/../api/auth/verify-login?token=theirs',
  'a path that cannot be decoded': '/%zz',
  'an empty text': '',
  'a list': ['/ann-dev/'],
  nothing: null,
  'a path that is too long': '/' + 'a'.repeat(3000),
}

for (const [what, value] of Object.entries(strange)) {
  test(`signing in never leads on to ${what}`, () => assert.equal(safeNext(value), undefined))
}

test('a safe path is passed in the query, encoded', () => {
  const link = withNext(pages.login, '/ann-dev/?a=1&b=2')
  assert.equal(new URL(link, 'http://berth.test').searchParams.get('next'), '/ann-dev/?a=1&b=2')
  assert.equal(new URL(link, 'http://berth.test').pathname, '/login')
})

test('a page without a safe path, or with the start page as its path, has no query', () => {
  for (const next of [undefined, '//evil.example', '/']) assert.equal(withNext(pages.signUp, next), '/signup')
})
