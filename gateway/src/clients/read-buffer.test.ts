import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isFault } from '#/http1/header-lines.ts'
import { RequestHeadReader } from './request-head-reader.ts'
import { ReadBuffer, giveBackBuffer, takeBuffer } from '#/basics/read-buffer.ts'

const headOf = (name: string) => `GET /${name} HTTP/1.1\r\nHost: b\r\nX-Long: ${name.repeat(1_000)}\r\n\r\n`

/** A connection as far as it reads heads: a buffer that the socket reads into, and the reader of heads. */
class Connection {
  readonly #buffer = new ReadBuffer(64 * 1024)
  readonly #reader = new RequestHeadReader()

  /** Reads as much as the buffer takes. @returns the bytes read, and the text of the head that they end */
  read(bytes: Buffer): { readonly length: number; readonly text: string | undefined } {
    const length = bytes.copy(this.#buffer.memory)
    const piece = this.#buffer.memory.subarray(0, length)
    const all = this.#reader.isUnfinished ? this.#reader.append(piece) : piece
    const head = this.#reader.read(all, all.length)
    if (head === undefined) {
      this.#reader.keepPart(all, all.length)
      this.#buffer.settleForHead(true)
      return { length, text: undefined }
    }
    assert.ok(!isFault(head))
    this.#reader.finish()
    this.#buffer.settle(length, { isHeld: false, isCopied: true, isComplete: true })
    return { length, text: head.text }
  }
}

/** Reads a head of each connection, one piece of each in turn. */
function readInTurns(connections: readonly Connection[], heads: readonly string[]): (string | undefined)[] {
  const read: (string | undefined)[] = []
  const rest = heads.map((head) => Buffer.from(head, 'latin1'))
  while (read.filter(Boolean).length < heads.length) {
    for (const [at, connection] of connections.entries()) {
      const bytes = rest[at]
      if (read[at] !== undefined || bytes === undefined) continue
      const { length, text } = connection.read(bytes)
      rest[at] = bytes.subarray(length)
      read[at] = text
    }
  }
  return read
}

// Of 31 KB they took 60 KB of memory outside of the heap each, for which V8 collected the whole heap every 500 requests.
test('long heads need no new memory once there have been some', (t) => {
  const connections = Array.from({ length: 8 }, () => new Connection())
  const heads = connections.map((_, at) => headOf(`connection-${at}-`))
  for (let round = 0; round < 3; round++) readInTurns(connections, heads)
  const allocations = t.mock.method(Buffer, 'allocUnsafeSlow').mock
  for (let round = 0; round < 100; round++) readInTurns(connections, heads)
  assert.equal(allocations.callCount(), 0)
})

test('no connection reads the bytes of another one, whose memory it has', () => {
  const connections = Array.from({ length: 40 }, () => new Connection())
  for (let round = 0; round < 20; round++) {
    const heads = connections.map((_, at) => headOf(`${round}-of-${at}-`))
    assert.deepEqual(readInTurns(connections, heads), heads)
  }
})

test('memory with bytes that are on their way out is not given to another connection', () => {
  for (const use of [{ isHeld: true, isCopied: true }, { isHeld: false, isCopied: false }, { isHeld: false }]) {
    const buffer = new ReadBuffer(64 * 1024)
    const before = buffer.memory
    buffer.settle(before.length, use)
    assert.notEqual(buffer.memory, before)
    for (let taken = 0; taken < 40; taken++) assert.notEqual(takeBuffer(before.length), before)
  }
})

test('the pool keeps a bounded number of buffers, and no part of a larger one', () => {
  const buffers = Array.from({ length: 100 }, () => Buffer.allocUnsafeSlow(8 * 1024))
  for (const buffer of buffers) giveBackBuffer(buffer)
  const part = Buffer.allocUnsafeSlow(16 * 1024).subarray(0, 8 * 1024)
  giveBackBuffer(part)
  const taken = Array.from({ length: 100 }, () => takeBuffer(8 * 1024))
  assert.equal(new Set(taken).size, 100)
  const given: ReadonlySet<Buffer> = new Set(buffers)
  assert.ok(taken.filter((buffer) => given.has(buffer)).length <= 16)
  assert.ok(!taken.includes(part))
})
