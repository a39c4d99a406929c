import assert from 'node:assert/strict'
import { test } from 'node:test'
import { normaliseEmail, parseNewEmail } from './email-address.ts'
import { timeLimit } from '#test/support/extent.ts'

const refused = (typed: string) => assert.throws(() => parseNewEmail(typed), { name: 'Refusal', status: 400 }, typed)

test('an address is trimmed and lower-cased', () => {
  assert.equal(parseNewEmail('  Ann.B@Example.ORG\n'), 'ann.b@example.org')
})

test('characters without width around an address, as of text that was copied, are no part of it', () => {
  for (const each of [
    '\u200bann@x.org',
    '\ufeff ann@x.org\u200b\u200b',
    '\u202aann@x.org\u202c',
    '\u2060ann@x.org\u00ad',
  ])
    assert.equal(parseNewEmail(each), 'ann@x.org')
  refused('an\u200bn@x.org')
  const started = performance.now()
  refused(`a${'\u200b'.repeat(500_000)}b@x.org`)
  assert.ok(performance.now() - started < timeLimit(500))
})

test('an international domain is kept in its ASCII form, in which it is mailed to', () => {
  assert.equal(parseNewEmail('Ann@B\u00fccher.example'), 'ann@xn--bcher-kva.example')
  assert.equal(normaliseEmail('ann@bu\u0308cher.example'), 'ann@xn--bcher-kva.example')
  for (const each of [
    'ann@\u0430\u0300..org',
    'ann@x\u200d.org',
    'j\u00f6rg@b\u00fccher.example',
    `a@${'\u00fc'.repeat(100_000)}.org`,
  ])
    refused(each)
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
