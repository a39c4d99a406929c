import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertOk } from '#test/support/api-calls.ts'
import { groupTemplates, startGroupBerth } from '#test/support/group-berth.ts'
import { faultyStore } from '#test/support/store/faulty-store.ts'

/** What groups cost where a launch has nothing to do with them. */
const asked: string[] = []
const { dev, prod } = groupTemplates
const { boss, signUp, group, launch } = await startGroupBerth(
  { after },
  {
    env: { CONTAINER_TEMPLATES: JSON.stringify({ dev, prod }) },
    wrapDatabase: (database) =>
      faultyStore(database, {
        fails: (query) => {
          asked.push(query)
          return false
        },
      }),
  },
)
const ann = await signUp('ann@x.org')
const membershipQueries = async (work: () => Promise<void>): Promise<number> => {
  const before = asked.length
  await work()
  assert.ok(asked.length > before, 'queries are seen')
  return asked.slice(before).filter((query) => query.includes('group_members')).length
}
const use = async (type: string) => {
  assertOk(await launch(ann, type))
  assertOk(await ann.call('GET', '/api/user/containers'))
  assertOk(await ann.call('POST', `/api/container/stop/${type}`))
  assertOk(await launch(ann, type))
}

test('without any group a launch and the list of containers ask the store nothing about groups', async () => {
  assert.equal(await membershipQueries(() => use('dev')), 0)
})

test('with groups that neither template, limit nor end makes count, launches ask nothing either', async () => {
  await group({ name: 'Idle' }, [ann])
  await group({ name: 'Other type', types: ['prod'], limits: { running: 1 }, expires_at: '2020-01-01T00:00:00Z' }, [
    boss,
  ])
  const list = async () => assertOk(await ann.call('GET', '/api/user/containers'))
  // The list says which types are not launched any more: one question for all of them.
  const launches = (await membershipQueries(() => use('dev'))) - (await membershipQueries(list))
  assert.deepEqual([launches, await membershipQueries(list)], [0, 1])
  assert.ok((await membershipQueries(() => use('prod'))) > 1)
})
