import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pages, sectionOf, signInTarget, withNext } from './paths.ts'

test('a safe path is passed in the query, encoded', () => {
  const link = withNext(pages.login, '/ann-dev/?a=1&b=2')
  assert.equal(new URL(link, 'http://berth.test').searchParams.get('next'), '/ann-dev/?a=1&b=2')
  assert.equal(new URL(link, 'http://berth.test').pathname, '/login')
})

test('a page without a safe path, or with the start page as its path, has no query', () => {
  for (const next of [undefined, '//evil.example', '/']) assert.equal(withNext(pages.signUp, next), '/signup')
})

// A student who scanned the QR code of a join code and was signed out came to the start page, without the code.
test('a sign-in leads back to the page that was opened, with its query', () => {
  const target = (path: string, query = '') => signInTarget(path, new URLSearchParams(query))
  assert.equal(target(pages.groups, 'code=K7QWE-3MXPA'), '/groups?code=K7QWE-3MXPA')
  assert.equal(target(`${pages.sessions}/`), pages.sessions)
  assert.equal(target(pages.login, 'next=%2Fann-dev%2F'), '/ann-dev/')
  assert.equal(target(pages.login, 'next=%2F%2Fevil.example'), undefined)
  for (const path of [pages.home, pages.login, pages.signUp]) assert.equal(target(path), undefined)
})

// A job lost its bar, its result and its undo when the administrator went to the audit log meanwhile.
test('all pages for administrators are one section, and no other pages share one', () => {
  const paths = Object.values<string>(pages)
  const others = paths.filter((path) => !/^\/admin(\/|$)/.test(path))
  assert.deepEqual([...new Set(paths.map(sectionOf))].toSorted(), [pages.admin, ...others].toSorted())
  assert.equal(sectionOf('/administrator'), '/administrator')
})
