import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { BuildLog, maxLog } from './build-log.ts'

const textOf = (...pieces: string[]) => {
  const log = new BuildLog()
  for (const piece of pieces) log.append(piece)
  return log.text
}

test('colours, titles and other orders to a terminal are taken out, whole and in pieces', () => {
  assert.equal(textOf('a \u001b[1;31mred\u001b[0m b\n'), 'a red b\n')
  assert.equal(textOf('a \u001b[1;3', '1mred\u001b', '[0m b\n'), 'a red b\n')
  assert.equal(textOf('\u001b]0;title\u0007x\u0000\u0008\u202ey\n'), 'xy\n')
  assert.equal(textOf('10%\r20%\r\ndone\n'), '10%\n20%\ndone\n')
})

test('a reader gets what there was and what comes, until the end', async () => {
  const log = new BuildLog()
  log.append('one\n')
  const read = Array.fromAsync(log.stream())
  await new Promise(setImmediate)
  log.append('two\n')
  log.end()
  assert.equal((await read).join(''), 'one\ntwo\n')
})

test('a reader that goes away while nothing is written has gone', async () => {
  const log = new BuildLog()
  log.append('one\n')
  const reader = log.stream()
  await once(reader, 'data')
  await new Promise(setImmediate)
  reader.destroy()
  await once(reader, 'close', { signal: AbortSignal.timeout(5_000) })
})

test('output beyond the limit is not kept, and that is said', () => {
  const text = textOf('x'.repeat(maxLog), 'y'.repeat(maxLog))
  assert.ok(text.length < maxLog + 100)
  assert.match(text, /x\n\[The output is longer; the rest is not kept\.\]\n$/)
})
