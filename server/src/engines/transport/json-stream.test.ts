import assert from 'node:assert/strict'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { test } from 'node:test'
import { jsonArrayItems } from './json-stream.ts'

async function* inPieces(text: string, size: number) {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function itemsOf(text: string, size: number, level?: 1 | 2): Promise<unknown[]> {
  const items: unknown[] = []
  for await (const some of jsonArrayItems(inPieces(text, size), level)) items.push(...some)
  return items
}

const tricky = [
  { Id: 'a', Names: ['/a'], Labels: { note: 'quote \\" brace } bracket ] comma , backslash \\\\' } },
  { nested: [[{ deep: [] }]], umlaut: 'Grüße 🦀', empty: {} },
  { Command: '"', path: 'C:\\\\' },
]

test('every item comes out as it went in, wherever the text is cut', async () => {
  for (const text of [JSON.stringify(tricky), JSON.stringify(tricky, null, 2)])
    for (let size = 1; size <= 80; size++) assert.deepEqual(await itemsOf(text, size), tricky, `pieces of ${size}`)
})

test('items of an array that stands in an object come out the same', async () => {
  const text = JSON.stringify({ Volumes: tricky, Warnings: ['{"a":[1'], Other: null })
  for (let size = 1; size <= 80; size++) assert.deepEqual(await itemsOf(text, size, 2), tricky, `pieces of ${size}`)
  assert.deepEqual(await itemsOf('{"Volumes":null,"Warnings":null}', 5, 2), [])
  await assert.rejects(itemsOf('{"Volumes":[{"a":1}', 5, 2), SyntaxError)
})

test('an empty array has no items', async () => {
  assert.deepEqual(await itemsOf('[]\n', 2), [])
})

test('what ends too early, or is no JSON, is no answer', async () => {
  for (const text of ['', '[{"a":1},{"b"', '[{"a":1}', '[{a}]', '"'])
    await assert.rejects(itemsOf(text, 3), SyntaxError, text)
})

test('forty megabytes hold nothing else up', async () => {
  const item = { Id: 'f'.repeat(64), Labels: { 'berth.user_id': '7' }, Mounts: ['x'.repeat(1_800)] }
  const text = JSON.stringify(Array.from({ length: 20_000 }, () => item))
  // Made ready before: only what parses is measured.
  const pieces = await Array.fromAsync(inPieces(text, 65_536))
  const late: number[] = []
  const begun = performance.now()
  JSON.parse(text)
  // The best of five, on a machine that others use, too: JSON.parse of all takes 170 to 300 ms in one go, each time,
  // and longer on a slow one.
  const limit = Math.max(100, (performance.now() - begun) / 2)
  while (late.length < 5 && !(Math.min(...late) < limit)) late.push(await lateWhileParsing(pieces))
  assert.ok(Math.min(...late) < limit, `${late.join(', ')} ms, not ${limit}`)
})

/** How late timers are while 20,000 items are parsed, 99 of 100 of them, in ms. */
async function lateWhileParsing(pieces: readonly Uint8Array[]): Promise<number> {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  let count = 0
  for await (const some of jsonArrayItems(pieces as unknown as AsyncIterable<Uint8Array>)) count += some.length
  delay.disable()
  assert.equal(count, 20_000)
  return delay.percentile(99) / 1e6
}
