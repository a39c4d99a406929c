import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ask, assertOk, assertRefused, mailsTo, tokenBy, verify } from '../../support/api-calls.ts'
import { startBerth } from '../../support/berth.ts'
import { withTime } from '../../support/clock.ts'
import { noCreateRuntime } from '../../support/engine/faulty-runtimes.ts'

const wrapRuntime = noCreateRuntime
const berth = await startBerth({ after }, { wrapRuntime })
const minute = 60_000

test('at most 3 links per address and hour, of login and signup together', async () => {
  for (const purpose of ['signup', 'signup', 'login'] as const) assertOk(await ask(berth, purpose, 'both@x.org'))
  for (const purpose of ['signup', 'login'] as const) assertRefused(await ask(berth, purpose, 'both@x.org'), 429)
  assert.equal(mailsTo(berth, 'both@x.org'), 3)
})

test('the limit of one address is not the limit of another', async () => {
  for (let time = 1; time <= 3; time++) assertOk(await ask(berth, 'signup', 'one@x.org'))
  assertRefused(await ask(berth, 'signup', 'one@x.org'), 429)
  assertOk(await ask(berth, 'signup', 'two@x.org'))
})

test('the spelling of an address does not get around the limit', async () => {
  for (const email of ['case@x.org', 'CASE@x.org', ' Case@X.org ']) assertOk(await ask(berth, 'signup', email))
  assertRefused(await ask(berth, 'login', 'cAsE@x.org'), 429)
})

test('a link that was used still counts', async () => {
  await berth.signUpWithoutContainer('used@x.org')
  for (let time = 1; time <= 2; time++)
    assertOk(await verify(berth, 'login', await tokenBy(berth, 'login', 'used@x.org')))
  assertRefused(await ask(berth, 'login', 'used@x.org'), 429)
})

test('a refused request does not count: the hour slides from link to link', async () => {
  await withTime(async (pass) => {
    assertOk(await ask(berth, 'signup', 'slide@x.org'))
    pass(30 * minute)
    for (let time = 1; time <= 2; time++) assertOk(await ask(berth, 'login', 'slide@x.org'))
    pass(29 * minute)
    for (let time = 1; time <= 5; time++) assertRefused(await ask(berth, 'login', 'slide@x.org'), 429)
    pass(minute + 1)
    assertOk(await ask(berth, 'login', 'slide@x.org'))
    assertRefused(await ask(berth, 'login', 'slide@x.org'), 429)
    pass(30 * minute)
    assertOk(await ask(berth, 'login', 'slide@x.org'))
  })
})

test('Retry-After is the moment at which the next link is possible', async () => {
  await withTime(async (pass) => {
    for (let time = 1; time <= 3; time++) assertOk(await ask(berth, 'signup', 'wait@x.org'))
    pass(10 * minute)
    const refused = await ask(berth, 'login', 'wait@x.org')
    const seconds = Number(refused.headers.get('retry-after'))
    assert.ok(seconds > 2990 && seconds <= 3000, `${seconds}`)
    pass(seconds * 1000)
    assertOk(await ask(berth, 'login', 'wait@x.org'))
  })
})

test('MAGIC_LINK_RATE_LIMIT sets how many links an hour has', async (t) => {
  const strict = await startBerth(t, { wrapRuntime, env: { MAGIC_LINK_RATE_LIMIT: '1' } })
  assertOk(await ask(strict, 'signup', 'ann@x.org'))
  const refused = await ask(strict, 'signup', 'ann@x.org')
  assertRefused(refused, 429)
  assert.match(refused.body.error, /1 per hour/)
})

test('a link lives 15 minutes by default', async () => {
  await withTime(async (pass) => {
    const [early, late] = [await tokenBy(berth, 'signup', 'early@x.org'), await tokenBy(berth, 'signup', 'late@x.org')]
    // Time goes on by itself, too: on a loaded machine a second passes between the link and its use.
    pass(15 * minute - 20_000)
    assertOk(await verify(berth, 'signup', early))
    pass(20_001)
    assertRefused(await verify(berth, 'signup', late), 400)
  })
})

test('MAGIC_LINK_TOKEN_EXPIRY sets how many seconds a link lives', async (t) => {
  const brief = await startBerth(t, { wrapRuntime, env: { MAGIC_LINK_TOKEN_EXPIRY: '60' } })
  await withTime(async (pass) => {
    const [early, late] = [await tokenBy(brief, 'signup', 'early@x.org'), await tokenBy(brief, 'signup', 'late@x.org')]
    pass(30_000)
    assertOk(await verify(brief, 'signup', early))
    pass(30_001)
    assertRefused(await verify(brief, 'signup', late), 400)
  })
})

test('an access token lives JWT_ACCESS_TOKEN_EXPIRES seconds', async (t) => {
  const brief = await startBerth(t, { wrapRuntime, env: { JWT_ACCESS_TOKEN_EXPIRES: '60' } })
  await withTime(async (pass) => {
    const { call } = await brief.signUpWithoutContainer('ann@x.org')
    pass(30_000)
    assertOk(await call('GET', '/api/user/me'))
    pass(30_001)
    assertRefused(await call('GET', '/api/user/me'), 401)
  })
})

test('tags do not get around the limit of a mailbox, and mailboxes do not share it', async (t) => {
  const strict = await startBerth(t, { wrapRuntime, env: { MAILBOX_RATE_LIMIT: '4', MAGIC_LINK_RATE_LIMIT: '2' } })
  const tagged = Array.from({ length: 8 }, (_, index) => `ann+${index}@x.org`)
  const replies = await Promise.all(tagged.map((email) => ask(strict, 'signup', email)))
  assert.equal(replies.filter(({ status }) => status === 200).length, 4)
  const refused = await ask(strict, 'signup', 'ann@x.org')
  assertRefused(refused, 429)
  assert.match(refused.body.error, /4 per hour/)
  assert.ok(Number(refused.headers.get('retry-after')) > 3_500)
  assertOk(await ask(strict, 'signup', 'ann@y.org'))
  assert.equal((await strict.database.db.selectFrom('users').select('id').execute()).length, 5)
})
