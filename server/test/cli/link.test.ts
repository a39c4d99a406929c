import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noEngine, runCommand } from '#test/support/command-line.ts'

const settings = {
  ...noEngine,
  CONTAINER_TEMPLATES: '{"lab": {"image": "x"}}',
  OPEN_GIT_HOSTS: 'git.example.org',
  FRONTEND_URL: 'https://learn.example.org',
}
const link = (...args: string[]) => runCommand(settings, 'link', 'open', ...args)

test('berth link open prints the link that a card makes', async () => {
  const plain = await link('lab', 'tree/week 1.ipynb')
  assert.deepEqual([plain.code, plain.stdout.trim()], [0, 'https://learn.example.org/open/lab/tree/week%201.ipynb'])
  const files = await link(
    'lab',
    '--git',
    'https://git.example.org/course',
    '--ref',
    'main',
    '--to',
    'course',
    '--json',
  )
  assert.deepEqual(JSON.parse(files.stdout), {
    link: 'https://learn.example.org/open/lab/?git=https%3A%2F%2Fgit.example.org%2Fcourse&ref=main&to=course',
  })
})

test('a link that would not work is not printed, and the reason is', async () => {
  for (const [args, words] of [
    [['other'], /No type is called other/],
    [['lab', '--git', 'https://github.com/x/y'], /OPEN_GIT_HOSTS/],
    [['lab', '--git', 'https://git.example.org/x', '--to', '..'], /--to a folder in the home/],
    [['lab', '--to', 'x'], /need --git/],
  ] as const) {
    const { code, stdout, stderr } = await link(...args)
    assert.deepEqual([code, stdout], [1, ''], args.join(' '))
    assert.match(stderr, words)
  }
})
