import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waitLimit } from '#test/support/extent.ts'
import { LogDemultiplexer, pacedBytes } from './log-stream.ts'

function frame(stream: number, text: string): Buffer {
  const header = Buffer.alloc(8)
  header.writeUInt8(stream, 0)
  header.writeUInt32BE(Buffer.byteLength(text), 4)
  return Buffer.concat([header, Buffer.from(text)])
}

const written = Buffer.concat([
  frame(1, 'one\ntw'),
  frame(2, 'a €'),
  frame(1, ''),
  frame(1, 'o\n'),
  frame(2, 'uro\nthree'),
  frame(1, 'four'),
])

test('lines are the same however the bytes come in pieces', () => {
  for (let size = 1; size <= written.length; size++) {
    const reader = new LogDemultiplexer(false)
    const lines: string[] = []
    for (let at = 0; at < written.length; at += size) lines.push(...reader.push(written.subarray(at, at + size)))
    assert.deepEqual(lines, ['one', 'two', 'a €uro'], `in pieces of ${size}`)
    assert.deepEqual(reader.end(), ['three', 'four'])
    assert.deepEqual(reader.end(), [])
  }
})

test('of a line that does not end a small beginning is kept', () => {
  const reader = new LogDemultiplexer(true)
  const piece = Buffer.alloc(64 * 1024, 'x')
  const before = process.memoryUsage().arrayBuffers
  for (let count = 0; count < 1_000; count++) assert.deepEqual(reader.push(piece), [])
  assert.ok(process.memoryUsage().arrayBuffers - before < 4 * 1024 ** 2)
  assert.deepEqual(reader.push(Buffer.from('\nnext\n')), ['x'.repeat(500), 'next'])
})

const chunk = Buffer.alloc(64 * 1024)

async function* endless(): AsyncGenerator<Buffer> {
  for (;;) yield chunk
}

/**
 * Five pages that followed a program without line ends took half a core of the API process, and pings took ten times as
 * long.
 */
test('a source that never ends is read at its rate once the first bytes are through', async () => {
  const enough = AbortSignal.timeout(1_000)
  let bytes = 0
  for await (const part of pacedBytes(endless(), enough)) {
    bytes += part.length
    if (enough.aborted) break
  }
  assert.ok(bytes >= 2_000_000, `${bytes} come at once`)
  assert.ok(bytes < 2_800_000, `${bytes} within a second`)
})

test('a source that ends or fails does so at once, also during a pause', async () => {
  const finite = async function* () {
    // At its rate it takes ten seconds.
    for (let index = 0; index < 72; index++) yield chunk
    throw new Error('the engine is gone')
  }
  const over = AbortSignal.timeout(50)
  const begun = performance.now()
  const read = async () => {
    for await (const part of pacedBytes(finite(), over)) assert.equal(part, chunk)
  }
  await assert.rejects(read(), /the engine is gone/)
  assert.ok(performance.now() - begun < waitLimit(5_000))
})
