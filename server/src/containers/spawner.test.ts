import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { pino } from 'pino'
import type { Runtime } from '#/runtime/runtime.ts'
import { openDatabase } from '#/store/database.ts'
import { deleteContainer, ensureContainer, listContainersOf } from '#/store/user-containers.ts'
import { insertUser } from '#/store/users.ts'
import { CrashLoops } from './crash-loops.ts'
import { Flights } from './flights.ts'
import { readTemplate } from './read-templates.ts'
import { Spawner, type SpawnerParts } from './spawner.ts'

test('what an administrator deletes while it waits to be started again is not made anew', async (t) => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'berth-spawner-'))
  const database = await openDatabase(null, dataDir)
  t.after(async () => {
    await database.close()
    await rm(dataDir, { recursive: true })
  })
  const now = new Date()
  const user = await insertUser(database.db, { email: 'ann@x.org', slug: 'ann', isAdmin: false, now })
  const { template } = readTemplate('dev', { image: 'x' })
  assert.ok(template)
  const record = await ensureContainer(database.db, user.id, 'dev', 'x', now)

  const turns: string[] = []
  const flights = new Flights()
  const parts: Partial<Record<keyof SpawnerParts, object>> = {
    runtime: { inspect: async () => undefined } satisfies Partial<Runtime>,
    database,
    settings: { instance: 'b', spawnerUrl: '', jwksUrl: '', jwks: '', signingJwks: '' },
    flights,
    places: { publishContainer: async () => undefined },
    removal: { finishInFlight: async () => undefined },
    checks: { refusalFor: async () => undefined },
    admission: {
      promote: () => undefined,
      isThere: () => false,
      release: () => undefined,
      run: async ({ owned }: { owned: { type: string } }) => {
        turns.push(owned.type)
        throw new Error('the engine is asked to make it')
      },
    },
    stages: { enter: () => undefined },
    crashLoops: new CrashLoops(),
    launchCounts: { failed: () => undefined },
    log: pino({ level: 'silent' }),
  }
  const spawner = new Spawner(parts as unknown as SpawnerParts)
  const deleted = flights.join(
    `${user.id} dev`,
    'remove',
    async () => void (await deleteContainer(database.db, record.id)),
  )
  await Promise.all([deleted, assert.rejects(spawner.restore(user, template, now), { name: 'Refusal' })])
  assert.deepEqual([turns, await listContainersOf(database.db, user.id)], [[], []])

  await assert.rejects(spawner.ensureRunning(user, template, now), /the engine is asked/)
  assert.deepEqual(turns, ['dev'], 'whoever asks for it gets a new one')
})
