import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recallNext, rememberNext, takeNext, type NextStorage } from './next.ts'

const minute = 60_000

function storage(): NextStorage {
  const kept = new Map<string, string>()
  return {
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => void kept.set(key, value),
    removeItem: (key) => void kept.delete(key),
  }
}

/** A browser in which the person forbids storage. */
const forbidden: NextStorage = {
  getItem: () => refuse(),
  setItem: () => refuse(),
  removeItem: () => refuse(),
}

function refuse(): never {
  throw new DOMException('The operation is insecure.', 'SecurityError')
}

test('the place survives the way through the mail and is used once', () => {
  const tabs = storage()
  rememberNext('/ann-dev/', tabs, 0)
  assert.equal(recallNext(tabs, 15 * minute), '/ann-dev/')
  assert.equal(takeNext(tabs, 15 * minute), '/ann-dev/')
  assert.equal(takeNext(tabs, 15 * minute), undefined)
})

test('a place from yesterday is forgotten', () => {
  const tabs = storage()
  rememberNext('/ann-dev/', tabs, 0)
  assert.equal(takeNext(tabs, 24 * 60 * minute), undefined)
})

test('asking for a link without a place forgets the place before', () => {
  const tabs = storage()
  rememberNext('/ann-dev/', tabs, 0)
  rememberNext(undefined, tabs, 1)
  assert.equal(takeNext(tabs, 2), undefined)
})

for (const rubbish of [
  '{"path":"//evil.example","at":0}',
  '{"path":"/ann-dev/"}',
  '{"path":"/ann-dev/","at":9}',
  '"/ann-dev/"',
  '{',
]) {
  test(`what another script left in storage is not trusted: ${rubbish}`, () => {
    const tabs = storage()
    tabs.setItem('berth.next', rubbish)
    assert.equal(takeNext(tabs, 1), undefined)
  })
}

test('signing in works in a browser that forbids storage', () => {
  rememberNext('/ann-dev/', forbidden)
  assert.equal(takeNext(forbidden), undefined)
})
