import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { RuntimeContainer } from '#/engines/runtime.ts'
import { openTemporaryStore } from '#test/support/store/temporary-store.ts'
import { deriveSlug, takenSlugsTask } from './slug.ts'

test('a slug is what letters and digits the local part has, at most 24 of them', () => {
  assert.equal(deriveSlug('ann@example.org'), 'ann')
  assert.equal(deriveSlug('ann.b+lab-1@example.org'), 'annblab1')
  assert.equal(deriveSlug(`${'x'.repeat(60)}@example.org`), 'x'.repeat(24))
})

test('an address without letters or digits in its local part gets the slug "user"', () => {
  assert.equal(deriveSlug('+_@example.org'), 'user')
})

const ownerOf = (slug: string) => ({ userId: 7, slug, type: 'dev' })

/** One container, and homes whose list takes as long as the test says. */
async function arrange(t: TestContext) {
  const { database } = await openTemporaryStore(t)
  const lists: PromiseWithResolvers<{ volume: string; owner: ReturnType<typeof ownerOf> }[]>[] = []
  const homes = () => {
    lists.push(Promise.withResolvers())
    return lists.at(-1)?.promise ?? Promise.reject(new Error('no list'))
  }
  const containers = [{ owner: ownerOf('running') }, { owner: null }] as RuntimeContainer[]
  const engineList = { get: async () => ({ containers, askedAt: 0, isFull: true }) }
  const task = takenSlugsTask(database, { homes }, engineList)
  const taken = async () => {
    const rows = await database.db.selectFrom('used_slugs').select('slug').orderBy('slug').execute()
    return rows.map(({ slug }) => slug)
  }
  return { task, lists, taken, run: () => task.run(new Date()) }
}

/** Until what was resolved has come to the store. */
async function eventually(isSo: () => Promise<boolean>) {
  for (let each = 0; each < 1_000 && !(await isSo()); each++) await turn()
  assert.ok(await isSo())
}

// With 100,000 claims in a cluster the first run took 6.8 s, and nothing else was reconciled meanwhile.
test('a run does not wait for the list of homes, whose slugs are claimed when it comes, and counted by the next run', async (t) => {
  const { lists, taken, run } = await arrange(t)
  assert.deepEqual(await run(), { claimed: 1 })
  assert.deepEqual(await taken(), ['running'])
  assert.deepEqual(await run(), { claimed: 0 })
  assert.equal(lists.length, 1, 'one list at a time')
  lists[0]?.resolve([{ volume: 'v', owner: ownerOf('asleep') }])
  await eventually(async () => (await taken()).includes('asleep'))
  assert.deepEqual(await run(), { claimed: 1 })
  assert.deepEqual(await run(), { claimed: 0 })
  assert.equal(lists.length, 1, 'the next one is due in an hour')
})

test('a list of homes that fails is a failure of the next run, which asks again', async (t) => {
  const { lists, taken, run } = await arrange(t)
  await run()
  lists[0]?.reject(new Error('no answer'))
  await turn()
  await assert.rejects(run(), /no answer/)
  assert.equal(lists.length, 2)
  assert.deepEqual(await run(), { claimed: 0 }, 'it is told once')
  lists[1]?.resolve([{ volume: 'v', owner: ownerOf('asleep') }])
  await eventually(async () => (await taken()).includes('asleep'))
})

test('at the start all slugs are waited for, and the first run asks for no second list', async (t) => {
  const { task, lists, taken, run } = await arrange(t)
  let isDone = false
  const all = task.claimAll().then(() => (isDone = true))
  await run()
  assert.ok(!isDone)
  assert.equal(lists.length, 1)
  lists[0]?.resolve([{ volume: 'v', owner: ownerOf('asleep') }])
  await all
  assert.deepEqual(await taken(), ['asleep', 'running'])
})
