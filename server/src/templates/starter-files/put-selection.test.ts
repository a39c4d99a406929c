import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { test, type TestContext } from 'node:test'
import type { RoomOn } from '#/machine/disk-room.ts'
import type { ContainerFiles } from '#/engines/container-files.ts'
import { FileSetBuilder } from './file-set.ts'
import { HomeFiles } from './home-files.ts'
import { emptyRecord } from './put-record.ts'
import { PutSelection } from './put-selection.ts'

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
  /** Of each file in the record; none: its user has removed that. */
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
  const set = builder.finish()
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
  const home = new HomeFiles(engine, 'c', '/home/berth', { folder, ...(room && { room }) }, never)
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
