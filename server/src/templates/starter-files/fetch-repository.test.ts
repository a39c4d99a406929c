import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { FileSources } from './file-sources.ts'

/** Git LFS, where it is installed for the machine, is such a filter: it would ask a server for each file that says so. */
test('no filter of the machine runs on files of a repository, and no attribute changes them', async (t) => {
  const base = mkdtempSync(path.join(tmpdir(), 'berth-attributes-'))
  t.after(() => rmSync(base, { recursive: true, force: true }))
  const at = (...parts: string[]) => path.join(base, ...parts)
  const attributes = ['filter=lfs', 'text eol=crlf', 'ident']
  for (const [index, attribute] of attributes.entries()) {
    mkdirSync(at(`course/${index}`), { recursive: true })
    writeFileSync(at(`course/${index}/.gitattributes`), `*.md ${attribute}\n`)
    writeFileSync(at(`course/${index}/a.md`), '$Id$\nend')
  }
  const user = ['-c', 'user.name=t', '-c', 'user.email=t@x.org']
  for (const args of [
    ['init', '-q'],
    ['add', '-A'],
    [...user, 'commit', '-q', '-m', 'x'],
  ])
    execFileSync('git', args, { cwd: at('course') })
  mkdirSync(at('home'))
  writeFileSync(at('home/.gitconfig'), `[filter "lfs"]\n\tsmudge = touch ${at('ran')} && echo changed\n`)
  const { HOME: home = '' } = process.env
  t.after(() => (process.env.HOME = home))
  process.env.HOME = at('home')

  const sources = new FileSources({ folder: at('cache'), roots: [] })
  const origin = { git: `file://${at('course')}`, ref: null }
  const set = await sources.load(origin, performance.now(), AbortSignal.timeout(30_000))
  const texts: string[] = []
  for (const entry of set.entries)
    if (entry.kind === 'file' && entry.path.endsWith('a.md')) {
      const parts: Uint8Array[] = []
      for await (const bytes of set.read(entry)) parts.push(bytes)
      texts.push(Buffer.concat(parts).toString())
    }
  await set.release()
  assert.deepEqual(texts, ['$Id$\nend', '$Id$\nend', '$Id$\nend'])
  assert.equal(existsSync(at('ran')), false)
})
