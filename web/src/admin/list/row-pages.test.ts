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

test('a row that changed is shown as it is now, in its place', () => {
  const changed = withChanged(pages, new Set([2, 99]), (old) => ({ ...old, isBlocked: true }))
  assert.deepEqual(rowsOf(changed), [row(1), row(2, true), row(3)])
  assert.equal(changed?.pages[1], pages.pages[1], 'a page without it is rendered no more')
})

test('a row that is gone is shown no more, and nothing changes for one that is not loaded', () => {
  assert.deepEqual(rowsOf(without(pages, new Set([3]))), [row(1), row(2)])
  assert.equal(without(pages, new Set([99])), pages)
  assert.equal(without(undefined, new Set([1])), undefined)
})
