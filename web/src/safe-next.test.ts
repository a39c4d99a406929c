import assert from 'node:assert/strict'
import { test } from 'node:test'
import { safeNext } from './safe-next.ts'

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
