import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DocumentTemplate, noticesPlaceholder } from './front-end-document.ts'

test('each placeholder is filled, wherever and however often it stands', () => {
  const template = new DocumentTemplate(
    `<a nonce="__BERTH_NONCE__">__BERTH_BOOT__</a>${noticesPlaceholder}<b nonce="__BERTH_NONCE__">`,
  )
  assert.equal(template.filled({ nonce: 'n', notices: '<p>', boot: '{}' }), '<a nonce="n">{}</a><p><b nonce="n">')
  assert.equal(new DocumentTemplate('<a>').filled({ nonce: 'n', notices: '', boot: '{}' }), '<a>')
})

test('a value with a placeholder in it, such as a mail address, is not filled again', () => {
  const template = new DocumentTemplate('__BERTH_BOOT__ __BERTH_NONCE__')
  assert.equal(template.filled({ nonce: 'n', notices: '', boot: '__BERTH_NONCE__ $&' }), '__BERTH_NONCE__ $& n')
})
