import assert from 'node:assert/strict'
import { test } from 'node:test'
import { currentNotices, parseBranding, withProductName } from './branding.ts'

const notice = (from: string | null, until: string | null) => ({ text: { en: 'Closed', de: 'Zu' }, from, until })

test('a document without a branding has none', () => {
  for (const value of [undefined, null, 'x', 7, {}]) assert.equal(parseBranding(value), null)
  const branding = { name: 'Lab', logo: null, imprint: null, privacy: '/help/privacy', notices: [] }
  assert.equal(parseBranding(branding), branding)
})

test('a notice stands on the page from its beginning until its end', () => {
  const branding = parseBranding({
    notices: [notice('2026-12-01T00:00:00Z', '2026-12-02T00:00:00Z'), notice(null, null)],
  })
  assert.ok(branding)
  const at = (time: string) => currentNotices(branding, Date.parse(time)).length
  assert.equal(at('2026-11-30T23:59:59Z'), 1)
  assert.equal(at('2026-12-01T00:00:00Z'), 2)
  assert.equal(at('2026-12-02T00:00:00Z'), 1)
})

test('messages carry the name of the installation, parsed ones, too', () => {
  const messages = { title: 'Sign in to Berth', more: { document: [['page'], ' · Berth'] } }
  assert.deepEqual(withProductName(messages, 'Lab'), {
    title: 'Sign in to Lab',
    more: { document: [['page'], ' · Lab'] },
  })
  assert.equal(withProductName(messages, null), messages)
})
