import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeUserAgent } from './user-agent.ts'

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

/** A client without an account could have "Your account is locked" mailed to anyone, in the words about who requested the link. */
test('no text of the client is taken for the name of a browser or a system', () => {
  const free = ['Your account is locked/1 x', 'Call us/1.0 (Windows NT 10.0) foo', 'curl/8.14.1', 'constructor/1 x', '']
  for (const text of free) assert.equal(describeUserAgent(text), null, text)
})
