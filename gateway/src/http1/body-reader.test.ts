import assert from 'node:assert/strict'
import { PerformanceObserver } from 'node:perf_hooks'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { extent } from '@berth/server/test/support/extent.ts'
import { caseSeed, Random } from '@berth/server/test/gateway/fuzz/random.ts'
import { BodyReader } from './body-reader.ts'
import { framingWork } from './framing-work.ts'
import { chunked } from './request-head.ts'

const token = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]+"
/** A chunk size line (RFC 9112, 7.1 and 7.1.1) as a pattern. */
const sizeLine = new RegExp(
  `^([0-9A-Fa-f]{1,12})(?:;${token}(?:=(?:${token}|"[\\t \\x21\\x23-\\x5b\\x5d-\\x7e]*"))?)*\r\n$`,
)
const maxLine = 256

interface Reading {
  readonly end: 'whole' | 'refused' | 'open'
  readonly data: string
  /** Bytes up to where the message ends. */
  readonly length: number
}

/** What a chunked body without trailers is by the pattern, read line by line. */
function readByPattern(text: string): Reading {
  const refused: Reading = { end: 'refused', data: '', length: 0 }
  let [at, data] = [0, '']
  for (;;) {
    const lineEnd = text.indexOf('\n', at) + 1
    if (lineEnd === 0) return { ...refused, end: 'open' }
    const line = text.slice(at, lineEnd)
    const digits = line.length > maxLine ? undefined : sizeLine.exec(line)?.[1]
    if (digits === undefined) return refused
    const size = Number.parseInt(digits, 16)
    const stop = lineEnd + size
    if (text.length < stop + 2) return { ...refused, end: 'open' }
    if (text.slice(stop, stop + 2) !== '\r\n') return refused
    if (size === 0) return { end: 'whole', data, length: stop + 2 }
    data += text.slice(lineEnd, stop)
    at = stop + 2
  }
}

/** What the parser makes of it, given to it in pieces of at most so many bytes. */
function readByParser(text: string, random: Random, maxPiece: number, isUnchunking: boolean): Reading {
  const reader = new BodyReader(chunked, isUnchunking)
  const bytes = Buffer.from(text, 'latin1')
  let [at, data] = [0, '']
  while (at < bytes.length && !reader.isDone && !reader.problem) {
    const start = at
    at = reader.read(bytes, at, Math.min(bytes.length, at + 1 + random.below(maxPiece)))
    data += bytes.toString('latin1', start, isUnchunking ? reader.dataEnd : at)
  }
  const end = reader.problem ? 'refused' : reader.isDone ? 'whole' : 'open'
  return { end, data, length: at }
}

const parts = '0;1;a;F;00;;;;=;"; ;\t;\\;\r;\n;\x7f;\x00;\xe4;,;ab;!;~;-;b=c;="";="d e"'.split(/;(?!;)/)
const long = ['x'.repeat(100), '0'.repeat(11), ';y', ';y=', ';y="']

function generateLine(random: Random): string {
  const count = random.below(6)
  const begin = random.happens(0.8) ? random.oneOf(['5', '1f', 'A', '012', '000000000003']) : ''
  const middle = Array.from({ length: count }, () => random.oneOf(random.happens(0.7) ? parts : long))
  return `${begin}${middle.join('')}${random.happens(0.95) ? '\r\n' : random.oneOf(['\n', '\r', '\r\r\n'])}`
}

function generateBody(random: Random): string {
  const chunks = Array.from({ length: 1 + random.below(3) }, () => {
    const line = random.happens(0.6) ? `${random.oneOf(['1', '2;a', '21;b="c"'])}\r\n` : generateLine(random)
    const size = Number.parseInt(line, 16) % 1_000 || 0
    return `${line}${'d\r\n'.repeat(350).slice(0, size)}${random.happens(0.97) ? '\r\n' : random.oneOf(['\n', 'x\r\n', '\r'])}`
  })
  return `${chunks.join('')}0\r\n\r\nGET / HTTP/1.1`
}

test('chunked bodies are read exactly as the grammar says, however their bytes arrive', () => {
  const seen = { whole: 0, refused: 0, open: 0 }
  for (let made = 0; made < extent(20_000, 500_000); made++) {
    const random = new Random(caseSeed(20_261_128, made))
    const text = generateBody(random)
    const expected = readByPattern(text)
    const maxPiece = random.oneOf([1, 3, 40, 10_000])
    const found = readByParser(text, random, maxPiece, true)
    seen[expected.end]++
    // What no continuation could make right is refused before its line ends.
    const end = expected.end === 'open' && found.end === 'refused' ? 'open' : found.end
    assert.equal(end, expected.end, `case ${made}: ${JSON.stringify(text)}`)
    if (end !== 'whole') continue
    assert.deepEqual(found, expected, `case ${made}: ${JSON.stringify(text)}`)
    const passed = readByParser(text, random, maxPiece, false)
    assert.deepEqual(passed, { ...expected, data: text.slice(0, expected.length) }, `case ${made}`)
  }
  assert.ok(Math.min(seen.whole, seen.refused) > extent(3_000, 75_000), JSON.stringify(seen))
})

/** The state that a body of these bytes leads to. */
function readWhole(text: string): BodyReader {
  const reader = new BodyReader(chunked)
  const bytes = Buffer.from(text, 'latin1')
  reader.read(bytes, 0, bytes.length)
  return reader
}

test('a line with a size may be 256 bytes long and have 12 digits', () => {
  const line = (length: number) => `1;${'x'.repeat(length - 4)}\r\n`
  assert.equal(readWhole(line(256)).problem, undefined)
  assert.match(String(readWhole(line(257)).problem?.why.key), /longChunkLine/)
  assert.equal(readWhole(`${'0'.repeat(11)}1\r\n`).problem, undefined)
  assert.match(String(readWhole(`${'0'.repeat(12)}1\r\n`).problem?.why.key), /noChunkSize/)
})

test('a byte in each chunk goes on for ever, extensions far longer than the data do not', () => {
  assert.equal(readWhole('1\r\na\r\n'.repeat(200_000)).problem, undefined)
  assert.equal(readWhole('1;abcdefg=hij\r\na\r\n'.repeat(200_000)).problem, undefined)
  const signed = `400;chunk-signature=${'a'.repeat(64)}\r\n${'x'.repeat(1_024)}\r\n`
  assert.equal(readWhole(signed.repeat(1_000)).problem, undefined)
  const extended = `1;${'a'.repeat(200)}\r\na\r\n`
  assert.equal(readWhole(extended.repeat(50)).problem, undefined)
  assert.match(String(readWhole(extended.repeat(200)).problem?.why.key), /longFraming/)
})

test('what is framing is counted, and what is data is not', () => {
  const before = framingWork.bytes
  readWhole('5;a\r\nhello\r\n'.repeat(10))
  assert.equal(framingWork.bytes - before, 10 * 7)
})

/** How often V8 collects garbage while something runs. */
async function collections(work: () => void): Promise<number> {
  let count = 0
  const observer = new PerformanceObserver((list) => void (count += list.getEntries().length))
  observer.observe({ entryTypes: ['gc'] })
  work()
  await nextTurn()
  observer.disconnect()
  return count
}

test('chunks are read without making garbage', async () => {
  const bytes = Buffer.from('1;a="b"\r\na\r\n'.repeat(20_000))
  const reader = new BodyReader(chunked, true)
  const copy = Buffer.alloc(bytes.length)
  const readAgain = (times: number) => {
    for (let time = 0; time < times; time++) {
      bytes.copy(copy)
      reader.read(copy, 0, copy.length)
    }
  }
  readAgain(10)
  // Four million chunks: two strings for each were some 15 collections.
  const count = await collections(() => readAgain(200))
  assert.equal(reader.problem, undefined)
  assert.ok(count <= 2, `${count} collections`)
})
