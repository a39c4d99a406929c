import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { test, type TestContext } from 'node:test'
import { createTarDecoder } from 'modern-tar'
import type { ContainerFiles } from '#/runtime/container-files.ts'
import type { StarterFiles } from '../templates/starter-files.ts'
import { FileSources } from './file-sources.ts'
import { PutStarterFiles } from './put-starter-files.ts'

/** What a crash while files are put into a home leaves, and what an owner has in their place; the engine is a map here. */

const home = '/home/berth'
type Tree = Map<string, string>

/** Files of a container by path; a text is a file, `dir` a folder. @param maxEntries after which a write breaks off in a file */
function filesOf(tree: Tree, maxEntries = Infinity): ContainerFiles {
  return {
    status: async (_id, file) => {
      const text = file === home ? 'dir' : tree.get(file)
      if (text === undefined) return undefined
      return { kind: text === 'dir' ? 'folder' : 'file', size: text.length, mode: 0o644 }
    },
    linkTarget: async () => '',
    async *read(_id, file) {
      yield Buffer.from(tree.get(file) ?? '')
    },
    accountFor: async () => ({ uid: 1000, gid: 1000 }),
    write: async (_id, folder, archive) => {
      let count = 0
      const bytes = Readable.toWeb(Readable.from(archive)) as ReadableStream<Uint8Array>
      for await (const { header, body } of bytes.pipeThrough(createTarDecoder({ strict: true }))) {
        const text = await new Response(body as ReadableStream<Uint8Array<ArrayBuffer>>).text()
        const file = path.posix.join(folder, header.name).replace(/\/$/, '')
        const isCut = ++count > maxEntries
        tree.set(file, header.type === 'directory' ? 'dir' : isCut ? text.slice(0, 2) : text)
        if (isCut) throw new Error('the process was killed')
      }
    },
  }
}

function arrange(t: TestContext, update: StarterFiles['update'] = 'missing') {
  const base = mkdtempSync(path.join(tmpdir(), 'berth-put-'))
  t.after(() => rmSync(base, { recursive: true, force: true }))
  mkdirSync(path.join(base, 'course'))
  const write = (name: string, text: string) => writeFileSync(path.join(base, 'course', name), text)
  const folder = path.join(base, 'cache')
  const sources = new FileSources({ folder, roots: [base] })
  const lines: unknown[] = []
  const log = { warn: (line: unknown) => void lines.push(line), info: (line: unknown) => void lines.push(line) }
  const files: StarterFiles[] = [{ from: { path: path.join(base, 'course') }, to: 'course', update }]
  const tree: Tree = new Map()
  const run = (maxEntries?: number) =>
    new PutStarterFiles({ files: filesOf(tree, maxEntries), sources, folder, log }).run(
      { id: 'c', home, name: 'berth-ann-dev', requestedAt: performance.now() + 10_000 },
      files,
      new AbortController().signal,
    )
  const shown = () => [...tree].filter(([file]) => !file.endsWith('.json')).map(([file, text]) => `${file} ${text}`)
  return { write, run, tree, shown, lines }
}

test('a file that a crash left in part is completed, and is not taken for one that its owner changed', async (t) => {
  const { write, run, tree, shown } = arrange(t)
  write('a.txt', 'first file')
  write('b.txt', 'second file')
  // The record, the folder, the first file; then the second one breaks off.
  await assert.rejects(run(3), /the process was killed/)
  assert.equal(tree.get(`${home}/course/b.txt`), 'se')
  await run()
  assert.deepEqual(shown(), [
    `${home}/course dir`,
    `${home}/course/a.txt first file`,
    `${home}/course/b.txt second file`,
  ])
  tree.set(`${home}/course/b.txt`, 'mine')
  await run()
  assert.equal(tree.get(`${home}/course/b.txt`), 'mine')
})

test('a folder in the place of a file stays, and a file in the place of a folder; what belongs there is left out', async (t) => {
  const { write, run, tree, lines } = arrange(t, 'changed')
  write('a.txt', 'first file')
  tree.set(`${home}/course`, 'dir').set(`${home}/course/a.txt`, 'dir').set(`${home}/course/a.txt/own`, 'mine')
  await run()
  assert.deepEqual([tree.get(`${home}/course/a.txt`), tree.get(`${home}/course/a.txt/own`)], ['dir', 'mine'])
  assert.match(JSON.stringify(lines), /"leftOut":\["course\/a.txt"\]/)
  tree.clear()
  tree.set(`${home}/course`, 'mine')
  await run()
  assert.equal(tree.get(`${home}/course`), 'mine')
})

test('a record that its owner broke or forged costs no file of theirs', async (t) => {
  const { write, run, tree } = arrange(t, 'changed')
  write('a.txt', 'first file')
  for (const record of ['no JSON', '[]', '{"files":7,"put":{},"unfinished":"x"}', '{"files":{"__proto__":"x"}}']) {
    tree.clear()
    tree.set(`${home}/course`, 'dir').set(`${home}/course/a.txt`, 'mine').set(`${home}/.berth-files.json`, record)
    await run()
    assert.deepEqual(
      [tree.get(`${home}/course/a.txt`), tree.get(`${home}/course/a.txt.1`)],
      ['first file', 'mine'],
      record,
    )
  }
})
