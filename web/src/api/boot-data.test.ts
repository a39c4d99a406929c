import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseBoot, signedOut } from './boot-data.ts'

test('a signed-in document carries its CSRF value', () => {
  const boot = parseBoot(
    '\n {"csrf":"abc","signed_in":true,"token_lifetime":3600,"email":"ann@x.org","is_admin":true,"has_groups":true}\n',
  )
  assert.deepEqual(boot, {
    ...signedOut,
    csrf: 'abc',
    signedIn: true,
    tokenLifetime: 3600,
    email: 'ann@x.org',
    isAdmin: true,
    hasGroups: true,
  })
})

test('a user is signed in without a CSRF value where a browser cannot prove its origin', () => {
  assert.deepEqual(parseBoot('{"csrf":null,"signed_in":true}'), { ...signedOut, signedIn: true })
})

test('a document of the sign-in page carries the visit token', () => {
  const boot = parseBoot('{"csrf":null,"visit":"v","signed_in":false,"asked_here":true}')
  assert.deepEqual(boot, { ...signedOut, visit: 'v', askedHere: true })
})

test('language, contact, takeover and link lifetime are read as they are', () => {
  const acting = { by: 'ada@example.org', until: '2026-11-21T10:00:00.000Z' }
  const boot = parseBoot(JSON.stringify({ language: 'de', contact: 'help@example.org', acting, link_lifetime: 900 }))
  assert.deepEqual(boot, { ...signedOut, language: 'de', contact: 'help@example.org', acting, linkLifetime: 900 })
})

test('the ways to sign in are read in their order', () => {
  const providers = [{ display_name: 'School', start: 'https://x.org/start' }, { display_name: 7 }, null]
  const boot = parseBoot(JSON.stringify({ sign_in: { providers, email_link: false } }))
  const signIn = { providers: [{ displayName: 'School', start: 'https://x.org/start' }], isByLink: false }
  assert.deepEqual(boot, { ...signedOut, signIn })
})

test('the offset of this machine’s clock follows from the time at which the document was made', () => {
  const text = '{"now":"2026-11-21T10:00:00.000Z"}'
  assert.equal(parseBoot(text, Date.parse('2026-11-21T10:20:00Z')).clockAhead, -1_200_000)
  assert.equal(parseBoot(text, Date.parse('2026-11-21T09:40:00Z')).clockAhead, 1_200_000)
})

const rubbish = [
  '__BERTH_BOOT__',
  '',
  '{',
  'null',
  '7',
  '[]',
  '{"csrf":1,"signed_in":"yes","language":"xx","acting":{"by":1},"now":"soon","link_lifetime":-1,"sign_in":{"providers":7}}',
  undefined,
  null,
]

for (const text of rubbish) {
  test(`a document whose boot data is ${JSON.stringify(text)} counts as signed out, in English`, () => {
    const boot = parseBoot(text)
    assert.deepEqual(boot, signedOut)
    const { signedIn, email, isAdmin, csrf, language } = boot
    assert.deepEqual([signedIn, email, isAdmin, csrf, language], [false, null, false, null, 'en'])
  })
}
