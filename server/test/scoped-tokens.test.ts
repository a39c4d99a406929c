import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { decodeJwt } from 'jose'
import { assertOk, blockUser, demote, logIn, promote, unblockUser } from './support/api-calls.ts'
import { startBerth, type Reply } from './support/berth.ts'
import { envPath, envTemplates } from './support/engine/env-app.ts'

/** What the token says that an app receives, after its user was promoted, demoted, blocked or signed in again. */
const berth = await startBerth(
  { after },
  { env: { CONTAINER_TEMPLATES: await envTemplates(), MAGIC_LINK_RATE_LIMIT: '100' } },
)
const admin = await berth.administrator()
const ann = await berth.signUp('ann@x.org')

const openApp = (token: string): Promise<Reply> =>
  berth.call('GET', `/${ann.slug}-dev/${envPath}`, { headers: { cookie: `spawner_token=${token}` } })

async function receivedClaims(token: string) {
  const reply = await openApp(token)
  assert.equal(reply.status, 200)
  return decodeJwt(/spawner_token=([\w.-]+)/.exec(reply.text)?.[1] ?? '')
}

async function newSignIn(): Promise<string> {
  const reply = await logIn(berth, 'ann@x.org')
  assertOk(reply)
  return reply.body.access_token
}

test('an app sees from the next request on that its user was promoted or demoted, in the same and in a new session', async () => {
  assert.equal((await receivedClaims(ann.token))['is_admin'], false)
  assertOk(await promote(admin, ann.id))
  assert.equal((await receivedClaims(ann.token))['is_admin'], true)
  const asAdministrator = await newSignIn()
  assert.equal((await receivedClaims(asAdministrator))['is_admin'], true)

  assertOk(await demote(admin, ann.id))
  const afterwards = await newSignIn()
  for (const token of [afterwards, asAdministrator, ann.token])
    assert.equal((await receivedClaims(token))['is_admin'], false)
})

test('an app receives one token for the requests of one session, and another one for each other session', async () => {
  const other = await newSignIn()
  const { jti } = await receivedClaims(ann.token)
  assert.equal((await receivedClaims(ann.token)).jti, jti)
  assert.notEqual((await receivedClaims(other)).jti, jti)
})

test('after a block and an unblock an app receives another token than before', async () => {
  const before = await receivedClaims(ann.token)
  assertOk(await blockUser(admin, ann.id))
  assert.equal((await openApp(ann.token)).status, 403)
  assertOk(await unblockUser(admin, ann.id))
  // The first request wakes the container, which the block stopped.
  assert.notEqual((await receivedClaims(await newSignIn())).jti, before.jti)
})

test('the token of a session that was ended reaches an app no more, nor does that of its app in a new session', async () => {
  const ended = await newSignIn()
  const before = await receivedClaims(ended)
  assertOk(await berth.call('POST', '/api/auth/logout', { token: ended }))
  assert.doesNotMatch((await openApp(ended)).text, /spawner_token=/)
  assert.notEqual((await receivedClaims(await newSignIn())).jti, before.jti)
})
