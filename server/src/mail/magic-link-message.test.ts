import assert from 'node:assert/strict'
import { test } from 'node:test'
import { magicLinkMessage, type Occasion } from './magic-link-message.ts'

const url = 'https://berth.example/verify-login?token=abc'
const mail = (occasion: Occasion, expiry = 900) =>
  magicLinkMessage({ to: 'ann@x.org', purpose: 'login', url, expiry, occasion })
const asked = { kind: 'asked', language: 'en', address: '203.0.113.7', browser: 'Firefox on Windows' } as const

test('a mail says in text and HTML who asked for it, as far as that is known', () => {
  for (const part of ['text', 'html'] as const) {
    assert.match(
      mail(asked)[part],
      /typed ann@x\.org at Berth, with Firefox on Windows, from the address 203\.0\.113\.7\./,
    )
    assert.match(mail({ ...asked, browser: null })[part], /at Berth, from the address 203\.0\.113\.7\./)
    assert.match(mail({ ...asked, address: '', browser: null })[part], /ann@x\.org at Berth\. If/)
  }
})

test('a mail that an administrator sent says who that was', () => {
  const by = 'boss@x.org'
  assert.match(
    mail({ kind: 'invited', language: 'en', address: '', by }).text,
    /because boss@x\.org invited ann@x\.org to Berth\./,
  )
  assert.match(
    mail({ kind: 'sent', language: 'en', address: '', by }).text,
    /because boss@x\.org had this link sent to ann@x\.org\./,
  )
})

test('a mail says in words how long its link lasts', () => {
  for (const [seconds, words] of [
    [45, '45 seconds'],
    [60, '1 minute'],
    [900, '15 minutes'],
    [7_200, '2 hours'],
    [604_800, '7 days'],
  ] as const)
    assert.match(mail(asked, seconds).text, new RegExp(`within ${words}\\.`))
})

test('nothing becomes markup in a mail, and the free text in an IPv6 address stays out of it', () => {
  const hostile = mail({ kind: 'invited', language: 'en', address: '', by: `a&b'<i>@x.org` })
  assert.match(hostile.html, /because a&amp;b&#39;&lt;i&gt;@x\.org invited/)
  const zoned = mail({ ...asked, address: 'fe80::1%visit-evil.example' })
  assert.doesNotMatch(zoned.text + zoned.html, /evil/)
  assert.match(zoned.text, /from the address fe80::1\./)
})

test('a German mail says all of it in German, its HTML part says so, and its link is the same', () => {
  const german = mail({ ...asked, language: 'de' })
  assert.equal(german.subject, 'Bei Berth anmelden')
  assert.match(german.html, /^<!doctype html>\n<html lang="de">/)
  for (const part of ['text', 'html'] as const) {
    assert.match(german[part], /weil jemand, wahrscheinlich du, ann@x\.org bei Berth eingegeben hat, mit Firefox/)
    assert.match(german[part], /mit Firefox unter Windows, von der Adresse 203\.0\.113\.7\./)
    assert.match(german[part], /innerhalb von 15 Minuten\./)
    assert.ok(german[part].includes(url))
  }
  const invited = mail({ kind: 'invited', language: 'de', address: '', by: null }, 86_400)
  assert.match(invited.text, /innerhalb von 1 Tag\./)
  assert.match(invited.text, /weil der Betreiber dieses Berth die Adresse ann@x\.org zu Berth eingeladen hat\./)
})
