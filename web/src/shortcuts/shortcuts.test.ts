import assert from 'node:assert/strict'
import { test } from 'node:test'
import { areShortcutsOn, shortcutOf, saveShortcutsOn } from './shortcuts.ts'

const press = (key: string, held: object = {}) =>
  shortcutOf({ key, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, repeat: false, ...held })

test('digits choose a card, letters press its buttons, and the question mark lists the keys', () => {
  assert.deepEqual(
    [press('1'), press('9')],
    [
      { does: 'choose', index: 0 },
      { does: 'choose', index: 8 },
    ],
  )
  assert.deepEqual(press('l'), { does: 'press', key: 'l' })
  assert.deepEqual(press('G'), { does: 'press', key: 'g' }, 'Caps Lock is no modifier')
  assert.deepEqual(press('?', { shiftKey: true }), { does: 'help' })
})

test('with a modifier, repeated, or any other key, no shortcut applies', () => {
  for (const held of ['ctrlKey', 'metaKey', 'altKey', 'shiftKey', 'repeat'])
    assert.equal(press('r', { [held]: true }), undefined)
  for (const key of ['0', 'x', 'Enter', 'Tab', ' ', 'F1']) assert.equal(press(key), undefined)
})

test('shortcuts stay off in this browser until they are switched on again', () => {
  const stored = new Map<string, string>()
  const storage = {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => void stored.set(key, value),
    removeItem: (key: string) => void stored.delete(key),
  }
  assert.equal(areShortcutsOn(storage), true)
  saveShortcutsOn(false, storage)
  assert.equal(areShortcutsOn(storage), false)
  saveShortcutsOn(true, storage)
  assert.equal(areShortcutsOn(storage), true)
})

test('without storage shortcuts are on', (t) => {
  const broken = {
    getItem: () => assert.fail('off'),
    setItem: () => assert.fail('off'),
    removeItem: () => assert.fail('off'),
  }
  saveShortcutsOn(false, broken)
  assert.equal(areShortcutsOn(broken), true)
  const before = Object.getOwnPropertyDescriptor(globalThis, 'localStorage')
  Object.defineProperty(globalThis, 'localStorage', { get: () => assert.fail('off'), configurable: true })
  t.after(() => {
    Reflect.deleteProperty(globalThis, 'localStorage')
    if (before) Object.defineProperty(globalThis, 'localStorage', before)
  })
  saveShortcutsOn(false)
  assert.equal(areShortcutsOn(), true)
})
