import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ask, assertOk, assertRefused } from '../../support/api-calls.ts'
import { startBerth, type Reply } from '../../support/berth.ts'
import { noCreateRuntime } from '../../support/engine/faulty-runtimes.ts'

const wrapRuntime = noCreateRuntime
// What this process says of itself is believed, so that it can be many.
const env = { TRUSTED_PROXIES: '127.0.0.1', REQUESTS_PER_MINUTE: '5' }
const berth = await startBerth({ after }, { wrapRuntime, env })
const from = (address: string) => ({ 'x-forwarded-for': address })

/** That mail a link. */
const endpoints = ['login', 'signup', 'resend-verification', 'link', 'login']

/** As often as is allowed, each time another endpoint, and once more. */
async function askOften(addresses: readonly string[], email: string): Promise<Reply> {
  for (const [index, name] of endpoints.entries()) {
    const headers = from(addresses[index % addresses.length] ?? '')
    // A mailbox has a limit of its own.
    const reply = await berth.call('POST', `/api/auth/${name}`, { body: { email: `${index}${email}` }, headers })
    assert.notEqual(reply.status, 429, `${name} as number ${index + 1}`)
  }
  return berth.call('POST', '/api/auth/login', { body: { email }, headers: from(addresses[0] ?? '') })
}

test('one address may ask for links so often in a minute, by all endpoints together, then it is 429 with Retry-After', async () => {
  const refused = await askOften(['203.0.113.1'], 'one@x.org')
  assertRefused(refused, 429)
  assert.match(refused.body.error, /at most 5 a minute/)
  const seconds = Number(refused.headers.get('retry-after'))
  assert.ok(seconds >= 1 && seconds <= 60, `${seconds}`)
  assertOk(await berth.call('POST', '/api/auth/login', { body: { email: 'one@x.org' }, headers: from('203.0.113.2') }))
})

test('one address may try twice as many links that are not valid, then it is 429', async () => {
  const attempt = (index: number) =>
    berth.call('GET', `/api/auth/verify-${index % 2 === 0 ? 'login' : 'signup'}?token=x`, {
      headers: from('203.0.113.9'),
    })
  for (let index = 0; index < 10; index++) assertRefused(await attempt(index), 400)
  assertRefused(await attempt(10), 429)
})

// Each refusal for a mailbox takes back a request for links: `/api/archives`, which asks for none and ignores `email`, did so, too.
test('a request that asks for no link counts for no mailbox, whatever its body says', async () => {
  const headers = from('203.0.113.7')
  const askForArchive = () => berth.call('POST', '/api/archives', { body: { token: 'x', email: 'box@x.org' }, headers })
  for (let times = 0; times < 5; times++) assertRefused(await askForArchive(), 404)
  for (let index = 0; index < 5; index++) {
    assertOk(await berth.call('POST', '/api/auth/login', { body: { email: `other${index}@x.org` }, headers }))
    assertRefused(await askForArchive(), 404)
  }
  assertRefused(await berth.call('POST', '/api/auth/login', { body: { email: 'other5@x.org' }, headers }), 429)
})

test('known and unknown mail addresses, and requests that make no sense, meet that limit alike', async () => {
  assertOk(await ask(berth, 'signup', 'known@x.org'))
  assertRefused(await askOften(['203.0.113.3'], 'known@x.org'), 429)
  const headers = from('203.0.113.3')
  const unknown = await berth.call('POST', '/api/auth/login', { body: { email: 'unknown@x.org' }, headers })
  assertRefused(unknown, 429)
  assertRefused(await berth.call('POST', '/api/auth/login', { body: '{', headers }), 429)
})

test('a network of IPv6 is one address, however many it has', async () => {
  assertRefused(await askOften(['2001:db8:1:1::1', '2001:db8:1:1:ffff::2', '2001:db8:1:1::3'], 'six@x.org'), 429)
  const headers = from('2001:db8:1:2::1')
  assertOk(await berth.call('POST', '/api/auth/login', { body: { email: 'six@x.org' }, headers }))
})

test('endpoints that need a token, and everything else, are not limited by address', async () => {
  assertRefused(await askOften(['203.0.113.4'], 'else@x.org'), 429)
  const headers = from('203.0.113.4')
  for (let time = 1; time <= 10; time++) {
    assertRefused(await berth.call('GET', '/api/user/me', { headers }), 401)
    assertOk(await berth.call('GET', '/api/.well-known/jwks.json', { headers }))
  }
})

test('the machine itself is exempt', async (t) => {
  const direct = await startBerth(t, { wrapRuntime, env: { REQUESTS_PER_MINUTE: '5' } })
  for (let time = 1; time <= 10; time++) assertOk(await ask(direct, 'login', 'nobody@x.org'))
})

// A proxy that sends no X-Forwarded-For switched the limit off for all users behind it.
test('a trusted proxy on this machine that says nothing of its clients is limited as one address', async (t) => {
  const behind = await startBerth(t, { wrapRuntime, env })
  for (let time = 1; time <= 5; time++) assertOk(await ask(behind, 'login', `nobody${time}@x.org`))
  assertRefused(await ask(behind, 'login', 'nobody6@x.org'), 429)
})

test('REQUESTS_PER_MINUTE=0 is no limit', async (t) => {
  const open = await startBerth(t, { wrapRuntime, env: { ...env, REQUESTS_PER_MINUTE: '0' } })
  const asking = { body: { email: 'nobody@x.org' }, headers: from('203.0.113.5') }
  for (let time = 1; time <= 10; time++) assertOk(await open.call('POST', '/api/auth/login', asking))
})
