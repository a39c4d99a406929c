import assert from 'node:assert/strict'
import { test } from 'node:test'
import { normaliseEmail, parseNewEmail } from './email-address.ts'
import { timeLimit } from '#test/support/extent.ts'

const refused = (typed: string) => assert.throws(() => parseNewEmail(typed), { name: 'Refusal', status: 400 }, typed)

test('an address is trimmed and lower-cased', () => {
  assert.equal(parseNewEmail('  Ann.B@Example.ORG\n'), 'ann.b@example.org')
})

test('ordinary addresses are accepted', () => {
  for (const each of ["o'neill@x.ie", 'a+b@sub.example.co.uk', 'x_y-z@a-b.org', '1@2.de'])
    assert.equal(parseNewEmail(each), each)
})

test('what is not an address is refused', () => {
  for (const each of [
    '',
    '  ',
    'ann',
    'ann@',
    '@x.org',
    'ann@x',
    'a b@x.org',
    'ann@x..org',
    '.ann@x.org',
    'ann@-x.org',
  ])
    refused(each)
})

test('an address that a mail library would read as two recipients is refused', () => {
  for (const each of ['1,victim@x.org', '"a b"@x.org', 'a@x.org\r\nRCPT TO:<b@x.org>', '<a@x.org>', 'a@x.org,b@x.org'])
    refused(each)
})

test('letters beyond ASCII are refused: the Kelvin sign would lower-case into the k of another address', () => {
  refused('\u212Aate\u00e9@x.org')
  assert.equal(normaliseEmail('\u212A@x.org'), 'k@x.org')
})

test('an address longer than SMTP can carry is refused quickly', () => {
  const started = performance.now()
  refused(`${'a'.repeat(64)}@${'b.'.repeat(200_000)}org`)
  refused('a@'.repeat(30_000))
  assert.ok(performance.now() - started < timeLimit(500))
})
