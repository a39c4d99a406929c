import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { test, type TestContext } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { createTarDecoder } from 'modern-tar'
import type { ContainerFiles } from '#/engines/runtime.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { RoomOn } from '#/machine/disk-room.ts'
import type { StarterFiles } from '#/templates/template.ts'
import { FileSetBuilder } from './file-set.ts'
import { FileSources } from './file-sources.ts'
import { StoppedHome } from './stopped-home.ts'
import { PutSelection, PutStarterFiles, emptyRecord, maxRecord, readRecord, writeRecord } from './put-starter-files.ts'

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

/** What copies of a user's files take on the disk of the store. */

const size = 256 * 1024 ** 2
const theirs = 'changed by the user'
const update = { to: '', update: 'changed' } as const

/**
 * A home in which each file of the course has this size, and a content that is shorter, so that the test does not take the disk
 * that it is about. @param onRead after each file @param taken names of files that it has
 */
function engineOf(onRead: (path: string) => void, taken: RegExp, bytes: number): ContainerFiles & { looks: number } {
  const none = async () => assert.fail('only looks and reads')
  const engine = {
    looks: 0,
    begin: none,
    status: async (_id: string, file: string) => {
      engine.looks++
      if (file === '/home/berth') return { kind: 'folder', size: 0, mode: 0o755 } as const
      return taken.test(file) ? ({ kind: 'file', size: bytes, mode: 0o644 } as const) : undefined
    },
    linkTarget: none,
    async *read(_id: string, file: string) {
      yield Buffer.from(theirs)
      onRead(path.posix.basename(file))
    },
    accountFor: none,
    write: none,
  }
  return engine
}

interface HomeOptions {
  /** Hash of each file in the record; none where its user has removed that. */
  readonly hash?: string
  readonly room?: RoomOn
  readonly taken?: RegExp
  readonly bytes?: number
}

async function select(t: TestContext, files: number, options: HomeOptions = {}) {
  const { hash, room, taken = /\.txt$/, bytes = size } = options
  const base = mkdtempSync(path.join(tmpdir(), 'berth-put-'))
  t.after(() => rmSync(base, { recursive: true, force: true }))
  const builder = await FileSetBuilder.create(path.join(base, 'set'))
  const names = Array.from({ length: files }, (_, number) => `${100 + number}.txt`)
  for (const name of names)
    await builder.addFile(name, 0o644, new Date(), Readable.from([Buffer.from('of the course')]))
  const set = builder.finish('1')
  t.after(() => set.release())
  const folder = path.join(base, 'copies')
  const copies = () => (existsSync(folder) ? readdirSync(folder).length : 0)
  const seen = { read: [] as string[], copies: 0 }
  const engine = engineOf(
    (name) => {
      seen.read.push(name)
      seen.copies = Math.max(seen.copies, copies())
    },
    taken,
    bytes,
  )
  const never = new AbortController().signal
  const home = new StoppedHome(engine, 'c', '/home/berth', { folder, ...(room && { room }) }, never)
  const hashes = new Map(hash === undefined ? [] : names.map((name) => [name, hash] as const))
  const selection = new PutSelection(home, { ...emptyRecord, hashes })
  await selection.add(set, update)
  return { names, home, selection, seen, copies, engine }
}

// A user who made holes of all files of a course, and removed the record of them, took 25 GB of the disk of the store at a restart.
test('copies of what a user changed have a bound for each launch; files beyond it are left out and named', async (t) => {
  const { names, home, selection, seen, copies } = await select(t, 100)
  assert.deepEqual(seen, { read: names.slice(0, 2), copies: 2 })
  assert.deepEqual(selection.keptBeside, ['100.txt.1', '101.txt.1'])
  assert.deepEqual(selection.leftOut, names.slice(2))
  assert.deepEqual([...selection.hashes.keys()], names.slice(0, 2), 'the next launch goes on with the others')
  await home.close()
  assert.equal(copies(), 0)
})

test('a copy that is not put back is removed at once, and what is read to compare has a bound, too', async (t) => {
  const { names, selection, seen, copies } = await select(t, 100, { hash: sha256(theirs) })
  assert.deepEqual(seen, { read: names.slice(0, 6), copies: 1 })
  assert.equal(copies(), 0)
  assert.deepEqual([selection.keptBeside, selection.leftOut], [[], names.slice(6)])
})

test('a disk that has only its reserve left gets no copy; the file is left out and named', async (t) => {
  let looks = 0
  const { names, selection, seen, copies } = await select(t, 2, { room: async () => (looks++ === 0 ? 1 : 0) })
  assert.deepEqual([seen.read, copies()], [names.slice(0, 1), 1])
  assert.deepEqual([selection.keptBeside, selection.leftOut], [['100.txt.1'], ['101.txt']])
})

// A user who takes a thousand names for each of 10,000 files brought about ten million looks for one launch, of 1.5 ms each.
test('names of copies that a user has taken are looked at up to a bound; the other files are left out and named', async (t) => {
  const { names, selection, engine } = await select(t, 40, { taken: /\.txt(\.\d+)?$/, bytes: theirs.length })
  assert.ok(engine.looks < 20_100, `${engine.looks} looks`)
  assert.deepEqual([selection.keptBeside, selection.leftOut], [[], names])
})

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

/** The record lies in the home, where its owner writes what they like. */

const hash = 'a'.repeat(64)
const list = (length: number, each: (at: number) => string) => Array.from({ length }, (_, at) => each(at)).join(',')

// 16 MiB of such a text took the parser up to ten seconds, in which the API process answered no request.
test('a record that would take the parser long is not parsed, and counts as none', (t) => {
  const parse = t.mock.method(JSON, 'parse')
  const hostile = {
    keys: `{"files":{${list(100_000, (at) => `"${at}a":""`)}}}`,
    numbers: `{"files":{${list(100_000, (at) => `"${at}":""`)}}}`,
    lists: `{"put":[${list(100_000, () => '[]')}]}`,
    depth: '['.repeat(100_000),
    shapes: `[${list(100_000, (at) => `{"${at}a":1}`)}]`,
    bytes: `{"put":["${'x'.repeat(maxRecord)}"]}`,
  }
  for (const [name, text] of Object.entries(hostile)) assert.deepEqual(readRecord(text), emptyRecord, name)
  assert.equal(parse.mock.callCount(), 0)
})

test('a record of two sets of 10,000 files is read as it was written', () => {
  const paths = Array.from(
    { length: 20_000 },
    (_, at) => `course/week ${at % 40}, lesson [${at}]/notebook of ${at}.ipynb`,
  )
  const hashes = new Map(paths.map((path) => [path, hash]))
  const record = { put: new Set(['one', 'two']), hashes, unfinished: new Set<string>() }
  assert.ok(isDeepStrictEqual(readRecord(writeRecord(record).toString()), record))
  const begun = { ...record, hashes: new Map(), unfinished: new Set(paths) }
  assert.ok(isDeepStrictEqual(readRecord(writeRecord(begun).toString()), begun))
})

test('a record with more files than it may have keeps those that were put there last', () => {
  const paths = Array.from({ length: 30_000 }, (_, at) => `${'folder/'.repeat(30)}${at}`)
  const hashes = new Map(paths.map((path) => [path, hash]))
  const written = writeRecord({ put: new Set(['one']), hashes, unfinished: new Set(paths.slice(-100)) })
  assert.ok(written.length <= maxRecord)
  const read = readRecord(written.toString())
  assert.ok(read.hashes.size > 10_000, `${read.hashes.size} files`)
  assert.deepEqual([...read.hashes.keys()], paths.slice(-read.hashes.size))
  assert.deepEqual([read.put.size, read.unfinished.size], [1, 100])
})
