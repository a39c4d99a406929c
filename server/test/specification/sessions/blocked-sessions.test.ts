import assert from 'node:assert/strict'
import { request } from 'node:http'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { assertOk, assertRefused, blockUser, promote, tokenBy, unblockUser, verify } from '../../support/api-calls.ts'
import { startBerth, type Person, type Reply } from '../../support/berth.ts'
import { openStream } from '../../support/event-stream.ts'
import { noCreateRuntime } from '../../support/engine/faulty-runtimes.ts'

/** What the token of a session that a block ended still opens: nothing that lasts longer than a request. */

const berth = await startBerth({ after }, { wrapRuntime: noCreateRuntime, env: { BASE_DOMAIN: 'berth.localhost' } })
const admin = await berth.administrator()

const apiToken = { name: 'nightly script', scopes: ['containers:read'], expires_in: 3_600 }
const refusalOf = ({ headers }: Reply) => headers.get('berth-refusal')
const sessionsOf = async (person: Pick<Person, 'call'>) =>
  (await person.call('GET', '/api/user/sessions')).body.sessions as Reply['body'][]

/** A user who was blocked and unblocked since they signed in. */
async function wasBlocked(name: string): Promise<Person> {
  const person = await berth.signUpWithoutContainer(`${name}@x.org`)
  assertOk(await blockUser(admin, person.id))
  assertOk(await unblockUser(admin, person.id))
  return person
}

/** Status of the answer to an opening handshake. */
async function webSocketStatus({ slug, token }: Person): Promise<number | undefined> {
  const { hostname, port } = new URL(berth.url)
  const headers = {
    authorization: `Bearer ${token}`,
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  }
  const asked = request({ hostname, port, path: `/${slug}-dev/`, headers, agent: false }).end()
  const [answer] = await once(asked, 'response')
  answer.destroy()
  return answer.statusCode
}

test('after an unblock the old token reads on until it expires, and its session is not listed', async () => {
  const ann = await wasBlocked('ann')
  for (const each of ['user/me', 'user/containers', 'container/status']) assertOk(await ann.call('GET', `/api/${each}`))
  assert.deepEqual(await sessionsOf(ann), [])
})

test('after an unblock the old token opens no event stream and no log', async () => {
  const ben = await wasBlocked('ben')
  for (const each of ['events', 'logs/dev']) {
    const reply = await ben.call('GET', `/api/container/${each}`)
    assertRefused(reply, 401)
    assert.equal(refusalOf(reply), 'sessionBlocked')
  }
  assertRefused(await ben.call('GET', '/api/container/logs/nonsense'), 401)
})

test('after an unblock the old token makes no API token', async () => {
  const cat = await wasBlocked('cat')
  assertRefused(await cat.call('POST', '/api/user/tokens', { body: apiToken }), 401)
  assert.deepEqual((await cat.call('GET', '/api/user/tokens')).body.tokens, [])
})

test('after an unblock the old token of an administrator begins no takeover', async () => {
  const dan = await berth.signUpWithoutContainer('dan@x.org')
  assertOk(await promote(admin, dan.id))
  const takeOver = () => dan.call('POST', `/api/admin/users/${admin.id}/takeover`, { body: { reason: 'to look' } })
  assertOk(await takeOver())
  assertOk(await blockUser(admin, dan.id))
  assertRefused(await takeOver(), 403)
  assertOk(await unblockUser(admin, dan.id))
  assertRefused(await takeOver(), 401)
})

test('after an unblock the old token opens no WebSocket and no event stream of an app', async () => {
  const eve = await berth.signUpWithoutContainer('eve@x.org')
  assert.notEqual(await webSocketStatus(eve), 401)
  assertOk(await blockUser(admin, eve.id))
  assert.equal(await webSocketStatus(eve), 403)
  assertOk(await unblockUser(admin, eve.id))
  assert.equal(await webSocketStatus(eve), 401)
  const headers = { accept: 'text/event-stream' }
  assert.equal((await eve.call('GET', `/${eve.slug}-dev/`, { headers })).status, 401)
  assert.notEqual((await eve.call('GET', `/${eve.slug}-dev/`)).status, 401)
})

test('who signs in again after an unblock may do everything', async () => {
  const { id } = await wasBlocked('fay')
  const signedIn = await verify(berth, 'login', await tokenBy(berth, 'login', 'fay@x.org'))
  assert.equal(signedIn.body.user.id, id)
  const token: string = signedIn.body.access_token
  const stream = await openStream(berth, token)
  assert.equal(stream.status, 200)
  stream.close()
  assertOk(await berth.call('POST', '/api/user/tokens', { body: apiToken, token }))
})

test('what a block ended stays ended after a restart', async (t) => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'berth-blocked-'))
  t.after(() => rm(dataDir, { recursive: true, force: true }))
  const options = { wrapRuntime: noCreateRuntime, dataDir }
  const first = await startBerth(t, options)
  const [boss, gus] = [await first.administrator(), await first.signUpWithoutContainer('gus@x.org')]
  assertOk(await blockUser(boss, gus.id))
  assertOk(await unblockUser(boss, gus.id))
  await first.close()
  const next = await startBerth(t, options)
  assertOk(await next.call('GET', '/api/user/me', { token: gus.token }))
  assertRefused(await next.call('POST', '/api/user/tokens', { body: apiToken, token: gus.token }), 401)
})
