// Part of npm run test:long: it waits for a minute; `restorer.test.ts` states the same of each step.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pollUntil } from '../support/control-plane.ts'
import { startEnginelessBerth, tokenIn } from '../support/berth-without-engine.ts'
import { faultyStore, type StoreFault } from '../support/store/faulty-store.ts'
import { FakeEngine } from '../support/engine/fake-engine.ts'
import { FakeGateway } from '../support/gateway/fake-gateway.ts'
import { observationTime } from '#test/support/observation-time.ts'
import { waitLimit } from '#test/support/extent.ts'

/**
 * After a restart of the machine its memory was short for a while, or the store failed: after six seconds what had run was
 * given up for good, although nothing was wrong with it.
 */
test(
  'after a restart all that ran runs again, however long memory was short and the store failed; who asks comes first',
  { timeout: waitLimit(240_000) },
  async (t) => {
    const [engine, gateway, fault]: [FakeEngine, FakeGateway, StoreFault] = [new FakeEngine(), new FakeGateway(), {}]
    const berth = await startEnginelessBerth(t, {
      env: {
        CONTAINER_TEMPLATES: JSON.stringify({ dev: { image: 'i', port: 8080 } }),
        REQUESTS_PER_MINUTE: '0',
        LAUNCH_PARALLEL: '1',
      },
      runtime: engine.runtime,
      gateway,
      wrapDatabase: (database) => faultyStore(database, fault),
      pace: { every: 500 },
    })
    const people = 12
    for (let each = 0; each < people; each++) {
      await berth.call('POST', '/api/auth/signup', { body: { email: `u${each}@x.org` } })
      const mail = berth.mails.at(-1)
      assert.ok(mail)
      await berth.call('GET', `/api/auth/verify-signup?token=${tokenIn(mail)}`)
    }
    assert.equal(engine.running.length, people)

    engine.memory.available = 0
    engine.done.length = 0
    engine.restart()
    assert.deepEqual(engine.running, [])
    // Longer than it used to take until all were given up; two users visit theirs meanwhile.
    await observationTime(6_000)
    for (const slug of ['u9', 'u4']) await gateway.control?.wake(`${slug}-dev`)
    fault.fails = (query) => query.startsWith('select')
    await observationTime(4_000)
    assert.deepEqual(engine.running, [])
    fault.fails = () => false
    engine.memory.available = engine.memory.total
    await pollUntil(
      () => engine.running.length === people,
      () => `${engine.running.length} run again`,
      120_000,
    )
    const owners = await berth.database.db.selectFrom('users').select(['id', 'slug']).execute()
    const idOf = (slug: string) => owners.find((each) => each.slug === slug)?.id
    // Four are tried at the same time.
    const first = engine.done.filter((each) => each.startsWith('start')).slice(0, 4)
    for (const slug of ['u9', 'u4']) assert.ok(first.includes(`start dev of ${idOf(slug)}`), first.join())
  },
)
