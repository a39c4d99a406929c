import assert from 'node:assert/strict'
import { test } from 'node:test'
import { failureReason } from './mailer.ts'

const token = 'kJ3_fEw9-QzX0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0'
const reasonOf = (text: string) => failureReason(new Error(text), 'ann@x.org')

test('what a mail server said is kept, with the addressee', () => {
  assert.equal(reasonOf('550 5.1.1 <ann@x.org>: no such mailbox'), '550 5.1.1 <ann@x.org>: no such mailbox')
  const long = `${'a-'.repeat(20)}long.name@x.org`
  assert.equal(failureReason(new Error(`550 ${long} is full`), long), `550 ${long} is full`)
  assert.equal(reasonOf('connect ECONNREFUSED 127.0.0.1:25'), 'connect ECONNREFUSED 127.0.0.1:25')
})

test('a filter that quotes the mail gives away neither its link nor its token', () => {
  for (const text of [
    `554 blocked: https://berth.test/verify-login?token=${token} is on a list`,
    `554 blocked: <a href="https://berth.test/verify-login?token=3D${token}">`,
    `554 spam ${token}`,
    `554 spam ${token.slice(0, 24)}=\r\n${token.slice(24)}`,
    `554 verify-login?token=${token.slice(0, 5)} is bad`,
  ]) {
    const reason = reasonOf(text)
    assert.match(reason, /^554 /)
    for (let at = 0; at + 20 <= token.length; at++) assert.ok(!reason.includes(token.slice(at, at + 20)), reason)
    assert.doesNotMatch(reason, /http|token/)
  }
})

test('it is one line of at most 200 characters, whatever was said', () => {
  const long = reasonOf(`421-first\r\n421 second\u2028third\u0000 ${'no room '.repeat(60)}`)
  assert.match(long, /^421-first 421 second third no room/)
  assert.equal(long.length, 200)
  assert.equal(failureReason(undefined, 'ann@x.org'), 'undefined')
  assert.equal(reasonOf(' \n'), 'no reason was given')
})

test('no other address is named', () => {
  assert.equal(
    reasonOf('550 forwarded to ben@x.org, (cat@y.org) and ANN@x.org'),
    '550 forwarded to …, (…) and ANN@x.org',
  )
})
