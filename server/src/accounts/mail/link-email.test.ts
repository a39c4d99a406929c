import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { magicLinkEmail } from './link-email.ts'

test('the button of a mail has the colour of those on pages, the gateway as well', () => {
  // It was green in mails and teal on pages.
  const accentIn = (file: string) =>
    /--accent: ?(#[0-9a-f]{6})/.exec(readFileSync(new URL(file, import.meta.url), 'utf8'))?.[1]
  const accent = accentIn('../../../../web/src/styles/base.css')
  assert.ok(accent)
  assert.equal(accentIn('../../../../gateway/src/pages/document.ts'), accent)
  const { html } = magicLinkEmail({
    to: 'ann@x.org',
    purpose: 'login',
    url: 'https://berth.test/verify-login?token=t',
    expiry: 900,
    occasion: { kind: 'asked', language: 'en', address: '', browser: null },
  })
  assert.match(String(html), new RegExp(`background: ${accent}`))
})
