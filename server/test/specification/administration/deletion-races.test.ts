// Part of npm run test:more: moments of a race; deleting-containers.test.ts has the deletions themselves.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  assertOk,
  assertRefused,
  deleteContainer,
  deleteUser,
  engineState,
  onEngine,
  recordOf,
  seenBy,
  until,
} from '../../support/api-calls.ts'
import { startBerth, type Reply } from '../../support/berth.ts'
import { gatedRuntime } from '../../support/engine/faulty-runtimes.ts'
import { extent, onlyLong } from '#test/support/extent.ts'

const berth = await startBerth({ after })
const admin = await berth.administrator()

/** Id of the first record that the store has of this user. */
async function recordAppears(userId: number): Promise<number> {
  const records = berth.database.db.selectFrom('user_containers').select('id').where('user_id', '=', userId)
  for (;;) {
    const record = await records.executeTakeFirst()
    if (record) return record.id
    await sleep(1)
  }
}

test('a container deleted while it is launched, and launched again meanwhile, is neither left behind nor doubled', async () => {
  const ann = await berth.signUp('ann@x.org')
  const launch = () => ann.call('POST', '/api/container/launch/dev')
  for (let round = 0; round < extent(4, 10); round++) {
    for (const { id } of (await seenBy(admin, ann.id)).containers) assertOk(await deleteContainer(admin, id))
    const first = launch()
    const id = await recordAppears(ann.id)
    // Another moment of the launch in each round.
    await sleep(round * extent(100, 40))
    const deleted = deleteContainer(admin, id)
    await sleep(round % 3)
    for (const { status, text } of await Promise.all([first, launch()]))
      assert.ok(status === 200 || status === 500, text)
    assertOk(await deleted)
    const [record] = (await seenBy(admin, ann.id)).containers
    assert.notEqual(record?.id, id)
    await untilOnEngine(ann.id, record ? [record.container_id] : [])
  }
  const last = await launch()
  assertOk(last)
  assert.equal(await engineState(berth, last.body.container_id), 'running')
  assert.deepEqual(await onEngine(berth, ann.id), [last.body.container_id])
})

test('a user deleted while they launch has nothing on the engine afterwards', onlyLong, async () => {
  for (let round = 0; round < 5; round++) {
    const person = await berth.signUp(`bob${round}@x.org`)
    const launch = person.call('POST', '/api/container/launch/prod')
    // Another moment of the launch in each round.
    await sleep(round * 80)
    assertOk(await deleteUser(admin, person.id))
    const { status, text } = await launch
    assert.ok(status === 200 || status === 404, text)
    await untilOnEngine(person.id, [])
  }
})

test(
  'a launch whose container, or whose user, is deleted before it is done does not promise anything',
  onlyLong,
  async (t) => {
    let release = () => {}
    let mayGoOn = Promise.resolve()
    const held = await startBerth(t, { wrapRuntime: (runtime) => gatedRuntime(runtime, () => mayGoOn) })
    const [boss, cat] = [await held.administrator(), await held.signUp('cat@x.org')]
    const launchAndDelete = async (type: string, deletion: (id: number) => Promise<Reply>) => {
      mayGoOn = new Promise((resolve) => (release = resolve))
      const launched = cat.call('POST', `/api/container/launch/${type}`)
      const { db } = held.database
      const records = db.selectFrom('user_containers').select('id').where('container_type', '=', type)
      const hers = records.where('user_id', '=', cat.id)
      await until(async () => (await hers.executeTakeFirst()) !== undefined)
      const deleted = deletion((await hers.executeTakeFirstOrThrow()).id)
      await until(async () => (await hers.executeTakeFirst()) === undefined)
      release()
      assertOk(await deleted)
      return launched
    }
    assertOk(await deleteContainer(boss, (await recordOf(boss, cat.id)).id))
    const first = await launchAndDelete('dev', (id) => deleteContainer(boss, id))
    assertRefused(first, 500)
    assert.match(first.body.error, /deleted/)
    assertRefused(await launchAndDelete('prod', () => deleteUser(boss, cat.id)), 404)
    await until(async () => (await onEngine(held, cat.id)).length === 0)
  },
)

/** On a slow machine a deletion is answered before the engine has done all of it. */
const untilOnEngine = (userId: number, ids: readonly (string | null)[]) =>
  until(async () => isDeepStrictEqual(await onEngine(berth, userId), ids))
