import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rowsOf, withChanged, without, type RowPages } from './row-pages.ts'

const row = (id: number, isBlocked = false) => ({ id, isBlocked })
const pages: RowPages<ReturnType<typeof row>> = {
  pages: [
    { rows: [row(1), row(2)], next: 'b' },
    { rows: [row(3)], next: null },
  ],
  pageParams: [undefined, 'b'],
}

test('a changed row is replaced in its position', () => {
  const changed = withChanged(pages, new Set([2, 99]), (old) => ({ ...old, isBlocked: true }))
  assert.deepEqual(rowsOf(changed), [row(1), row(2, true), row(3)])
  assert.equal(changed?.pages[1], pages.pages[1], 'a page without it is rendered no more')
})

test('a deleted row is removed, and one that is not loaded changes nothing', () => {
  assert.deepEqual(rowsOf(without(pages, new Set([3]))), [row(1), row(2)])
  assert.equal(without(pages, new Set([99])), pages)
  assert.equal(without(undefined, new Set([1])), undefined)
})
