import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadChunk, ChunkLoadError } from './load-chunk.ts'

const gone = () => Promise.reject(new TypeError('Failed to fetch dynamically imported module'))

function tab({ isReachable = true } = {}) {
  const kept = new Map<string, string>()
  const storage = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
  }
  const seen = { reloads: 0 }
  return {
    seen,
    parts: {
      storage: () => storage,
      isServerReachable: async () => isReachable,
      reload: () => void (seen.reloads += 1),
    },
  }
}

/** Whether it has neither come nor failed by now. */
const isWaiting = (loading: Promise<unknown>) =>
  Promise.race([loading.then(() => false), new Promise((resolve) => setImmediate(resolve, true))])

test('a part that the updated server does not have any more makes the page reload, once', async () => {
  const { seen, parts } = tab()
  assert.equal(await isWaiting(loadChunk(gone, parts, 1_000_000)), true)
  assert.equal(seen.reloads, 1)
  await assert.rejects(loadChunk(gone, parts, 1_030_000), ChunkLoadError)
  assert.equal(seen.reloads, 1, 'half a minute later it is still missing: somebody has to say so')
  assert.equal(await isWaiting(loadChunk(gone, parts, 1_100_000)), true)
  assert.equal(seen.reloads, 2, 'the next update')
})

test('without a server, or without storage to know it was tried, the page stays and says so', async () => {
  const offline = tab({ isReachable: false })
  await assert.rejects(loadChunk(gone, offline.parts), ChunkLoadError)
  const { seen, parts } = tab()
  const forbidden = () => {
    throw new DOMException('no', 'SecurityError')
  }
  await assert.rejects(loadChunk(gone, { ...parts, storage: forbidden }), ChunkLoadError)
  assert.deepEqual([offline.seen.reloads, seen.reloads], [0, 0])
})

test('a part that is there is there', async () => {
  assert.equal(await loadChunk(async () => 'part', tab().parts), 'part')
})
