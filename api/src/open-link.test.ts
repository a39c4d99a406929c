import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openLink, openLinkProblem, parseOpenLink } from './open-link.ts'

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

test('a link that would lead nowhere is not made, judged as the server judges it', () => {
  for (const path of ['../x', 'a/..;x/b', 'a\\b', 'a%2fb', 'https://x.org/ann-dev/x', 'x?a b'])
    assert.equal(openLinkProblem({ type: 'dev', path }), 'path', path)
  for (const path of ['', 'lab/tree/week 1.ipynb?reset', '..x'])
    assert.equal(openLinkProblem({ type: 'dev', path }), undefined, path)
  // A password would stand in the link, and in its QR code.
  for (const git of ['https://ann:secret@x.org/a', 'ftp://x.org/a', 'https://x.org', 'https://x.org/a?token=1'])
    assert.equal(openLinkProblem({ type: 'dev', path: '', git }), 'git', git)
  assert.equal(openLinkProblem({ type: 'dev', path: '', git: 'https://x.org/a.git' }), undefined)
})
