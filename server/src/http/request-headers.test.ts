import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeUserAgent, requestedRange } from './request-headers.ts'

test('a browser and its system are named', () => {
  const known = {
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0': 'Firefox on Windows',
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.3 Safari/605.1.15':
      'Safari on macOS',
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Safari/537.36 Edg/138.0.0.0':
      'Microsoft Edge on Linux',
    'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Mobile Safari/537.36':
      'Chrome on Android',
  }
  for (const [text, words] of Object.entries(known)) assert.equal(describeUserAgent(text), words)
})

/**
 * A client without an account could have "Your account is locked" mailed to anyone, in the words about who requested
 * the link.
 */
test('no text of the client is taken for the name of a browser or a system', () => {
  const free = ['Your account is locked/1 x', 'Call us/1.0 (Windows NT 10.0) foo', 'curl/8.14.1', 'constructor/1 x', '']
  for (const text of free) assert.equal(describeUserAgent(text), null, text)
})

/**
 * Which part of 1,000 bytes is sent. A continued download got other bytes behind those that it had: `If-Range` was not
 * read.
 */
const file = { size: 1_000, etag: '"now"' }
const partOf = (headers: Record<string, string>, method = 'GET', given = file) =>
  requestedRange({ method, headers }, given)
const part = { first: 100, last: 199 }

test('a single range of bytes is sent as far as it is there', () => {
  const expected = new Map([
    ['bytes=100-199', part],
    ['Bytes=100-199', part],
    ['bytes=990-', { first: 990, last: 999 }],
    ['bytes=990-5000', { first: 990, last: 999 }],
    ['bytes=-10', { first: 990, last: 999 }],
    ['bytes=-5000', { first: 0, last: 999 }],
    ['bytes=0-0', { first: 0, last: 0 }],
  ])
  for (const [range, found] of expected) assert.deepEqual(partOf({ range }), found, range)
})

test('whatever is no such range gets the whole', () => {
  for (const range of ['', 'bytes=', 'bytes=-', 'bytes=1000-', 'bytes=9-8', 'bytes=-0', 'bytes=0-1,3-4', 'lines=1-2'])
    assert.equal(partOf({ range }), undefined, range)
  for (const range of ['bytes=1-2x', 'bytes=+1-2', 'bytes=1 - 2', 'bytes=1e2-', `bytes=${'9'.repeat(16)}-`])
    assert.equal(partOf({ range }), undefined, range)
  assert.equal(partOf({ range: 'bytes=0-' }, 'GET', { ...file, size: 0 }), undefined)
  assert.equal(partOf({}), undefined)
})

test('a range counts for GET alone', () => {
  assert.equal(partOf({ range: 'bytes=100-199' }, 'HEAD'), undefined)
})

test('"If-Range" gives a part of exactly the bytes that the client has, and otherwise the whole', () => {
  const range = 'bytes=100-199'
  assert.deepEqual(partOf({ range, 'if-range': '"now"' }), part)
  for (const condition of ['"before"', 'W/"now"', 'now', '"now", "before"', '*', ''])
    assert.equal(partOf({ range, 'if-range': condition }), undefined, condition)
  for (const date of ['Tue, 24 Nov 2026 11:00:00 GMT', 'Fri, 01 Jan 2100 00:00:00 GMT', 'nonsense'])
    assert.equal(partOf({ range, 'if-range': date }), undefined, date)
})
