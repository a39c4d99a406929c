import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DiskNearlyFull, whileRoom } from './disk-room.ts'

const mebibyte = 1024 ** 2
async function* parts(count: number) {
  for (let at = 0; at < count; at++) yield new Uint8Array(mebibyte)
}

test('a file ends when its disk has the reserve left alone, before the first part or on the way', async () => {
  await assert.rejects(whileRoom(parts(1), '/full', async () => 0).next(), DiskNearlyFull)
  let [left, passed] = [20 * mebibyte, 0]
  const write = async () => {
    for await (const part of whileRoom(parts(100), '/small', async () => Math.max(0, left))) {
      left -= part.length
      passed++
    }
  }
  await assert.rejects(write(), DiskNearlyFull)
  assert.ok(passed >= 20 && passed < 30, `${passed} MiB were written to a disk with room for 20`)
})
