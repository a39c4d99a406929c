import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import {
  findVersion,
  insertEnvironment,
  insertVersion,
  type StoredEnvironment,
  type StoredVersion,
} from '#/store/environments.ts'
import { StoreFailure } from '#/store/store-failure.ts'
import { pollUntil } from '#test/support/control-plane.ts'
import { openTemporaryStore } from '#test/support/store/temporary-store.ts'
import { VersionBuilds, type VersionBuildsParts } from './version-builds.ts'

// They had their turn in the order in which they were asked for: a manager with twenty environments held up all other groups for hours.
test('groups take turns with their builds', async (t) => {
  const { database } = await openTemporaryStore(t)
  const ends: (() => void)[] = []
  const begun: string[] = []
  const parts: Partial<Record<keyof VersionBuildsParts, unknown>> = {
    database,
    builds: { sweep: async () => undefined },
    imageBuild: {
      run: async ({ name }: { name: string }) => {
        begun.push(name.replace(/^.*\/|:.*$/g, ''))
        await new Promise<void>((resolve) => ends.push(resolve))
        return { id: 'sha256:0', size: 1 }
      },
    },
    runtime: { list: async () => [] },
    installation: 'berth',
    parallel: 1,
    log: pino({ level: 'silent' }),
  }
  const builds = new VersionBuilds(parts as VersionBuildsParts)
  const begin = (groupId: number, id: number) => {
    const environment = { id, name: `e${id}`, groupId, published: null } as StoredEnvironment
    builds.begin(
      environment,
      { id, environmentId: id, version: 1, source: { dockerfile: 'FROM a' } } as StoredVersion,
      null,
    )
  }
  for (const id of [1, 2, 3]) begin(1, id)
  begin(2, 4)
  for (let done = 0; done < 4; done++) {
    while (ends.length <= done) await new Promise(setImmediate)
    ends[done]?.()
  }
  assert.deepEqual(begun, ['e1', 'e2', 'e4', 'e3'])
  await builds.stop()
})

// When the store was down at the end of a build, its version could be neither cancelled nor built again until Berth was restarted.
test('a version whose end could not be stored fails, and what is being built goes on', async (t) => {
  const { database } = await openTemporaryStore(t)
  let failures = 0
  let endSecond = () => {}
  const parts: Partial<Record<keyof VersionBuildsParts, unknown>> = {
    database: {
      ...database,
      transaction: async (work: Parameters<typeof database.transaction>[0]) => {
        if (++failures <= 2) throw new StoreFailure('the store does not answer')
        return database.transaction(work)
      },
    },
    builds: { sweep: async () => undefined },
    imageBuild: {
      run: async ({ name }: { name: string }) => {
        if (name.includes('second')) await new Promise<void>((resolve) => (endSecond = resolve))
        return { id: 'sha256:0', size: 1 }
      },
    },
    runtime: { list: async () => [] },
    installation: 'berth',
    parallel: 2,
    log: pino({ level: 'silent' }),
  }
  const builds = new VersionBuilds(parts as VersionBuildsParts)
  const store = async (name: string, storedAt: number) => {
    const fields = { name, description: '', source: { dockerfile: 'FROM a' }, groupId: null }
    const environment = await insertEnvironment(database.db, fields, new Date(storedAt))
    assert.ok(environment)
    const version = await insertVersion(database.db, environment, new Date(storedAt))
    const stateNow = async () => (await findVersion(database.db, environment.id, version.version))?.state
    return { begin: () => builds.begin(environment, version, null), version, stateNow }
  }
  const earlier = Date.now() - 120_000
  const [first, second, third] = [
    await store('first', earlier),
    await store('second', earlier),
    await store('third', Date.now()),
  ]
  first.begin()
  const isOver = async () => failures === 2 && builds.logOf(first.version.id) === undefined
  await pollUntil(isOver, () => `${failures} writes have failed`)
  second.begin()
  await pollUntil(
    async () => (await second.stateNow()) === 'building',
    () => 'the second build begins',
  )
  await builds.clean()
  // The third is about to begin.
  const states = async () => Promise.all([first, second, third].map(({ stateNow }) => stateNow()))
  assert.deepEqual(await states(), ['failed', 'building', 'waiting'])
  endSecond()
  await pollUntil(
    async () => (await second.stateNow()) === 'ready',
    () => 'the second build ends',
  )
  await builds.stop()
})
