import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TarHeader } from 'modern-tar'
import { BadArchive, EntryRules } from './checked-archive.ts'

const file = (name: string, more: Partial<TarHeader> = {}): TarHeader => ({ name, size: 1, type: 'file', ...more })
const link = (name: string, type: 'link' | 'symlink', linkname: string): TarHeader => ({
  name,
  size: 0,
  type,
  linkname,
})

/** Characters of all names that were looked up: what the rules cost beside the reading of each name. */
class CountingSet extends Set<string> {
  looked = 0
  override has(name: string): boolean {
    this.looked += name.length + 1
    return super.has(name)
  }
}

test('entries in a deep folder cost by the length of their names, not by the number of folders above each of them', () => {
  // All folders above were cut out of the name and looked up for each entry: 100,000 in a folder that is 1,900 levels deep
  // kept the process, and so all other requests, for two hours.
  const folders = new CountingSet()
  const rules = new EntryRules(1_000_000, folders)
  const deep = 'd/'.repeat(1_900)
  const names = Array.from({ length: 2_000 }, (_, at) => `${deep}${at}`)
  const made = names.flatMap((name) => rules.rewrite(file(name)))
  assert.equal(made.length, names.length + 1_901)
  const characters = names.reduce((sum, { length }) => sum + length, 0)
  // Every folder of the first one is added, which has half of its length on average.
  assert.ok(folders.looked < 3 * characters + 10 * 1_900 * deep.length, `${folders.looked} of ${characters}`)
})

test('many deep folders cost by the length of their names: what is in memory limits them', () => {
  const folders = new CountingSet()
  const rules = new EntryRules(1_000_000, folders)
  const deep = 'd/'.repeat(1_900)
  const fill = () => {
    for (let at = 0; ; at++) rules.rewrite(file(`${deep}${at}/x`))
  }
  assert.throws(fill, BadArchive)
  assert.ok(folders.looked < 10 * 32 * 1024 ** 2, String(folders.looked))
})

test('a name of many slashes, which is short otherwise, is not read piece by piece', () => {
  assert.throws(() => new EntryRules(1).rewrite(file(`a${'/'.repeat(8_000_000)}`)), BadArchive)
})

test('another name of a symbolic link is one: nothing is behind it, and a chain of such names ends the same way', () => {
  const way = [link('way', 'symlink', '/home'), link('b', 'link', 'way'), link('c', 'link', './b')]
  for (const behind of [file('c/x'), link('d', 'link', 'c/x'), { ...file('c/sub/'), type: 'directory' as const }]) {
    const rules = new EntryRules(100)
    for (const header of way) rules.rewrite(header)
    assert.throws(() => rules.rewrite(behind), BadArchive, behind.name)
  }
})

test('hard links lead to entries in folders of the archive, and not to folders', () => {
  for (const target of ['elsewhere/x', 'a', 'a/b/../../../x', 'a/x/y']) {
    const rules = new EntryRules(100)
    rules.rewrite(file('a/x'))
    assert.throws(() => rules.rewrite(link('b', 'link', target)), BadArchive, target)
  }
  const rules = new EntryRules(100)
  rules.rewrite(file('a/x'))
  assert.deepEqual(
    rules.rewrite(link('b', 'link', './a/x')).map(({ linkname }) => linkname),
    ['a/x'],
  )
})

test('a hard link to what does not come before it is refused with words, like a file in the place of a folder', () => {
  // The engine refused the whole archive, which was a failure of Berth (500) with an empty file left in the home.
  const folder = (name: string): TarHeader => ({ name, size: 0, type: 'directory' })
  const pipe = { ...file('p'), type: 'fifo' } as unknown as TarHeader
  const cases: readonly (readonly [string, TarHeader[], RegExp])[] = [
    ['nothing', [link('h', 'link', 'zz')], /missingTarget/],
    ['what comes later', [link('h', 'link', 'a'), file('a')], /missingTarget/],
    ['itself', [link('h', 'link', 'h')], /missingTarget/],
    ['what is left out', [pipe, link('h', 'link', 'p')], /missingTarget/],
    ['another name in the same folder', [file('d/a'), link('d/h', 'link', 'd/b')], /missingTarget/],
    ['a folder that is a file', [file('a'), folder('a/')], /fileAndFolder/],
    ['a folder above that is a file', [file('a'), file('a/b')], /fileAndFolder/],
    ['a file that is a folder', [folder('a/'), file('a')], /fileAndFolder/],
    ['a folder that is a hard link', [file('a'), link('b', 'link', 'a'), file('b/c')], /fileAndFolder/],
  ]
  for (const [what, headers, reason] of cases) {
    const rules = new EntryRules(100)
    assert.throws(() => headers.forEach((header) => rules.rewrite(header)), reason, what)
  }
  const taken = new EntryRules(100)
  const good = [
    file('a'),
    file('a'),
    link('b', 'link', 'a'),
    link('c', 'link', 'b'),
    link('a', 'symlink', 'x'),
    file('b'),
  ]
  for (const header of good) assert.equal(taken.rewrite(header).at(-1)?.name, header.name)
})

test('times that a header has no room for are left out, and the entry is taken', () => {
  for (const mtime of [Number.NaN, Number.POSITIVE_INFINITY, -1_000, 8.64e15]) {
    const [, taken] = new EntryRules(1).rewrite(file('x', { mtime: new Date(mtime) }))
    assert.equal(taken?.mtime, undefined, String(mtime))
  }
  const [, taken] = new EntryRules(1).rewrite(file('x', { mtime: new Date(1_000) }))
  assert.deepEqual(taken?.mtime, new Date(1_000))
})
