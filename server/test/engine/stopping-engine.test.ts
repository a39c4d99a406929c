import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { FileSources } from '#/templates/starter-files/file-sources.ts'
import { PutStarterFiles } from '#/templates/starter-files/put-starter-files.ts'
import type { ContainerFiles, HomeContents } from '#/engines/runtime.ts'
import { createDockerRuntime, dockerHomeArchive } from '#/engines/docker/docker-runtime.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import {
  archiveOf,
  askEngine,
  engineAddress,
  newInstallation,
  removeInstallation,
  testImage,
} from '#test/support/engine/engine.ts'
import { engineAnswering, ok, refusal } from '#test/support/engine/faulty-engines.ts'
import { startOwnEngine, type OwnEngine } from '#test/support/engine/own-engine.ts'
import { waitLimit } from '#test/support/extent.ts'

/**
 * Homes that are read and written while the engine is being stopped. Docker 20.10 stops the containers first, for as long as
 * they take; a home of which the reading begins meanwhile is unmounted in the middle of it, and the archive ends in order
 * without all that was not read yet: `npm run chaos` found a snapshot with 282 of 2,900 files.
 */

const { signal } = new AbortController()
const owner = { userId: 2, slug: 'ann', type: 'dev' }

/** A home at the machine's engine, and a way there on which some questions get another answer. */
async function withHome(t: TestContext, part: Pick<RegExp, 'test'>, answer: string) {
  const installation = newInstallation()
  const volume = `${installation}-ann-dev`
  t.after(() => removeInstallation(installation))
  const files = path.join(import.meta.dirname, '..', 'support', 'engine')
  const content = await archiveOf(files)
  const write = (address: string, name: string) =>
    dockerHomeArchive(installation, address).write({ volume: name, owner }, () => Readable.from([content]), {
      signal,
      beforeCreate: async () => undefined,
    })
  await write(engineAddress, volume)
  const address = await engineAnswering(t, part, answer)
  const runtime = createDockerRuntime({ installation, dockerHost: address, network: installation })
  const contents = runtime.homeContents() as HomeContents
  const other = `${installation}-bob-dev`
  return {
    installation,
    volume,
    read: () => Array.fromAsync(contents.read(volume, signal)),
    add: () => contents.add(volume, Readable.from([content]), signal),
    writeOther: () => write(address, other),
    other,
  }
}

const isUnreachable = (error: unknown) =>
  error instanceof RuntimeError &&
  error.kind === 'unreachable' &&
  /the engine was stopped meanwhile/.test(error.message)

test('what is read or written on a connection that the engine ended meanwhile is not taken for whole', async (t) => {
  // As an engine that was stopped and started again, with questions that wait at its socket for as long.
  const { read, add, writeOther, other } = await withHome(t, /^GET \S+\/events/, ok(''))
  await assert.rejects(read, isUnreachable)
  await assert.rejects(add, isUnreachable)
  await assert.rejects(writeOther, isUnreachable)
  await assert.rejects(
    askEngine('GET', `/volumes/${other}`),
    /404/,
    'a home that was not written whole is removed again',
  )
})

test('what is read or written when the engine has closed its list of volumes is not taken for whole', async (t) => {
  let looks = 0
  // The first look is whether there is such a home, the second whether it was mounted until the end.
  const second = { test: (line: string) => /^GET \S+\/volumes\//.test(line) && ++looks % 2 === 0 }
  const closed = refusal(500, 'get volume: database not open')
  const { installation, volume, read, add } = await withHome(t, second, closed)
  await assert.rejects(read, isUnreachable)
  await assert.rejects(add, isUnreachable)
  const query = { all: '1', filters: JSON.stringify({ label: [`berth.helper=${installation}`] }) }
  assert.deepEqual(await askEngine('GET', '/containers/json', { query }), [])
  assert.equal(looks, 4)
  await askEngine('DELETE', `/volumes/${volume}`)
})

test('starter files are not taken for put when the engine was stopped meanwhile, and the next launch puts them', async (t) => {
  let looks = 0
  const second = { test: (line: string) => /^GET \S+\/volumes\//.test(line) && ++looks === 2 }
  // Before anything is written; after all is written, which is when what was written may be elsewhere.
  const faults = [
    { part: /^GET \S+\/events/, answer: ok(''), isWritten: false },
    { part: second, answer: refusal(500, 'get volume: database not open'), isWritten: true },
  ]
  for (const { part, answer, isWritten } of faults) {
    const { put, lines, textOf } = await withStarterFiles(t)
    await assert.rejects(put(await engineAnswering(t, part, answer)), isUnreachable)
    assert.deepEqual(lines, [], 'nothing says that they were put')
    assert.equal(await textOf('course/lab.txt'), isWritten ? 'lab 1' : undefined)
    await put(engineAddress)
    assert.equal(await textOf('course/lab.txt'), 'lab 1')
  }
  assert.equal(looks, 2)
})

/** A container that was created, and a template whose files are put into its home by an engine at an address. */
async function withStarterFiles(t: TestContext) {
  const installation = newInstallation()
  t.after(() => removeInstallation(installation))
  const base = mkdtempSync(path.join(tmpdir(), 'berth-stopping-'))
  t.after(() => rmSync(base, { recursive: true, force: true }))
  const course = path.join(base, 'course')
  mkdirSync(course)
  writeFileSync(path.join(course, 'lab.txt'), 'lab 1')
  const [volume, home, labels] = [`${installation}-ann-dev`, '/home/berth', { 'berth.instance': installation }]
  await askEngine('POST', '/volumes/create', { body: { Name: volume, Labels: labels } })
  const mount = { Type: 'volume', Source: volume, Target: home }
  const body = { Image: await testImage(), Labels: labels, HostConfig: { Mounts: [mount] } }
  const { Id: id } = await askEngine<{ Id: string }>('POST', '/containers/create', { body })
  const filesAt = (dockerHost: string) =>
    createDockerRuntime({ installation, dockerHost, network: installation }).containerFiles() as ContainerFiles
  const lines: unknown[] = []
  const log = { warn: (line: unknown) => void lines.push(line), info: (line: unknown) => void lines.push(line) }
  const folder = path.join(base, 'cache')
  const sources = new FileSources({ folder, roots: [base] })
  return {
    lines,
    put: (address: string) =>
      new PutStarterFiles({ files: filesAt(address), sources, folder, log }).run(
        { id, volume, home, name: volume, requestedAt: performance.now() },
        [{ from: { path: course }, to: 'course', update: 'missing' }],
        signal,
      ),
    textOf: async (file: string) => {
      const [files, at] = [filesAt(engineAddress), path.posix.join(home, file)]
      if (!(await files.status(id, at, signal))) return undefined
      return Buffer.concat(await Array.fromAsync(files.read(id, at, signal))).toString()
    },
  }
}

test(
  'a home that is read while the engine is stopped is whole, or the reading fails',
  { timeout: waitLimit(180_000) },
  async (t) => {
    const engine = await startOwnEngine(t)
    const volume = await fillHome(engine)
    for (let each = 0; each < 6; each++) await runUntilStopped(engine)
    const archive = dockerHomeArchive('test-stopping', engine.address)
    const whole = await sizeOf(archive.read(volume, signal), 0)
    const stopping = engine.stop()
    await sleep(20)
    const size = await sizeOf(archive.read(volume, signal), 2).catch((error: unknown) => {
      assert.ok(error instanceof RuntimeError, String(error))
      return whole
    })
    assert.equal(size, whole)
    await stopping
  },
)

/** 1,500 files with 30 MB, which the engine packs for a while. @returns name of the home */
async function fillHome({ address, ask }: OwnEngine): Promise<string> {
  const volume = 'test-stopping-ann-dev'
  await ask('POST', '/volumes/create', { body: { Name: volume } })
  const home = path.join(path.dirname(address.replace('unix://', '')), 'data', 'volumes', volume, '_data')
  for (let folder = 0; folder < 150; folder++) {
    mkdirSync(path.join(home, String(folder)))
    for (let file = 0; file < 10; file++)
      writeFileSync(path.join(home, String(folder), String(file)), Buffer.alloc(20_000))
  }
  return volume
}

/** A program that ends a moment after it is told to, as most do. */
async function runUntilStopped({ ask }: OwnEngine): Promise<void> {
  const script = 'trap "exit 0" TERM; while :; do sleep 0.2; done'
  const body = { Image: await testImage(), Cmd: ['/bin/sh', '-c', script] }
  const { Id } = await ask<{ Id: string }>('POST', '/containers/create', { body })
  await ask('POST', `/containers/${Id}/start`)
}

/** @param pause after each part, in ms: a disk that is slow @returns bytes */
async function sizeOf(archive: AsyncIterable<Uint8Array>, pause: number): Promise<number> {
  let size = 0
  for await (const part of archive) {
    size += part.length
    if (pause > 0) await sleep(pause)
  }
  return size
}
