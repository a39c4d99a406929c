import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, linkSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { packTar, unpackTar, type TarEntry } from 'modern-tar'
import type { HomeContents } from '#/engines/runtime.ts'
import { homeOwner, movedArchive, partOf } from './move-archive.ts'

/** Archives of the machine's own tar, moved, and listed by it. */
function homeOf(t: TestContext): { base: string; home: string } {
  const base = mkdtempSync(path.join(tmpdir(), 'berth-move-'))
  t.after(() => rmSync(base, { recursive: true, force: true }))
  const home = path.join(base, 'home')
  mkdirSync(path.join(home, 'notes/2026'), { recursive: true })
  writeFileSync(path.join(home, 'notes/2026/a.txt'), 'a')
  writeFileSync(path.join(home, 'notes-of-others'), 'b')
  chmodSync(path.join(home, 'notes-of-others'), 0o600)
  symlinkSync('../notes-of-others', path.join(home, 'notes/link'))
  linkSync(path.join(home, 'notes-of-others'), path.join(home, 'same'))
  mkdirSync(path.join(home, 'z-links'))
  for (const name of ['one', 'two']) linkSync(path.join(home, 'notes-of-others'), path.join(home, 'z-links', name))
  for (const target of ['../x', '../../etc/x', '../notes', '/usr/bin/python3'])
    symlinkSync(target, path.join(home, 'z-links', target.replaceAll('/', '_')))
  writeFileSync(path.join(home, `${'ä'.repeat(60)}-${'x'.repeat(120)}`), 'long')
  return { base, home }
}

async function moved(
  t: TestContext,
  only = '',
  format = 'pax',
): Promise<{ list: string[]; into: string; isThere: boolean }> {
  const { base, home } = homeOf(t)
  const archive = execFileSync('tar', [`--format=${format}`, '-C', home, '-cf', '-', '.'])
  const pieces: Uint8Array[] = []
  const source = async function* () {
    for (let at = 0; at < archive.length; at += 700) yield archive.subarray(at, at + 700)
  }
  const { isThere, elsewhere } = await partOf(source(), only)
  const move = { folder: 'restored', only, home: '/home/ann', elsewhere }
  for await (const piece of movedArchive(source(), move)) pieces.push(piece)
  const into = path.join(base, 'into')
  mkdirSync(into)
  execFileSync('tar', ['-C', into, '-xpf', '-'], { input: Buffer.concat(pieces) })
  const found = execFileSync('find', ['.', '-printf', '%P %y %m %l\n'], { cwd: into, encoding: 'utf8' })
  return {
    list: found
      .split('\n')
      .filter((line) => line.trim() !== '')
      .sort(),
    into,
    isThere,
  }
}

for (const format of ['pax', 'gnu'])
  test(`all of a ${format} archive lies in the new folder, with modes and links`, async (t) => {
    const { list, into } = await moved(t, '', format)
    const names = list.map((line) => line.split(' ')[0] ?? '')
    assert.ok(
      names.slice(1).every((name) => name === '' || name.startsWith('restored')),
      names.join(),
    )
    assert.ok(list.includes('restored/notes-of-others f 600 '))
    assert.ok(list.includes('restored/notes/link l 777 ../notes-of-others'))
    assert.ok(names.some((name) => name.endsWith('x'.repeat(120))))
    const sameFile = execFileSync('stat', ['-c', '%i', 'restored/same', 'restored/notes-of-others'], { cwd: into })
    assert.equal(new Set(sameFile.toString().trim().split('\n')).size, 1, 'a hard link is one file')
  })

test('one folder comes with what is below it and the folders above it, and with nothing else', async (t) => {
  const { list, isThere } = await moved(t, 'notes/2026')
  assert.deepEqual(
    list.map((line) => line.split(' ')[0]).filter((name) => name !== ''),
    ['restored', 'restored/notes', 'restored/notes/2026', 'restored/notes/2026/a.txt'],
  )
  assert.equal(isThere, true)
})

test('a part with hard links to files outside of it has their content', async (t) => {
  const { list, into } = await moved(t, 'z-links')
  assert.ok(list.includes('restored/z-links/one f 600 '), list.join('\n'))
  const same = execFileSync('stat', ['-c', '%i %s', 'restored/z-links/one', 'restored/z-links/two'], { cwd: into })
  assert.deepEqual(new Set(same.toString().trim().split('\n')).size, 1)
  assert.equal(readFileSync(path.join(into, 'restored/z-links/two'), 'utf8'), 'b')
  assert.ok(!list.some((line) => line.startsWith('restored/notes-of-others')))
})

test('symbolic links that lead out of the home lead there from the new folder, too, and others are as they were', async (t) => {
  const { list } = await moved(t)
  const targets = Object.fromEntries(
    list
      .filter((line) => line.startsWith('restored/z-links/') && line.includes(' l '))
      .map((line) => line.split(' l 777 ')),
  )
  assert.deepEqual(targets, {
    'restored/z-links/.._x': '../x',
    'restored/z-links/.._.._etc_x': '/home/etc/x',
    'restored/z-links/.._notes': '../notes',
    'restored/z-links/_usr_bin_python3': '/usr/bin/python3',
  })
})

test('a path that the archive does not have is known from its headers', async (t) => {
  for (const only of ['nonsense', 'note', 'notes/2026/a.txt/x'])
    assert.equal((await moved(t, only)).isThere, false, only)
  assert.equal((await moved(t, 'notes/2026/a.txt')).isThere, true)
})

test('a pipe is left out with its other names, which are hard links to it, and a part that is one of them is not there', async () => {
  // The engine refused the whole restore for a hard link to nothing: such a snapshot could not be restored.
  const archive = async function* () {
    yield await packTar([
      { header: { name: 'pipe', size: 0, type: 'fifo' } },
      ...['pipe-2', 'pipe-3'].map((name, at): TarEntry => {
        return { header: { name, size: 0, type: 'link', linkname: at === 0 ? './pipe' : 'pipe-2' } }
      }),
      { header: { name: 'same', size: 1, type: 'file' }, body: 'a' },
      { header: { name: 'same-2', size: 0, type: 'link', linkname: 'same' } },
    ])
  }
  const pieces: Uint8Array[] = []
  const move = { folder: 'restored', only: '', home: '/home/ann' }
  for await (const piece of movedArchive(archive(), move)) pieces.push(piece)
  const names = (await unpackTar(Buffer.concat(pieces))).map(({ header }) => header.name)
  assert.deepEqual(names, ['restored/same', 'restored/same-2'])
  assert.equal((await partOf(archive(), 'pipe-2')).isThere, false)
})

test('the owner of a home is known from its first entry, and by then nothing reads the home any more', async () => {
  const tar = await packTar([
    { header: { name: './', type: 'directory', size: 0, uid: 1_000, gid: 100 } },
    { header: { name: './large', type: 'file', size: 1_000_000 }, body: new Uint8Array(1_000_000) },
  ])
  let isRead = false
  const read: HomeContents['read'] = async function* () {
    isRead = true
    try {
      for (let at = 0; at < tar.length; at += 512) yield tar.subarray(at, at + 512)
    } finally {
      // The engine takes its time to remove a helper.
      await sleep(50)
      isRead = false
    }
  }
  const owner = await homeOwner({ read } as HomeContents, 'home', AbortSignal.timeout(5_000))
  assert.deepEqual([owner, isRead], [{ uid: 1_000, gid: 100 }, false])
})
