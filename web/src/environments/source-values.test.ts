import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fieldsOf, kindOf, sourceOf } from './source-values.ts'

test('fields of the form say the source that they were made from', () => {
  for (const source of [
    { base: 'a', apt: ['jq'], pip: [], npm: [], run: ['x', 'y'] },
    { dockerfile: 'FROM a\n' },
    { git: 'https://x.org/y', ref: 'main', path: 'week 1', base: 'a' },
    { git: 'https://x.org/y' },
  ])
    assert.deepEqual(sourceOf(kindOf(source), fieldsOf(source)), source)
  const fields = { ...fieldsOf(undefined), base: ' a ', apt: ' jq \n\n git ' }
  assert.deepEqual(sourceOf(kindOf(undefined), fields), { base: 'a', apt: ['jq', 'git'], pip: [], npm: [], run: [] })
})
