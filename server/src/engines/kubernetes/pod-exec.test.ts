import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { packTar } from 'modern-tar'
import { waitLimit } from '#test/support/extent.ts'
import { framed, lookAt, unpack, waitingScript } from './pod-exec.ts'

/** The command of helpers with the shell and tar of this machine, whose standard input stays open. */

function folderFor(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-helper-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function unpackIn(folder: string, archive: AsyncIterable<Uint8Array>) {
  const input = Buffer.concat(await Array.fromAsync(framed(archive)))
  const [program = '', ...words] = unpack(folder)
  // What comes after the end must not be read: the input of a helper does not end.
  return spawnSync(program, words, { input: Buffer.concat([input, Buffer.from('never read\n')]), timeout: 20_000 })
}

test('an archive in pieces of any size is unpacked whole, although its input does not end', async (t) => {
  const large = Buffer.alloc(3_000_001, 'berth ')
  const archive = await packTar([
    { header: { name: 'note', size: 5, mode: 0o640 }, body: 'hello' },
    { header: { name: 'large', size: large.length }, body: large },
  ])
  for (const size of [333, 65_536, archive.length]) {
    const folder = folderFor(t)
    const { status, stderr } = await unpackIn(folder, inPieces(archive, size))
    assert.equal(status, 0, stderr.toString())
    assert.equal(readFileSync(path.join(folder, 'note'), 'utf8'), 'hello')
    assert.equal(statSync(path.join(folder, 'note')).mode & 0o777, 0o640)
    assert.ok(readFileSync(path.join(folder, 'large')).equals(large))
  }
})

test('what is no archive, and an archive that is cut off, fail', async (t) => {
  const archive = await packTar([{ header: { name: 'large', size: 200_000 }, body: Buffer.alloc(200_000, 'x') }])
  for (const bytes of [Buffer.alloc(5_000_000, 'no archive'), archive.subarray(0, 100_000)]) {
    const { status } = await unpackIn(folderFor(t), inPieces(bytes, 50_000))
    assert.notEqual(status, 0)
  }
})

/** Waits with these numbers of processes in sight. @returns its exit code, later */
function waitBeside(folder: string, processes: readonly string[], idle: number): Promise<unknown[]> {
  for (const each of processes) mkdirSync(path.join(folder, each))
  const script = waitingScript(`touch ${folder}/begun; [ -e ${folder}/open ]`, idle).replaceAll('/proc/', `${folder}/`)
  return once(spawn('sh', ['-c', script]), 'exit', { signal: AbortSignal.timeout(waitLimit(20_000)) })
}

// In a pod with shareProcessNamespace it saw the pause container, took it for a command, and waited for ever.
test('a helper ends when no command runs in it for so long, whatever processes are there from the beginning', async (t) => {
  for (const processes of [['1'], ['1', '7']]) {
    const [code] = await waitBeside(folderFor(t), processes, 1)
    assert.equal(code, 1)
  }
})

test('a helper in which a command runs goes on, and ends well once its condition holds', async (t) => {
  const folder = folderFor(t)
  let isOver = false
  const ended = waitBeside(folder, ['1', '7'], 1.5).finally(() => (isOver = true))
  // What is there when it begins does not count as a command.
  while (!existsSync(path.join(folder, 'begun'))) await sleep(10)
  mkdirSync(path.join(folder, '20'))
  // Longer than it waits without a command.
  await sleep(2_500)
  assert.equal(isOver, false)
  mkdirSync(path.join(folder, 'open'))
  assert.deepEqual(await ended, [0, null])
})

test('a path is there when nothing before its last part is a link, whatever its name', (t) => {
  const folder = folderFor(t)
  mkdirSync(path.join(folder, '-n a/$(id)'), { recursive: true })
  writeFileSync(path.join(folder, '-n a/$(id)/one\ntwo'), '')
  symlinkSync('/etc', path.join(folder, 'out'))
  symlinkSync('nowhere', path.join(folder, 'broken'))
  const look = (at: string) => {
    const [program = '', ...words] = lookAt(folder, at)
    return spawnSync(program, words, { timeout: 20_000 }).stdout.toString()
  }
  for (const at of ['-n a', '-n a/$(id)']) assert.equal(look(at), 'folder', at)
  for (const at of ['-n a/$(id)/one\ntwo', 'out', 'broken']) assert.equal(look(at), 'other', at)
  for (const at of ['out/passwd', 'no', '-n a/no', '-n a/$(id)/one\ntwo/x', 'broken/x']) assert.equal(look(at), '', at)
})
