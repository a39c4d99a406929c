import assert from 'node:assert/strict'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'
import { rawEntry, tarEnd } from '#test/support/homes/raw-tar.ts'
import { BadArchive, SizeLimitExceeded, checkedArchive } from './checked-archive.ts'
import { movedArchive } from './move-archive.ts'
import { tarThread } from './tar-thread.ts'

const limits = { maxBytes: 1024 ** 3, maxEntries: 1_000_000 }
const move = { folder: 'restored', only: '', home: '/home' }
async function* parts(bytes: Uint8Array) {
  for (let at = 0; at < bytes.length; at += 65_536) {
    await nextTurn()
    yield bytes.subarray(at, at + 65_536)
  }
}
const archiveOf = (count: number) =>
  Buffer.concat([...Array.from({ length: count }, (_, at) => rawEntry({ name: `d/${at}`, body: 'x' })), tarEnd])

/** An archive without times and checksums: an entry without a time gets that of its writing, a second that may change. */
function withoutTimes(archive: Buffer): Buffer {
  for (let at = 0; at + 512 <= archive.length;) {
    const size = Number.parseInt(archive.toString('latin1', at + 124, at + 136), 8) || 0
    archive.fill(0, at + 136, at + 156)
    at += 512 + Math.ceil(size / 512) * 512
  }
  return archive
}

test('the thread answers what the same work answers without it', async () => {
  const archive = archiveOf(300)
  const [checked, moved] = [tarThread.check(parts(archive), limits), tarThread.move(parts(archive), move)]
  const plain = [await buffer(checkedArchive(parts(archive), limits)), await buffer(movedArchive(parts(archive), move))]
  assert.deepEqual([await buffer(checked), await buffer(moved)].map(withoutTimes), plain.map(withoutTimes))
  assert.equal((await tarThread.partOf(parts(archive), 'd/7')).isThere, true)
  assert.equal((await tarThread.partOf(parts(archive), 'none')).isThere, false)
})

test('what is refused, and what fails, is so as without it', async () => {
  const outside = Buffer.concat([rawEntry({ name: '../x' }), tarEnd])
  await assert.rejects(
    buffer(tarThread.check(parts(outside), limits)),
    (error) => error instanceof BadArchive && error.sentence.key === 'snapshots.badName',
  )
  await assert.rejects(buffer(tarThread.check(parts(archiveOf(9)), { ...limits, maxBytes: 1_024 })), SizeLimitExceeded)
  const reason = new Error('the sender has gone')
  const gone = async function* () {
    yield archiveOf(9).subarray(0, 1_024)
    throw reason
  }
  await assert.rejects(buffer(tarThread.check(gone(), limits)), (error) => error === reason)
})

test('a reader that goes ends the source', { timeout: 60_000 }, async () => {
  const ended = Promise.withResolvers<void>()
  const endless = async function* () {
    try {
      for (let at = 0; ; at++) yield rawEntry({ name: `d/${at}`, body: Buffer.alloc(65_536) })
    } finally {
      ended.resolve()
    }
  }
  for await (const part of tarThread.check(endless(), { ...limits, maxBytes: 1e15 })) if (part.length > 0) break
  const alive = setInterval(() => undefined, 1_000)
  await ended.promise
  clearInterval(alive)
})

test('work whose thread has ended fails, and the next work has another thread', { timeout: 60_000 }, async () => {
  const threads: Worker[] = []
  const note = (worker: Worker) => void threads.push(worker)
  process.on('worker', note)
  // The thread of the tests before is idle, and ends by itself.
  while (threads.length === 0) {
    await buffer(tarThread.check(parts(archiveOf(1)), limits))
    if (threads.length === 0) await sleep(6_000)
  }
  const endless = async function* () {
    for (let at = 0; ; at++) yield rawEntry({ name: `d/${at}`, body: Buffer.alloc(65_536) })
  }
  const work = tarThread.check(endless(), { ...limits, maxBytes: 1e15 })
  await work.next()
  await threads[0]?.terminate()
  await assert.rejects(buffer(work), /thread has ended/)
  process.off('worker', note)
  assert.ok((await buffer(tarThread.check(parts(archiveOf(1)), limits))).length > 0)
})

// Two uploads of 900,000 empty files kept another person's `me` waiting for 1.8 s.
test('an archive of empty files takes less of the event loop than the same bytes do without the thread', async () => {
  const archive = archiveOf(5_000)
  // Of this thread alone: what else the machine does meanwhile does not count.
  const busyWhile = async (work: () => Promise<unknown>) => {
    const before = process.threadCpuUsage()
    await work()
    const { user, system } = process.threadCpuUsage(before)
    return (user + system) / 1_000
  }
  // A collection of garbage falls into some of the rounds.
  const leastOf = async (work: () => Promise<unknown>) => {
    const taken: number[] = []
    for (let round = 0; round < 3; round++) taken.push(await busyWhile(work))
    return Math.min(...taken)
  }
  const without = await leastOf(() => buffer(checkedArchive(parts(archive), limits)))
  const within = await leastOf(() => buffer(tarThread.check(parts(archive), limits)))
  assert.ok(within < without / 2, `${within} ms of CPU time of the event loop, ${without} ms without the thread`)
})
