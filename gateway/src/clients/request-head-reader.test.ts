import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isFault } from '#/http1/header-lines.ts'
import { maxRequestHead } from '#/http1/request-head.ts'
import { RequestHeadReader } from './request-head-reader.ts'

const head = `GET /a HTTP/1.1\r\nHost: b\r\nX-Long: ${'x'.repeat(20_000)}\r\nX-Last: \xe9\r\n\r\n`

for (const size of [1, 7, 1_000, 16_384]) {
  test(`a head in pieces of ${size} bytes is read as a whole one, and what follows it is kept`, () => {
    const reader = new RequestHeadReader()
    const all = Buffer.from(`${head}rest`, 'latin1')
    let read: ReturnType<RequestHeadReader['read']>
    let largest = 0
    for (let at = 0; at < all.length; at += size) {
      read = take(reader, all.subarray(at, at + size))
      largest = Math.max(largest, reader.unfinishedSize)
      if (read) {
        reader.finish()
        assert.equal(reader.stash?.toString(), all.subarray(head.length, at + size).toString() || undefined)
        break
      }
    }
    assert.ok(read && !isFault(read))
    assert.equal(read.text, head)
    assert.ok(largest <= maxRequestHead, `${largest} bytes`)
    assert.equal(reader.isUnfinished, false)
  })
}

test('bytes of an unfinished head are kept although the memory that they came in is used again', () => {
  const reader = new RequestHeadReader()
  const buffer = Buffer.alloc(head.length)
  let read: ReturnType<RequestHeadReader['read']>
  for (let at = 0; at < head.length; at += 999) {
    const length = buffer.write(head.slice(at, at + 999), 'latin1')
    read = take(reader, buffer.subarray(0, length))
    buffer.fill('!')
  }
  assert.ok(read && !isFault(read))
  assert.equal(read.text, head)
})

/** As a connection does with what it has read. */
function take(reader: RequestHeadReader, bytes: Buffer): ReturnType<RequestHeadReader['read']> {
  const isFirst = reader.stash === undefined
  const all = isFirst ? bytes : reader.append(bytes)
  const read = isFirst || reader.mayBeWhole(all, bytes.length) ? reader.read(all, all.length) : undefined
  if (read === undefined) reader.keepPart(all, all.length)
  return read
}
