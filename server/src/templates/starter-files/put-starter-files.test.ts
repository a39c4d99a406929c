import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { test, type TestContext } from 'node:test'
import { createTarDecoder } from 'modern-tar'
import type { ContainerFiles } from '#/engines/container-files.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { StarterFiles } from '#/templates/starter-files.ts'
import { FileSources } from './file-sources.ts'
import { PutStarterFiles } from './put-starter-files.ts'

/** What a crash while files are put into a home leaves, and what an owner has in their place; the engine is a map here. */

const home = '/home/berth'
type Tree = Map<string, string>

/** Files of a container by path; a text is a file, `dir` a folder. @param maxEntries after which a write breaks off in a file */
function filesOf(tree: Tree, maxEntries = Infinity): ContainerFiles {
  return {
    begin: async () => ({ requireWhole: async () => undefined, leave: () => undefined }),
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
  const runWith = (engine: ContainerFiles) =>
    new PutStarterFiles({ files: engine, sources, folder, log }).run(
      { id: 'c', volume: 'berth-ann-dev', home, name: 'berth-ann-dev', requestedAt: performance.now() + 10_000 },
      files,
      new AbortController().signal,
    )
  const run = (maxEntries?: number) => runWith(filesOf(tree, maxEntries))
  const shown = () => [...tree].filter(([file]) => !file.endsWith('.json')).map(([file, text]) => `${file} ${text}`)
  return { write, run, runWith, tree, shown, lines }
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

/**
 * An engine that is being stopped, and unmounts the home at a moment: from then on the home looks empty, what is written goes
 * elsewhere, and all is answered as ever.
 * @param entries of an archive that still come into the home; undefined: it is unmounted before it is looked at
 */
function stoppingFilesOf(tree: Tree, entries: number | undefined): ContainerFiles & { isLeft: boolean } {
  const elsewhere: Tree = new Map()
  let isUnmounted = entries === undefined
  const now = () => filesOf(isUnmounted ? elsewhere : tree)
  const engine: ReturnType<typeof stoppingFilesOf> = {
    isLeft: false,
    begin: async () => ({
      requireWhole: async (what: string) => {
        if (isUnmounted) throw new RuntimeError('unreachable', `${what}: the engine was stopped meanwhile`)
      },
      leave: () => void (engine.isLeft = true),
    }),
    status: (...args) => now().status(...args),
    linkTarget: (...args) => now().linkTarget(...args),
    read: (...args) => now().read(...args),
    accountFor: (...args) => now().accountFor(...args),
    write: async (...args) => {
      // Once it is started again, what waited for it comes into the home.
      await filesOf(tree, entries)
        .write(...args)
        .catch(() => undefined)
      isUnmounted = true
    },
  }
  return engine
}

const isStopped = (error: unknown) =>
  error instanceof RuntimeError &&
  error.kind === 'unreachable' &&
  error.message.includes('put starter files into berth-ann-dev: the engine was stopped meanwhile')

// Docker that is being stopped answers 200 to an archive of which it has put a part elsewhere; the launch counted the files
// as put, and a start that waited for the next engine ran without them.
test('files of which an engine that is being stopped put only a part into the home do not count as put, and the next run completes them', async (t) => {
  const { write, run, runWith, tree, shown, lines } = arrange(t)
  write('a.txt', 'first file')
  write('b.txt', 'second file')
  const stopping = stoppingFilesOf(tree, 3)
  await assert.rejects(runWith(stopping), isStopped)
  assert.ok(stopping.isLeft)
  assert.deepEqual(lines, [], 'nothing says that they were put')
  assert.equal(tree.get(`${home}/course/b.txt`), 'se')
  const whole = [`${home}/course dir`, `${home}/course/a.txt first file`, `${home}/course/b.txt second file`]
  await run()
  assert.deepEqual(shown(), whole)
})

test('a home that looks empty because the engine is being stopped loses no file of its owner', async (t) => {
  const { write, run, runWith, tree } = arrange(t)
  write('a.txt', 'first file')
  await run()
  tree.set(`${home}/course/a.txt`, 'mine')
  const before = new Map(tree)
  await assert.rejects(runWith(stoppingFilesOf(tree, undefined)), isStopped)
  assert.deepEqual(tree, before)
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
