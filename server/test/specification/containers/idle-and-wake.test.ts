import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { assertOk, assertRefused, blockContainer, engineState, recordOf } from '../../support/api-calls.ts'
import { startBerth, testTemplates, type Berth, type Lifetime } from '../../support/berth.ts'
import { fragile, outside, pollUntil } from '../../support/control-plane.ts'
import { onlyLong } from '#test/support/extent.ts'

/** Rest and wake as people see them, through the real gateway. */

const startWith = async (lifetime: Lifetime, fields: Record<string, unknown>): Promise<Berth> =>
  startBerth(lifetime, { env: { CONTAINER_TEMPLATES: await testTemplates({ ...fragile, ...fields }) } })

const untilState = (berth: Berth, id: string, state: string) =>
  pollUntil(
    async () => (await engineState(berth, id)) === state,
    () => `it is not ${state}`,
  )

/** Side by side: they mostly wait, each for containers of its own. */
suite('idle and wake', { concurrency: 3 }, () => {
  test('what fell idle is paused, then stopped, and answers its owner from either as if nothing had been', async (t) => {
    const berth = await startWith(t, { idle_pause: 3, idle_timeout: 8 })
    const ann = await berth.signUp('ann@x.org')
    const id = String(ann.auth.user.container_id)
    for (const state of ['paused', 'exited']) {
      await untilState(berth, id, state)
      const reply = await ann.call('GET', `/${ann.slug}-dev/`)
      assertOk(reply)
      assert.match(reply.text, /hello/)
      assert.equal(await engineState(berth, id), 'running')
    }
  })

  test('a container that answers requests is not idle, however long', onlyLong, async (t) => {
    const berth = await startWith(t, { idle_pause: 2 })
    const bob = await berth.signUp('bob@x.org')
    for (const end = performance.now() + 6_000; performance.now() < end;) {
      assertOk(await bob.call('GET', `/${bob.slug}-dev/`))
      assert.equal(await engineState(berth, String(bob.auth.user.container_id)), 'running')
      await sleep(250)
    }
  })

  test('many requests in the moment of the pause are all answered', onlyLong, async (t) => {
    const berth = await startWith(t, { idle_pause: 1 })
    const cat = await berth.signUp('cat@x.org')
    const id = String(cat.auth.user.container_id)
    for (let round = 0; round < 3; round++) {
      await sleep(900)
      const replies = await Promise.all(
        Array.from({ length: 40 }, (_, at) => sleep(at * 20).then(() => cat.call('GET', `/${cat.slug}-dev/`))),
      )
      assert.deepEqual([...new Set(replies.map(({ status }) => status))], [200])
    }
    await untilState(berth, id, 'paused')
  })

  test('a user who is not the owner wakes nothing, a blocked container stays asleep, and a crash is not hidden by a visit', async (t) => {
    const berth = await startWith(t, {})
    const [boss, dan] = [await berth.administrator(), await berth.signUp('dan@x.org')]
    const id = String(dan.auth.user.container_id)
    const path = `/${dan.slug}-dev/`
    await outside.pause(id)
    await sleep(200)
    assertRefused(await boss.call('GET', path), 403)
    assertRefused(await berth.call('GET', path), 401)
    assert.equal(await engineState(berth, id), 'paused')
    assertOk(await dan.call('GET', path))
    await outside.signal(id, 'USR1')
    await untilState(berth, id, 'exited')
    await sleep(200)
    assert.equal((await dan.call('GET', path)).status, 503)
    assert.equal(await engineState(berth, id), 'exited')
    assertOk(await dan.call('POST', '/api/container/launch/dev'))
    assertOk(await dan.call('GET', path))
    assertOk(await blockContainer(boss, (await recordOf(boss, dan.id)).id))
    assert.equal((await dan.call('GET', path)).status, 403)
    assert.equal(await engineState(berth, id), 'exited')
  })

  test('last_used follows what passes the gateway', async (t) => {
    const berth = await startWith(t, { idle_pause: 3 })
    const eve = await berth.signUp('eve@x.org')
    const before = (await recordOf(eve, eve.id)).last_used
    await sleep(500)
    assertOk(await eve.call('GET', `/${eve.slug}-dev/`))
    await untilState(berth, String(eve.auth.user.container_id), 'paused')
    // It is written with the pause; a use that the gateway reports after it, as on a loaded machine, within a minute.
    await pollUntil(
      async () => Date.parse(String((await recordOf(eve, eve.id)).last_used)) - Date.parse(String(before)) > 400,
      () => 'it did not move',
      90_000,
    )
  })
})
