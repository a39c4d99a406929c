import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addressOf, filterOf, fromSort, isFiltered, readView, toSort } from './view.ts'

const spec = { q: 5, state: ['registered', 'active'], sort: ['email', '-email'] }
const read = (query: string) => readView(new URLSearchParams(query), spec)

test('a view is read from its URL', () => {
  assert.deepEqual(read('q=ann&state=active&sort=-email'), { q: 'ann', state: 'active', sort: '-email' })
  const view = { q: 'ann', state: 'active', sort: '-email' }
  assert.deepEqual(readView(new URL(addressOf('/admin/users', view), 'http://b').searchParams, spec), view)
})

test('unknown parameters are ignored', () => {
  assert.deepEqual(read('state=gone&sort=size&other=1&q='), {})
  assert.deepEqual(read('q=++anneliese++'), { q: 'annel' })
})

test('the same view has the same URL, whatever the order of choices', () => {
  assert.equal(addressOf('/x', { sort: 'email', q: 'a b' }), '/x?q=a+b&sort=email')
  assert.equal(addressOf('/x', { q: 'a b', sort: 'email' }), '/x?q=a+b&sort=email')
  assert.equal(addressOf('/x', { q: undefined, state: '' }), '/x')
})

test('the order is not part of the filter', () => {
  assert.deepEqual(filterOf({ sort: 'email', q: 'a' }), { q: 'a' })
  assert.equal(isFiltered({ sort: 'email' }), false)
  assert.equal(isFiltered({ q: 'a' }), true)
})

test('a minus reverses the order', () => {
  assert.equal(toSort('email', true), '-email')
  assert.deepEqual(fromSort('-email'), { id: 'email', desc: true })
  assert.deepEqual(fromSort(toSort('id', false)), { id: 'id', desc: false })
})
