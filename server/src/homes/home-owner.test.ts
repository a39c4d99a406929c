import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { packTar } from 'modern-tar'
import type { HomeContents } from '#/engines/home-contents.ts'
import { homeOwner } from './home-owner.ts'

test('the owner of a home is known from its first entry, and by then nothing reads the home any more', async () => {
  const tar = await packTar([
    { header: { name: './', type: 'directory', size: 0, uid: 1_000, gid: 100 } },
    { header: { name: './large', type: 'file', size: 1_000_000 }, body: new Uint8Array(1_000_000) },
  ])
  let isRead = false
  const read: HomeContents['read'] = async function* () {
    isRead = true
    try {
      for (let at = 0; at < tar.length; at += 512) yield tar.subarray(at, at + 512)
    } finally {
      // As the engine takes its time to remove a helper.
      await sleep(50)
      isRead = false
    }
  }
  const owner = await homeOwner({ read } as HomeContents, 'home', AbortSignal.timeout(5_000))
  assert.deepEqual([owner, isRead], [{ uid: 1_000, gid: 100 }, false])
})
