import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import type { ContainerRef } from '#/store/user-containers.ts'
import { openTemporaryStore } from '#test/support/store/temporary-store.ts'
import { GroupExpiry, type GroupExpiryParts } from './group-expiry.ts'

// The check waited for it, and containers of a group that expired later ran on for as long.
test('a container whose stop hangs delays no other container of an expired group', async (t) => {
  const { database } = await openTemporaryStore(t)
  const running = ['hung', 'late'].map((type, index) => ({
    known: { userId: index + 1, type, containerId: `id-${type}` },
  }))
  const group = { id: 1, name: 'x', types: ['hung'], expiresAt: new Date(0) }
  const stopped: string[] = []
  const stop = async ({ type }: ContainerRef) => {
    stopped.push(type)
    await (type === 'hung' ? new Promise(() => undefined) : undefined)
    return true
  }
  const parts: Partial<Record<keyof GroupExpiryParts, unknown>> = {
    db: database.db,
    directory: { hasEnding: true, expired: () => [group], find: () => [group] },
    templates: { get: () => undefined },
    parallelStops: 8,
    routeSync: { running: () => running },
    stop,
    log: pino({ level: 'silent' }),
  }
  const expiry = new GroupExpiry(parts as GroupExpiryParts)
  t.after(() => expiry.close())
  await expiry.check(new Date())
  assert.deepEqual(stopped, ['hung'])
  group.types.push('late')
  await expiry.check(new Date())
  assert.deepEqual(stopped, ['hung', 'late'])
})

// The container of the second group was looked at when the first one had expired, and ran on until some group changed.
test('a group that expires stops containers that an earlier expired group did not concern', async (t) => {
  const { database } = await openTemporaryStore(t)
  const stopped: string[] = []
  const [past, term] = [
    { id: 1, name: 'past', types: null, expiresAt: new Date(0) },
    { id: 2, name: 'term', types: null, expiresAt: new Date(2_000) },
  ]
  const parts: Partial<Record<keyof GroupExpiryParts, unknown>> = {
    db: database.db,
    directory: {
      hasEnding: true,
      expired: (now: Date) => [past, term].filter(({ expiresAt }) => expiresAt <= now),
      find: () => [term],
    },
    templates: { get: () => undefined },
    parallelStops: 8,
    routeSync: { running: () => [{ known: { userId: 1, type: 'dev', containerId: 'id' } }] },
    stop: async ({ type }: ContainerRef) => {
      stopped.push(type)
      return true
    },
    log: pino({ level: 'silent' }),
  }
  const expiry = new GroupExpiry(parts as GroupExpiryParts)
  t.after(() => expiry.close())
  await expiry.check(new Date(1_000))
  assert.deepEqual(stopped, [])
  await expiry.check(new Date(2_000))
  assert.deepEqual(stopped, ['dev'])
})
