import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withoutManagedFields } from './container-lookup.ts'

const managedFields = [
  { manager: 'berth', fieldsV1: { 'f:a': { 'k:{"type":"]"}': {}, 'v:"\\"': [[], ['[']] } } },
  { manager: 'a "quoted\\" ] one', fieldsV1: {} },
]
const spec = { args: ['x', '"managedFields":[', 'ends with \\'] }

test('of each object what follows stays as it is, whatever characters the strings have', () => {
  const items = [
    { metadata: { name: 'a', managedFields }, spec },
    { metadata: { managedFields: [], name: 'b' }, spec },
    { metadata: { name: 'c' }, spec },
  ]
  assert.deepEqual(JSON.parse(withoutManagedFields(JSON.stringify({ metadata: {}, items }))), {
    metadata: {},
    items: [
      { metadata: { name: 'a', managedFields: null }, spec },
      { metadata: { managedFields: null, name: 'b' }, spec },
      { metadata: { name: 'c' }, spec },
    ],
  })
})

test('what has none is the same text', () => {
  const json = JSON.stringify({ items: [{ spec }] })
  assert.equal(withoutManagedFields(json), json)
})

test('an answer that was cut off does not become a whole one', () => {
  const json = JSON.stringify({ items: [{ metadata: { managedFields } }] })
  for (let length = 1; length < json.length; length++)
    assert.throws(() => JSON.parse(withoutManagedFields(json.slice(0, length))) as unknown, SyntaxError)
})
