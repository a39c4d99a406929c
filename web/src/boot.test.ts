import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseBoot } from './boot.ts'

test('a signed-in document carries its CSRF value', () => {
  assert.deepEqual(parseBoot('\n {"csrf":"abc","signed_in":true}\n'), { csrf: 'abc', visit: null, signedIn: true })
})

test('somebody can be signed in without a CSRF value, where a browser cannot prove its origin', () => {
  assert.deepEqual(parseBoot('{"csrf":null,"signed_in":true}'), { csrf: null, visit: null, signedIn: true })
})

test('a document from which people sign in carries the value for that', () => {
  assert.deepEqual(parseBoot('{"csrf":null,"visit":"v","signed_in":false}'), {
    csrf: null,
    visit: 'v',
    signedIn: false,
  })
})

const rubbish = ['__BERTH_BOOT__', '', '{', 'null', '7', '[]', '{"csrf":1,"signed_in":"yes"}', undefined, null]

for (const text of rubbish) {
  test(`a document whose boot data is ${JSON.stringify(text)} counts as signed out`, () => {
    assert.deepEqual(parseBoot(text), { csrf: null, visit: null, signedIn: false })
  })
}
