import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ask, assertOk, mailsTo } from '../../support/api-calls.ts'
import { startBerth, type Berth } from '../../support/berth.ts'
import { noCreateRuntime } from '../../support/engine/faulty-runtimes.ts'

/** One network address could have links mailed to 600 unknown addresses a minute, and as many accounts made, for as long as it liked. */

const wrapRuntime = noCreateRuntime
const env = { TRUSTED_PROXIES: '127.0.0.1', NEW_ADDRESSES_PER_HOUR: '2' }
const from = (berth: Berth, address: string, email: string, path = 'signup') =>
  berth.call('POST', `/api/auth/${path}`, { body: { email }, headers: { 'x-forwarded-for': address } })
const isUser = async ({ database }: Berth, email: string) =>
  (await database.db.selectFrom('users').select('id').where('email', '=', email).execute()).length === 1

test('beyond NEW_ADDRESSES_PER_HOUR a new address gets the answer of all, no mail and no account; others and accounts go on', async (t) => {
  const berth = await startBerth(t, { wrapRuntime, env: { ...env, ADMIN_EMAILS: 'chief@x.org' } })
  const { token } = await berth.administrator()
  const warnings = async () => (await berth.call('GET', '/api/admin/system', { token })).body.warnings.join('\n')
  for (const email of ['a@x.org', 'b@x.org']) assertOk(await from(berth, '203.0.113.1', email))
  assert.doesNotMatch(await warnings(), /NEW_ADDRESSES/)
  const known = await from(berth, '203.0.113.1', 'a@x.org')
  for (const path of ['signup', 'link']) {
    const reply = await from(berth, '203.0.113.1', `${path}@x.org`, path)
    assertOk(reply)
    assert.equal(reply.text, known.text)
    assert.deepEqual([...reply.headers.keys()], [...known.headers.keys()])
    assert.deepEqual([mailsTo(berth, `${path}@x.org`), await isUser(berth, `${path}@x.org`)], [0, false])
  }
  assert.equal(mailsTo(berth, 'a@x.org'), 2)
  assert.match(await warnings(), /NEW_ADDRESSES_PER_HOUR=2 .*203\.0\.113\.1/)
  assert.equal(berth.logs.filter((line) => line.includes('NEW_ADDRESSES_PER_HOUR')).length, 1)
  await from(berth, '203.0.113.2', 'c@x.org')
  await from(berth, '203.0.113.1', 'chief@x.org')
  for (const email of ['c@x.org', 'chief@x.org']) assert.equal(mailsTo(berth, email), 1, email)
})

test('a refused request counts in the limit of links like every other', async (t) => {
  const berth = await startBerth(t, { wrapRuntime, env })
  for (const email of ['a@x.org', 'b@x.org']) assertOk(await from(berth, '203.0.113.1', email))
  for (const email of ['a@x.org', 'new@x.org']) {
    const before = email === 'a@x.org' ? 1 : 0
    const statuses: number[] = []
    for (let time = before; time < 4; time++) statuses.push((await from(berth, '203.0.113.1', email)).status)
    assert.deepEqual(statuses, [...Array<number>(3 - before).fill(200), 429], email)
  }
})

test('addresses of ALLOWED_EMAIL_DOMAINS are not limited, nor is this machine', async (t) => {
  const closed = await startBerth(t, { wrapRuntime, env: { ...env, ALLOWED_EMAIL_DOMAINS: 'school.edu' } })
  for (let n = 0; n < 4; n++) assertOk(await from(closed, '203.0.113.1', `p${n}@school.edu`))
  assert.equal(mailsTo(closed, 'p3@school.edu'), 1)

  const { TRUSTED_PROXIES: _, ...direct } = env
  const open = await startBerth(t, { wrapRuntime, env: direct })
  for (let n = 0; n < 4; n++) assertOk(await ask(open, 'signup', `p${n}@x.org`))
  assert.equal(mailsTo(open, 'p3@x.org'), 1)
})
