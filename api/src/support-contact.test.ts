import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseSupportContact } from './support-contact.ts'

test('an e-mail address becomes a mailto link, a URL a link, and other text stays text', () => {
  const hrefOf = (text: string) => parseSupportContact(text).href
  assert.equal(hrefOf('help@cs.x-y.org'), 'mailto:help@cs.x-y.org')
  assert.equal(hrefOf('https://x.org/help?to=berth'), 'https://x.org/help?to=berth')
  const words = [
    'Room 12, or ring 4711',
    'ask help@x.org',
    'a@b',
    'a@x.org?bcc=b@x.org',
    'https://',
    'javascript:alert(1)',
  ]
  for (const each of words) assert.equal(hrefOf(each), undefined, each)
})
