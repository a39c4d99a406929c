import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pageOf } from './pagination.ts'

const idOf = ({ id }: { readonly id: number }) => id
const rows = (...ids: number[]) => ids.map((id) => ({ id }))

test('a page with a row beyond its limit has a next one, which begins after the last row shown', () => {
  assert.deepEqual(pageOf(rows(3, 5, 8), 2, idOf), { rows: rows(3, 5), next: 5 })
})

test('a page that is just full, not full or empty is the last one', () => {
  assert.deepEqual(pageOf(rows(3, 5), 2, idOf), { rows: rows(3, 5), next: null })
  assert.deepEqual(pageOf(rows(3), 2, idOf), { rows: rows(3), next: null })
  assert.deepEqual(pageOf([], 2, idOf), { rows: [], next: null })
})
