import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkAnswer, checkRequests } from './check-case.ts'
import { Random } from './random.ts'
import { difference, type Reading } from './parsed-message.ts'
import { runFuzz, shown } from './run.ts'
import { extent } from '#test/support/extent.ts'

const messages = extent(6_000, 16_000)
test(`what the gateway accepts, Node reads the same: ${messages} generated messages`, async () => {
  const { accepted, refused, differences } = await runFuzz(20_251_121, messages)
  assert.deepEqual(differences.map(shown), [])
  assert.ok(Math.min(accepted, refused) > messages / 3, `${accepted} accepted, ${refused} refused`)
})

test('a case is the same again for the same seed', async () => {
  assert.deepEqual(await runFuzz(3, 400), await runFuzz(3, 400))
})

test('a parser that reads a message otherwise would be noticed', () => {
  const reading: Reading = { first: 'GET / 1.1', lines: ['host: a'], body: 'x', trailers: [], isComplete: true }
  const stream = (changes: Partial<Reading>) => ({ messages: [{ ...reading, ...changes }], end: 'open' as const })
  assert.equal(difference(stream({}), stream({})), undefined)
  for (const change of [
    { first: 'GET /x 1.1' },
    { lines: ['host: b'] },
    { body: 'xy' },
    { trailers: ['a: 1'] },
    { isComplete: false },
  ])
    assert.ok(difference(stream({}), stream(change)), JSON.stringify(change))
  assert.ok(difference(stream({}), { messages: [], end: 'refused' }), 'stricter is Node')
  assert.equal(difference({ messages: [], end: 'refused' }, stream({})), undefined)
})

/** Bytes on which the gateway and Node once differed, by what was wrong. */
const requests: Record<string, string> = {
  'bytes beyond ASCII in an address': 'GET /caf\xe9 HTTP/1.1\r\nHost: a\r\n\r\n',
  'a tab behind a transfer coding': 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\t\r\n\r\n0\r\n\r\n',
  'a tab behind a transfer coding, and no blank before it':
    'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:chunked\t\r\n\r\n0\r\n\r\n',
  'a length in the trailers':
    'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nContent-Length: 5\r\n\r\n',
  'a transfer coding in the trailers':
    'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n',
}

for (const [what, text] of Object.entries(requests))
  test(`no difference any more: ${what}`, () => {
    for (let seed = 0; seed < 20; seed++) assert.equal(checkRequests(text, new Random(seed)).difference, undefined)
  })

const answers: Record<string, string> = {
  'a length in the trailers of an answer': 'Transfer-Encoding: chunked\r\n\r\n0\r\nContent-Length: 5\r\n\r\n',
  'a tab behind the transfer coding of an answer': 'Transfer-Encoding: chunked\t\r\n\r\n1\r\nx\r\n0\r\n\r\n',
  'a tab behind it, and no blank before it': 'Transfer-Encoding:chunked\t\r\n\r\n1\r\nx\r\n0\r\n\r\n',
}

for (const [what, text] of Object.entries(answers))
  test(`no difference any more: ${what}`, async () => {
    assert.equal((await checkAnswer(`HTTP/1.1 200 OK\r\n${text}`, 'GET', new Random(1))).difference, undefined)
  })
