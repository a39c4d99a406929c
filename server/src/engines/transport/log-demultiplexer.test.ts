import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LogDemultiplexer } from './log-demultiplexer.ts'

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
