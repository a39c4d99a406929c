import assert from 'node:assert/strict'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { packTar, unpackTar } from 'modern-tar'
import { rawEntry, tarEnd, withChecksum, type RawEntry } from '#test/support/homes/raw-tar.ts'
import { NameHashes, distinctNames, rewrittenArchive } from './archive-rewrite.ts'

const entries = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ header: { name: `f${at}`, size: 1, type: 'file' as const }, body: 'x' }))

/** All of it at once, so that nothing ever has to be waited for. */
async function* ready(bytes: Uint8Array) {
  yield bytes
}

test('an archive of many entries that is there already does not keep the event loop', async () => {
  // One of 120,000 entries, 1 MB on the line, kept the process for up to 0.2 s at a time.
  const archive = await packTar(entries(5_000))
  let [turns, isOver] = [0, false]
  const count = () => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const rewritten = await buffer(
    rewrittenArchive(ready(archive), (header) => [{ ...header, name: `d/${header.name}` }]),
  )
  isOver = true
  assert.ok(turns > 2, String(turns))
  assert.equal((await unpackTar(rewritten)).at(-1)?.header.name, 'd/f4999')
})

test('its parts are large: to compress or send each entry by itself took longer than all else', async () => {
  const archive = await packTar(entries(1_000))
  const sizes: number[] = []
  for await (const part of rewrittenArchive(ready(archive), (header) => [header])) sizes.push(part.length)
  assert.equal(
    sizes.reduce((all, size) => all + size, 0),
    1_000 * 1_024 + 1_024,
  )
  assert.ok(sizes.length < 18, String(sizes.length))
})

test('what fails on the way fails the result, behind what came before', async () => {
  const archive = await packTar(entries(10))
  const failing = rewrittenArchive(ready(archive.subarray(0, 5_000)), (header) => [header])
  await assert.rejects(buffer(failing), /truncated/)
  const refusing = rewrittenArchive(ready(archive), () => {
    throw new Error('refused')
  })
  await assert.rejects(buffer(refusing), /refused/)
})

test('files whose names differ in bytes that are no UTF-8 alone all come through', async () => {
  // A restore had one file for two names in Latin-1, such as "x\xDC" and "x\xC4".
  const named = (last: number[], more: Partial<RawEntry>) => {
    const entry = rawEntry({ name: 'x'.repeat(1 + last.length), ...more })
    Buffer.from(last).copy(entry, 1)
    return withChecksum(entry)
  }
  const archive = Buffer.concat([
    named([0xdc], { body: 'U' }),
    named([0xc4], { body: 'A' }),
    named([0xd6], { type: '1', linkname: 'other' }),
    named([0xe4, 0x2f], { type: '5' }),
    named([0xe5, 0x2f], { type: '5' }),
    rawEntry({ name: 'ä', body: 'plain' }),
    rawEntry({ name: 'ä', body: 'again' }),
    tarEnd,
  ])
  const read = await unpackTar(await buffer(rewrittenArchive(ready(archive), (header) => [header])))
  assert.deepEqual(
    read.map(({ header, data }) => [header.name, Buffer.from(data ?? []).toString()]),
    [
      ['x\uFFFD', 'U'],
      ['x\uFFFD (2)', 'A'],
      ['x\uFFFD (3)', ''],
      ['x\uFFFD/', ''],
      ['x\uFFFD/', ''],
      ['ä', 'plain'],
      ['ä', 'again'],
    ],
  )
})

test('a hundred thousand equal names take time by their number', async () => {
  const distinct = distinctNames()
  const seen = new Set<string>()
  for (let at = 0; at < 100_000; at++) seen.add(distinct({ name: '\uFFFD', size: 0 }).name)
  assert.equal(seen.size, 100_000)
})

test('names that were added are there, also after it has grown, and no others', () => {
  const names = new NameHashes()
  const count = 50_000
  for (let at = 0; at < count; at++) names.add(`folder/${at % 40_000}`)
  for (let at = 0; at < count; at++) assert.equal(names.has(`folder/${at}`), at < 40_000, String(at))
  assert.equal(names.has(''), false)
})
