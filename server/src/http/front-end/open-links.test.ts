import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openLink } from '@berth/api/open-link.ts'
import { parseOpenLink } from './open-links.ts'

test('a link that is made leads to the type and path that it was made for', () => {
  for (const [type, path, rest, query] of [
    ['dev', '', '', ''],
    ['odd one/two', 'a b/ü.txt', 'a%20b/%C3%BC.txt', ''],
    ['dev', '/lab/tree/week 1.ipynb?reset', 'lab/tree/week%201.ipynb', '?reset'],
    // As it stands in an address bar.
    ['dev', 'a%20b/x%3F.txt', 'a%20b/x%3F.txt', ''],
    ['dev', '100%', '100%25', ''],
  ] as const) {
    const link = openLink('https://x.org', { type, path })
    assert.deepEqual(parseOpenLink(link.slice('https://x.org'.length)), { type, rest, query }, link)
  }
})

test('files of a repository stand in the query, behind what the application takes', () => {
  const git = 'https://git.example.org/a?'
  assert.equal(
    openLink('', { type: 'dev', path: 'lab?reset', git, to: 'week 1', ref: '' }),
    '/open/dev/lab?reset&git=https%3A%2F%2Fgit.example.org%2Fa%3F&to=week+1',
  )
  assert.equal(openLink('', { type: 'dev', path: '', ref: 'main', to: 'x' }), '/open/dev/')
})
