// Part of npm run test:more: a clock that jumps is a fault that single rules have tests for.
// Needs a process of its own: it moves the clock.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { keepHomes } from '#/store/removals.ts'
import { ask, assertOk, assertRefused, engineState, logIn, tokenBy, verify } from '../support/api-calls.ts'
import { startBerth, testTemplates, type Berth } from '../support/berth.ts'
import { startEnginelessBerth } from '../support/berth-without-engine.ts'
import { movableClock } from '../support/clock.ts'
import { emptyRuntime } from '../support/engine/fake-engine.ts'
import { openStream } from '../support/event-stream.ts'
import { noCreateRuntime } from '../support/engine/faulty-runtimes.ts'
import { waitFor } from '../support/program.ts'
import { observationTime } from '#test/support/observation-time.ts'
import { firstOfList, onlyLong } from '#test/support/extent.ts'

/** How long a slow machine may take until things are well again, in ms. */
const timeout = 60_000

/** A clock that is moved while Berth runs, by an hour and by a day, both ways. */
const [minute, hour, day] = [60_000, 3_600_000, 86_400_000]
const quick = { wrapRuntime: noCreateRuntime }

const me = async (berth: Berth, token: string) => (await berth.call('GET', '/api/user/me', { token })).status

async function newToken(berth: Berth, email: string): Promise<string> {
  const signedIn = await logIn(berth, email)
  assertOk(signedIn)
  return signedIn.body.access_token as string
}

/** How often the log says this. */
const told = ({ logs }: Pick<Berth, 'logs'>, words: string) => logs.filter((line) => line.includes(words)).length

const jumps = [
  ['an hour', hour],
  ['a day', day],
] as const
for (const [index, [words, by]] of jumps.entries()) {
  test(
    `set back by ${words}: what was used, revoked or expired stays void, every user signs in again, and links keep their lifetime`,
    firstOfList(index),
    async (t) => {
      const clock = movableClock(t)
      const berth = await startBerth(t, { ...quick, env: { MAGIC_LINK_RATE_LIMIT: '10' } })
      const ann = await berth.signUpWithoutContainer('ann@x.org')
      const [used, expired] = [await tokenBy(berth, 'login', 'ann@x.org'), await tokenBy(berth, 'login', 'ann@x.org')]
      assertOk(await verify(berth, 'login', used))
      const revoked = await newToken(berth, 'ann@x.org')
      assertOk(await berth.call('POST', '/api/auth/logout', { token: revoked }))
      clock.pass(20 * minute)
      const valid = await tokenBy(berth, 'login', 'ann@x.org')
      const stream = await openStream(berth, ann.token)

      clock.set(-by)
      assert.equal(await me(berth, ann.token), 401)
      assert.equal(await me(berth, revoked), 401)
      for (const link of [used, expired]) assertRefused(await verify(berth, 'login', link), 400)
      await stream.ended
      const again = await verify(berth, 'login', valid)
      assertOk(again)
      assert.equal(await me(berth, again.body.access_token), 200)
      // When the old clock's time comes round again.
      clock.pass(by)
      assert.equal(await me(berth, ann.token), 401)
      assert.equal(await me(berth, await newToken(berth, 'ann@x.org')), 200)
      assert.equal(told(berth, `the clock was set back by ${by / 1_000} s`), 1)
    },
  )

  test(
    `moved forward by ${words} and back again: what expired meanwhile, or was revoked, stays void`,
    firstOfList(index),
    async (t) => {
      const clock = movableClock(t)
      const berth = await startBerth(t, { ...quick, env: { MAGIC_LINK_RATE_LIMIT: '10' } })
      const ann = await berth.signUpWithoutContainer('ann@x.org')
      const revoked = await newToken(berth, 'ann@x.org')
      assertOk(await berth.call('POST', '/api/auth/logout', { token: revoked }))
      const link = await tokenBy(berth, 'login', 'ann@x.org')

      clock.set(by)
      assert.equal(await me(berth, ann.token), 401)
      assertRefused(await verify(berth, 'login', link), 400)
      const late = await newToken(berth, 'ann@x.org')
      clock.set(-by)
      for (const token of [ann.token, revoked, late]) assert.equal(await me(berth, token), 401)
      assertRefused(await verify(berth, 'login', link), 400)
      assert.equal(await me(berth, await newToken(berth, 'ann@x.org')), 200)
      const seconds = by / 1_000
      assert.equal(told(berth, `the clock was moved forward by ${seconds} s`), 1)
      assert.equal(told(berth, `the clock was set back by ${seconds} s`), 1)
    },
  )
}

test('an API token lives as long as it would have when the clock is set back, and one that had expired stays void', async (t) => {
  const clock = movableClock(t)
  const berth = await startBerth(t, quick)
  const ann = await berth.signUpWithoutContainer('ann@x.org')
  const make = async (minutes: number) => {
    const body = { name: 'x', scopes: ['containers:read'], expires_in: minutes * 60 }
    return (await ann.call('POST', '/api/user/tokens', { body })).body.token as string
  }
  const [short, long] = [await make(10), await make(40)]
  clock.pass(20 * minute)
  assert.deepEqual([await me(berth, short), await me(berth, long)], [401, 200])
  clock.set(-hour)
  assert.deepEqual([await me(berth, short), await me(berth, long)], [401, 200])
  clock.pass(21 * minute)
  assert.equal(await me(berth, long), 401)
})

test('however the clock is moved, an hour has three links, and is over after an hour', async (t) => {
  const clock = movableClock(t)
  const berth = await startBerth(t, quick)
  for (const jump of [hour, -hour, day, -day]) {
    const email = `u${jump}@x.org`
    for (let time = 1; time <= 3; time++) assertOk(await ask(berth, 'signup', email))
    clock.set(jump)
    const refused = await ask(berth, 'login', email)
    assertRefused(refused, 429)
    assert.ok(Number(refused.headers.get('retry-after')) <= 3_600)
    clock.pass(hour)
    assertOk(await ask(berth, 'login', email))
  }
})

test('a clock that was set back while Berth was stopped revives nothing either', async (t) => {
  const clock = movableClock(t)
  const first = await startBerth(t, quick)
  const ann = await first.signUpWithoutContainer('ann@x.org')
  const link = await tokenBy(first, 'login', 'ann@x.org')
  clock.pass(40 * minute)
  const late = await first.signUpWithoutContainer('late@x.org')
  await first.close()

  clock.set(-30 * minute)
  const second = await startBerth(t, { ...quick, dataDir: first.dataDir, installation: first.installation })
  for (const token of [ann.token, late.token]) assert.equal(await me(second, token), 401)
  assertRefused(await verify(second, 'login', link), 400)
  // Their account was made at an instant that has not come yet.
  assert.equal(await me(second, await newToken(second, 'late@x.org')), 200)
})

test('a revocation is not forgotten by a Berth whose clock is a day ahead for a while', onlyLong, async (t) => {
  const clock = movableClock(t)
  const first = await startBerth(t, quick)
  const ann = await first.signUpWithoutContainer('ann@x.org')
  const revoked = await newToken(first, 'ann@x.org')
  assertOk(await first.call('POST', '/api/auth/logout', { token: revoked }))
  // Nothing else tells the next Berth that its clock was set back.
  await first.database.db.deleteFrom('link_requests').execute()
  clock.set(day)
  // Gone with the other things that are over by this clock.
  await waitFor(
    'what is over by this clock to be gone',
    async () => (await first.database.db.selectFrom('magic_links').select('id').execute()).length === 0,
    timeout,
  )
  await first.close()

  clock.set(-day)
  const second = await startBerth(t, { ...quick, dataDir: first.dataDir, installation: first.installation })
  assert.equal(await me(second, revoked), 401)
  assert.equal(await me(second, ann.token), 200)
})

test('a correction of a few seconds by a time server ends no session', onlyLong, async (t) => {
  const clock = movableClock(t)
  const berth = await startBerth(t, quick)
  const ann = await berth.signUpWithoutContainer('ann@x.org')
  for (const seconds of [5, -20, 30, -15]) {
    clock.set(seconds * 1_000)
    assert.equal(await me(berth, ann.token), 200)
  }
  assert.equal(told(berth, 'the clock was'), 0)
})

/** A container that its owner has just used, by the real gateway. */
async function inUse(t: TestContext, idle: Record<string, number>) {
  const berth = await startBerth(t, { env: { CONTAINER_TEMPLATES: await testTemplates(idle) } })
  const ann = await berth.signUp('ann@x.org')
  const { container_id: id } = ann.auth.user
  assert.ok(id)
  await waitFor('the app to answer', async () => (await ann.call('GET', `/${ann.slug}-dev/`)).status < 500, timeout)
  return { berth, ann, state: () => engineState(berth, id) }
}

test('homes of deleted users keep their retention when the clock is set forward, from the first moment on', async (t) => {
  const clock = movableClock(t)
  const removed: string[] = []
  const owner = { userId: 99, slug: 'ann', type: 'dev' }
  const berth = await startEnginelessBerth(t, {
    pace: { every: 20, overdue: 0 },
    runtime: {
      ...emptyRuntime,
      homes: async () => [{ volume: 'home', owner }],
      removeHome: async (volume) => void removed.push(volume),
    },
  })
  const remove = (after: number) =>
    keepHomes(berth.database.db, [{ ...owner, volume: 'home' }], new Date(Date.now() + after))
  await remove(30 * day)
  clock.set(40 * day)
  // The clock alone is looked at once a second.
  await observationTime(2_500)
  assert.equal(told(berth, 'the clock was moved'), 1)
  assert.deepEqual(removed, [])
  await remove(0)
  await waitFor('the home to be removed', async () => removed.length > 0, timeout)
})

test('a day forward does not put to rest what was used a moment ago, nor cuts it', async (t) => {
  const clock = movableClock(t)
  const { berth, state } = await inUse(t, { idle_pause: 600, idle_timeout: 1_200 })
  clock.set(day)
  await waitFor('the jump to be noticed', async () => told(berth, 'the clock was moved') === 1, timeout)
  // Who is idle is looked at by the second.
  await observationTime(2_500)
  assert.equal(await state(), 'running')
})

test('a clock that is set back by a day keeps no idle container awake', onlyLong, async (t) => {
  const clock = movableClock(t)
  const { state } = await inUse(t, { idle_pause: 1 })
  clock.set(-day)
  await waitFor('the pause', async () => (await state()) === 'paused', timeout)
})
