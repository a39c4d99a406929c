import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WebStorage } from '#/session/web-storage.ts'
import { recallReturnPath, rememberReturnPath, takeReturnPath } from './return-path.ts'

const minute = 60_000

function storage(): WebStorage {
  const kept = new Map<string, string>()
  return {
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => void kept.set(key, value),
    removeItem: (key) => void kept.delete(key),
  }
}

/** A browser in which the user forbids storage. */
const forbidden: WebStorage = {
  getItem: () => refuse(),
  setItem: () => refuse(),
  removeItem: () => refuse(),
}

function refuse(): never {
  throw new DOMException('The operation is insecure.', 'SecurityError')
}

test('the return path survives until the link is opened, and is used once', () => {
  const tabs = storage()
  rememberReturnPath('/ann-dev/', tabs, 0)
  assert.equal(recallReturnPath(tabs, 15 * minute), '/ann-dev/')
  assert.equal(takeReturnPath(tabs, 15 * minute), '/ann-dev/')
  assert.equal(takeReturnPath(tabs, 15 * minute), undefined)
})

test('a return path from yesterday is forgotten', () => {
  const tabs = storage()
  rememberReturnPath('/ann-dev/', tabs, 0)
  assert.equal(takeReturnPath(tabs, 24 * 60 * minute), undefined)
})

test('a request for a link without a return path removes the earlier one', () => {
  const tabs = storage()
  rememberReturnPath('/ann-dev/', tabs, 0)
  rememberReturnPath(undefined, tabs, 1)
  assert.equal(takeReturnPath(tabs, 2), undefined)
})

for (const rubbish of [
  '{"path":"//evil.example","at":0}',
  '{"path":"/ann-dev/"}',
  '{"path":"/ann-dev/","at":9}',
  '"/ann-dev/"',
  '{',
]) {
  test(`a path that another script left in storage is not trusted: ${rubbish}`, () => {
    const tabs = storage()
    tabs.setItem('berth.next', rubbish)
    assert.equal(takeReturnPath(tabs, 1), undefined)
  })
}

test('signing in works in a browser that forbids storage', () => {
  rememberReturnPath('/ann-dev/', forbidden)
  assert.equal(takeReturnPath(forbidden), undefined)
})

// It threw where the storage was only named, in a default parameter, before the signing in could go on without.
test('signing in works where even to name the storage throws', (t) => {
  const before = Object.getOwnPropertyDescriptor(globalThis, 'localStorage')
  const get = () => assert.fail('SecurityError')
  Object.defineProperty(globalThis, 'localStorage', { get, configurable: true })
  t.after(() => {
    Reflect.deleteProperty(globalThis, 'localStorage')
    if (before) Object.defineProperty(globalThis, 'localStorage', before)
  })
  rememberReturnPath('/ann-dev/')
  assert.equal(takeReturnPath(), undefined)
  assert.equal(recallReturnPath(), undefined)
})
