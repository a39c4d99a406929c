import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EngineClient } from './engine-client.ts'
import { HomeLists } from './home-volumes.ts'
import { homeLabels } from './labels.ts'

test('the engine makes one list of homes at a time, and calls that come meanwhile share the next, which has begun after them', async () => {
  const lists: { readonly labels: string; readonly answer: () => void }[] = []
  const volumes = [1, 2, 3].map((userId) => ({
    Name: `home-${userId}`,
    Labels: homeLabels('test', { userId, slug: `user${userId}`, type: 'dev' }),
  }))
  const client = {
    each: async ({ query }: { query: { filters: string } }, take: (found: readonly unknown[]) => void) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      lists.push({ labels: query.filters, answer: resolve })
      await promise
      take(volumes)
    },
  } as unknown as EngineClient
  const homes = new HomeLists({ client, installation: 'test' })
  const namesOf = async (userId?: number) => (await homes.of(userId)).map(({ volume }) => volume)

  const first = namesOf(1)
  const meanwhile = [2, 3, 2].map(namesOf)
  assert.equal(lists.length, 1)
  assert.match(lists[0]?.labels ?? '', /user_id=1/, 'alone, one user is asked for')
  volumes.push({ Name: 'home-2b', Labels: homeLabels('test', { userId: 2, slug: 'user2', type: 'late' }) })
  lists[0]?.answer()
  assert.deepEqual(await first, ['home-1'])
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(lists.length, 2)
  assert.doesNotMatch(lists[1]?.labels ?? '', /user_id/)
  lists[1]?.answer()
  assert.deepEqual(await Promise.all(meanwhile), [['home-2', 'home-2b'], ['home-3'], ['home-2', 'home-2b']])

  const all = namesOf()
  assert.equal(lists.length, 3)
  lists[2]?.answer()
  assert.deepEqual(await all, ['home-1', 'home-2', 'home-3', 'home-2b'])
})
