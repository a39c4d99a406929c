import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { StreamRegistry } from '#/containers/stream-registry.ts'
import { HomeDownloads } from './home-downloads.ts'

test('a download ends with its session, and with the block of its user, and leaves its place', async (t) => {
  // A user who was blocked received the rest of three archives.
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-downloads-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = path.join(folder, 'archive')
  writeFileSync(file, Buffer.alloc(1024 ** 2))
  const streams = new StreamRegistry()
  const snapshot = { id: 'x', createdAt: new Date(), reason: 'manual', bytes: 1 } as const
  const downloads = new HomeDownloads(
    { list: async () => [snapshot] },
    { volumeOf: async () => 'volume' },
    { open: () => open(file, 'r') },
    streams,
  )
  const now = new Date()
  const ticket = await downloads.offer({ id: 1, slug: 'ann' }, 'dev', 'x', now)
  for (const end of [() => streams.endSession(1, 's'), () => streams.endUser(1)])
    for (let at = 0; at < 3; at++) {
      const { stream } = await downloads.begin({ userId: 1, sid: 's' }, ticket, () => undefined, now)
      await once(stream, 'readable')
      end()
      assert.equal(stream.destroyed, true)
      if (!stream.closed) await once(stream, 'close')
    }
  const { stream } = await downloads.begin({ userId: 1, sid: 's' }, ticket, () => undefined, now)
  streams.endSession(1, 'another')
  assert.equal(stream.destroyed, false)
  stream.destroy()
})

test('each archive has an entity tag of its own, which stays while its bytes do', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-downloads-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const created = { createdAt: new Date(), reason: 'manual', bytes: 1 } as const
  const downloads = new HomeDownloads(
    { list: async () => ['x', 'y'].map((id) => ({ id, ...created })) },
    { volumeOf: async () => 'volume' },
    { open: (_, id) => open(path.join(folder, id), 'r') },
    new StreamRegistry(),
  )
  const [ann, now] = [{ id: 1, slug: 'ann' }, new Date()]
  for (const id of ['x', 'y']) writeFileSync(path.join(folder, id), 'content')
  const tagOf = async (id: string) => {
    const ticket = await downloads.offer(ann, 'dev', id, now)
    const { etag, stream } = await downloads.begin({ userId: 1, sid: 's' }, ticket, () => undefined, now)
    stream.destroy()
    return etag
  }
  const first = await tagOf('x')
  assert.equal(await tagOf('x'), first)
  assert.notEqual(await tagOf('y'), first)
  writeFileSync(path.join(folder, 'x'), 'content of another home')
  assert.notEqual(await tagOf('x'), first)
})
