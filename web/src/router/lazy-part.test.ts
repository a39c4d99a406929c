import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Suspense, createElement, type ReactNode } from 'react'
import { renderToString } from 'react-dom/server'
import { ChunkLoadError, firstParts, lazyPart, loadChunk } from './lazy-part.ts'

const Page = () => createElement('h1', null, 'Members')
const load = async () => ({ default: Page })
const shown = (page: ReactNode) => renderToString(createElement(Suspense, { fallback: 'Loading' }, page))

/**
 * Each page with a chunk of its own said "Loading" first, and React left that for 0.3 s: a fifth of the time of a
 * class's page.
 */
test('the page of the document is there in the first rendering, and nothing stands for it', async () => {
  const First = lazyPart(load, true)
  const Other = lazyPart(load, false)
  await firstParts()
  assert.match(shown(createElement(First)), /<h1>Members/)
  assert.match(shown(createElement(Other)), /Loading/)
})

test('a chunk that cannot be loaded, or never comes, keeps no page from its first rendering', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const failing = lazyPart(() => Promise.reject(new Error('gone')), true)
  await firstParts()
  assert.match(shown(createElement(failing)), /Loading/)
  lazyPart(() => new Promise<never>(() => undefined), true)
  const waiting = firstParts()
  t.mock.timers.tick(1_000)
  await waiting
})

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

/** Whether the promise is still pending. */
const isWaiting = (loading: Promise<unknown>) =>
  Promise.race([loading.then(() => false), new Promise((resolve) => setImmediate(resolve, true))])

test('a chunk that the updated server no longer has makes the page reload once', async () => {
  const { seen, parts } = tab()
  assert.equal(await isWaiting(loadChunk(gone, parts, 1_000_000)), true)
  assert.equal(seen.reloads, 1)
  await assert.rejects(loadChunk(gone, parts, 1_030_000), ChunkLoadError)
  assert.equal(seen.reloads, 1, 'half a minute later it is still missing and the error is reported')
  assert.equal(await isWaiting(loadChunk(gone, parts, 1_100_000)), true)
  assert.equal(seen.reloads, 2, 'the next update')
})

test('without a server, or without storage for the time of the last reload, the page stays and reports the error', async () => {
  const offline = tab({ isReachable: false })
  await assert.rejects(loadChunk(gone, offline.parts), ChunkLoadError)
  const { seen, parts } = tab()
  const forbidden = () => {
    throw new DOMException('no', 'SecurityError')
  }
  await assert.rejects(loadChunk(gone, { ...parts, storage: forbidden }), ChunkLoadError)
  assert.deepEqual([offline.seen.reloads, seen.reloads], [0, 0])
})

test('a chunk that loads is returned', async () => {
  assert.equal(await loadChunk(async () => 'part', tab().parts), 'part')
})
