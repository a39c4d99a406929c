import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withoutEarlier } from './earlier-addition.ts'

const earlier = { role: 'member', added: ['ann@x.org'], invited: ['ben@x.org', 'eve@x.org'] } as const

// One mistyped address of thirty: after its correction the other 29 were mailed again.
test('who was added or invited before is not added again when a line is corrected', () => {
  const { left, done } = withoutEarlier(['Ann@x.org', 'ben@x.org', 'cem@x.org'], 'member', earlier)
  assert.deepEqual(left, ['cem@x.org'])
  assert.deepEqual(done, { added: ['ann@x.org'], invited: ['ben@x.org'], refused: [] }, 'eve was taken out of the text')
})

test('everything is left at the first press, and with another role', () => {
  const all = ['ann@x.org', 'ben@x.org']
  const nothing = { added: [], invited: [], refused: [] }
  assert.deepEqual(withoutEarlier(all, 'member', undefined), { left: all, done: nothing })
  assert.deepEqual(withoutEarlier(all, 'manager', earlier), { left: all, done: nothing })
})
