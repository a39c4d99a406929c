import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import type { StoredEnvironment, StoredVersion } from '#/store/environments.ts'
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
