import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readConfig } from '#/config/config.ts'

const problemsOf = (templates: Record<string, unknown>) =>
  readConfig({ CONTAINER_TEMPLATES: JSON.stringify(templates) }, () => '').problems

test('types that share a home have to agree on its size', () => {
  const shared = { image: 'x', home_of: 'user' }
  assert.deepEqual(problemsOf({ a: { ...shared, home_size: '1g' }, b: { ...shared, home_size: '1024m' } }), [])
  const [problem = ''] = problemsOf({
    a: shared,
    b: { ...shared, home_size: '1g' },
    c: { image: 'x', home_size: '2g' },
  })
  assert.match(problem, /b: home_size is another than that of a/)
})

test('a home that is shared has to be there, and whose it is has two words', () => {
  const without = problemsOf({ a: { image: 'x', home: null, home_of: 'user' } })
  assert.match(without.join(), /a: home_of: user needs a home/)
  assert.match(problemsOf({ a: { image: 'x', home_of: 'group' } }).join(), /a: home_of /)
})
