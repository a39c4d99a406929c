import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertOk, assertRefused, instant, logIn, onEngine } from '../../support/api-calls.ts'
import { startBerth } from '../../support/berth.ts'
import { unreachableRuntime, noCreateRuntime, type Fault } from '../../support/engine/faulty-runtimes.ts'

const deafness: Fault = { active: false }
const refusal: Fault = { active: false }
const berth = await startBerth(
  { after },
  {
    wrapRuntime: (runtime) => unreachableRuntime(noCreateRuntime(runtime, refusal), deafness),
    env: { BASE_DOMAIN: 'berth.example:8080', SPAWNER_SUBDOMAIN: 'apps', PREFERRED_URL_SCHEME: 'https' },
  },
)
const ann = await berth.signUp('ann@x.org')

refusal.active = true
const bare = await berth.signUp('bare@x.org')
const gone = await berth.signUp('gone@x.org')
await berth.database.db.deleteFrom('users').where('id', '=', gone.id).execute()
refusal.active = false

async function whileDeaf<T>(work: () => Promise<T>): Promise<T> {
  deafness.active = true
  try {
    return await work()
  } finally {
    deafness.active = false
  }
}

for (const [method, path] of [
  ['GET', '/api/user/me'],
  ['GET', '/api/container/status'],
  ['GET', '/api/user/containers'],
  ['POST', '/api/container/restart'],
  ['POST', '/api/container/launch/dev'],
  ['POST', '/api/container/launch/unknown'],
] as const) {
  test(`${method} ${path} is 404 when the user of the token does not exist any more`, async () => {
    assertRefused(await gone.call(method, path), 404)
  })
}

test('me shows the user: exactly the specified fields', async () => {
  const { user } = (await ann.call('GET', '/api/user/me')).body
  const { created_at, ...rest } = user
  assert.match(created_at, instant)
  assert.deepEqual(rest, {
    id: ann.id,
    email: 'ann@x.org',
    slug: 'ann',
    is_admin: true,
    state: 'verified',
    last_used: null,
  })
})

test('me shows last_used in ISO 8601 once the user has logged in', async () => {
  assertOk(await logIn(berth, 'ann@x.org'))
  assert.match((await ann.call('GET', '/api/user/me')).body.user.last_used, instant)
})

test('me shows the primary container with its id, port, status and service_url {scheme}://{spawner_host}/{slug}', async () => {
  assert.deepEqual((await ann.call('GET', '/api/user/me')).body.container, {
    id: ann.auth.user.container_id,
    port: 8080,
    status: 'running',
    service_url: 'https://apps.berth.example:8080/ann',
  })
})

test('me shows status unknown and no id when there is no container', async () => {
  assert.deepEqual((await bare.call('GET', '/api/user/me')).body.container, {
    id: null,
    port: null,
    status: 'unknown',
    service_url: 'https://apps.berth.example:8080/bare',
  })
})

test('me shows status error, and stays 200, when the look-up fails', async () => {
  const reply = await whileDeaf(() => ann.call('GET', '/api/user/me'))
  assertOk(reply)
  assert.equal(reply.body.container.status, 'error')
  assert.equal(reply.body.container.id, ann.auth.user.container_id)
})

test('status shows the container id and the runtime status', async () => {
  const reply = await ann.call('GET', '/api/container/status')
  assertOk(reply)
  assert.deepEqual(reply.body, { container_id: ann.auth.user.container_id, status: 'running' })
})

test('status is no_container when the user has no container id', async () => {
  const reply = await bare.call('GET', '/api/container/status')
  assertOk(reply)
  assert.deepEqual(reply.body, { container_id: null, status: 'no_container' })
})

test('status is "error: " and a detail when the look-up fails, and the detail gives nothing of the engine away', async () => {
  const reply = await whileDeaf(() => ann.call('GET', '/api/container/status'))
  assertOk(reply)
  assert.match(reply.body.status, /^error: \w.+/)
  assert.doesNotMatch(reply.text, /\.sock|ECONN|unix|secret/)
})

test('the list of containers shows error, and stays 200, when the look-up fails', async () => {
  const reply = await whileDeaf(() => ann.call('GET', '/api/user/containers'))
  assertOk(reply)
  const [dev, prod] = reply.body.containers
  assert.deepEqual([dev.status, prod.status], ['error', 'not_created'])
})

test('the words for every state that a container can be in', async () => {
  const id = ann.auth.user.container_id ?? ''
  const words = async () => {
    const me = await ann.call('GET', '/api/user/me')
    const status = await ann.call('GET', '/api/container/status')
    const list = await ann.call('GET', '/api/user/containers')
    return [me.body.container.status, status.body.status, list.body.containers[0].status]
  }
  assert.deepEqual(await words(), ['running', 'running', 'running'])
  await berth.runtime.stop(id)
  assert.deepEqual(await words(), ['exited', 'exited', 'exited'], 'other words of the engine pass through')
  await berth.runtime.remove(id)
  assert.deepEqual(await words(), ['not_found', 'not_found', 'not_found'])
})

test('with no container of the first type, me and status speak of the oldest one there is', async () => {
  const prod = await bare.call('POST', '/api/container/launch/prod')
  assertOk(prod)
  assert.equal((await bare.call('GET', '/api/user/me')).body.container.id, prod.body.container_id)
  assert.equal((await bare.call('GET', '/api/container/status')).body.container_id, prod.body.container_id)
  assert.deepEqual(await onEngine(berth, bare.id), [prod.body.container_id])
})

test('with an empty SPAWNER_SUBDOMAIN the spawner host is the base domain itself', async (t) => {
  const env = { BASE_DOMAIN: 'berth.example', SPAWNER_SUBDOMAIN: '' }
  const plain = await startBerth(t, { wrapRuntime: noCreateRuntime, env })
  const { call } = await plain.signUp('ann@x.org')
  assert.equal((await call('GET', '/api/user/me')).body.container.service_url, 'http://berth.example/ann')
})
