import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { decodeJwt } from 'jose'
import { assertOk } from './support/api-calls.ts'
import { startBerth, type Person } from './support/berth.ts'
import { envPath, envTemplates } from './support/engine/env-app.ts'

/** Ann shares her container with Bob, on a real engine: what her app receives of him opens nothing of his, and the reverse. */
const templates = JSON.parse(await envTemplates())
delete templates.dev.access
const berth = await startBerth(
  { after },
  { env: { CONTAINER_TEMPLATES: JSON.stringify(templates), SHARING: 'people' } },
)
const [ann, bob] = [await berth.signUp('ann@x.org'), await berth.signUpWithoutContainer('bob@x.org')]
const expires_at = new Date(Date.now() + 3_600_000).toISOString()
const share = (may: string) =>
  ann.call('POST', '/api/container/shares/dev', { body: { emails: ['bob@x.org'], may, expires_at } })
assertOk(await share('use'))

async function received(visitor: Person, headers: Record<string, string>): Promise<string> {
  const reply = await berth.call('GET', `/${ann.slug}-dev/${envPath}`, { headers })
  assert.equal(reply.status, 200, `${visitor.slug}: ${reply.text}`)
  return reply.text
}
const signature = (token: string) => token.slice(token.lastIndexOf('.') + 1)
const waysToSend = (token: string) => [
  { authorization: `Bearer ${token}` },
  { cookie: `spawner_token=${token}` },
  { authorization: `Bearer ${token}`, cookie: `spawner_token=${token}` },
]

test('the owner’s app learns who visits, and receives none of the visitor’s own tokens and cookies', async () => {
  const cookies = `spawner_token=${bob.token}; berth_session=${'s'.repeat(43)}; spawner_bind=b; theme=dark`
  for (const headers of [{ cookie: cookies }, { authorization: `Bearer ${bob.token}`, cookie: cookies }]) {
    const text = await received(bob, headers)
    assert.match(text, /^HTTP_X_BERTH_USER=bob@x\.org$/m)
    assert.match(text, /^HTTP_X_BERTH_SHARE=use$/m)
    for (const secret of [signature(bob.token), 's'.repeat(43), 'spawner_bind'])
      assert.ok(!text.includes(secret), 'the app received what is the visitor’s alone')
  }
})

test('an owner who replays what the app received of a visitor gets into nothing of the visitor’s', async () => {
  const text = await received(bob, { cookie: `spawner_token=${bob.token}` })
  const token = /spawner_token=([\w.-]+)/.exec(text)?.[1] ?? ''
  assert.equal(decodeJwt(token).sub, String(bob.id))
  for (const headers of waysToSend(token)) {
    const targets = ['/api/user/me', '/api/user/containers', '/api/container/events', `/${bob.slug}-dev/${envPath}`]
    for (const target of targets) assert.equal((await berth.call('GET', target, { headers })).status, 401, target)
    assert.equal((await berth.call('POST', '/api/auth/refresh', { headers })).status, 401)
    // Not even the container that it is for: an app receives it, and no browser sends it.
    assert.equal((await berth.call('GET', `/${ann.slug}-dev/${envPath}`, { headers })).status, 401)
  }
})

test('a visitor who replays what the app received of its owner gets into nothing of the owner’s', async () => {
  const text = await received(ann, { cookie: `spawner_token=${ann.token}` })
  const token = /spawner_token=([\w.-]+)/.exec(text)?.[1] ?? ''
  assert.equal(decodeJwt(token).sub, String(ann.id))
  for (const headers of waysToSend(token))
    for (const target of ['/api/user/me', `/${ann.slug}-dev/${envPath}`])
      assert.equal((await berth.call('GET', target, { headers })).status, 401, target)
})

test('an app of the owner sets no cookie of the platform in the visitor’s browser', async () => {
  const reply = await berth.call('GET', `/${ann.slug}-dev/`, { token: bob.token })
  assert.deepEqual(reply.headers.getSetCookie(), [])
})

test('the owner sees who is there now, and by ending the share shuts the visitor out', async () => {
  await received(bob, { cookie: `spawner_token=${bob.token}` })
  const list = async () => (await ann.call('GET', '/api/container/shares/dev')).body
  for (let left = 100; left > 0 && (await list()).visitors.length === 0; left--)
    await new Promise((resolve) => setTimeout(resolve, 50))
  const { shares, visitors } = await list()
  assert.equal(visitors[0].email, 'bob@x.org')
  assertOk(await ann.call('DELETE', `/api/container/shares/dev/${shares[0].id}`))
  assert.deepEqual((await list()).visitors, [])
  assert.equal((await berth.call('GET', `/${ann.slug}-dev/${envPath}`, { token: bob.token })).status, 403)
})
