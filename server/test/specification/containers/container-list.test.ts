import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertOk, blockContainer, instant, recordOf } from '../../support/api-calls.ts'
import { startBerth } from '../../support/berth.ts'
import { testImage } from '../../support/engine/engine.ts'
import { noCreateRuntime } from '../../support/engine/faulty-runtimes.ts'
import { onlyLong } from '#test/support/extent.ts'

const berth = await startBerth({ after }, { env: { BASE_DOMAIN: 'berth.example' } })
const admin = await berth.administrator()
const ann = await berth.signUp('ann@x.org')
const fields = [
  'type',
  'display_name',
  'description',
  'status',
  'service_url',
  'home',
  'container_id',
  'created_at',
  'last_used',
  'is_blocked',
  'blocked_at',
]

test('there is one entry per configured type, whether or not a record exists, with exactly the specified fields', async () => {
  const reply = await ann.call('GET', '/api/user/containers')
  assertOk(reply)
  assert.deepEqual(
    reply.body.containers.map(({ type }: { type: string }) => type),
    ['dev', 'prod'],
  )
  for (const entry of reply.body.containers) assert.deepEqual(Object.keys(entry).sort(), [...fields].sort())
})

test('an entry with a record shows it', async () => {
  const [dev] = (await ann.call('GET', '/api/user/containers')).body.containers
  const { created_at, last_used, ...rest } = dev
  assert.match(created_at, instant)
  assert.match(last_used, instant)
  assert.deepEqual(rest, {
    type: 'dev',
    display_name: 'Development',
    description: 'Where work is done',
    status: 'running',
    service_url: 'http://spawner.berth.example/ann-dev',
    home: 'type',
    container_id: ann.auth.user.container_id,
    is_blocked: false,
    blocked_at: null,
  })
})

test('an entry without a record is not_created, not blocked, and null where nothing is known', async () => {
  const [, prod] = (await ann.call('GET', '/api/user/containers')).body.containers
  assert.deepEqual(prod, {
    type: 'prod',
    display_name: 'Production',
    description: 'Where work is shown',
    status: 'not_created',
    service_url: 'http://spawner.berth.example/ann-prod',
    home: 'type',
    container_id: null,
    created_at: null,
    last_used: null,
    is_blocked: false,
    blocked_at: null,
  })
})

test('a blocked entry says so, and since when in ISO 8601', async () => {
  const bob = await berth.signUpWithoutContainer('bob@x.org')
  const { id } = await recordOf(admin, bob.id)
  const blocked = await blockContainer(admin, id)
  assertOk(blocked)
  const [dev] = (await bob.call('GET', '/api/user/containers')).body.containers
  assert.equal(dev.is_blocked, true)
  assert.match(dev.blocked_at, instant)
  assert.equal(dev.blocked_at, blocked.body.container.blocked_at)
})

test('a record whose container could never be created is not_created', async (t) => {
  const refusing = await startBerth(t, { wrapRuntime: noCreateRuntime })
  const { call } = await refusing.signUp('ann@x.org')
  const [dev] = (await call('GET', '/api/user/containers')).body.containers
  assert.equal(dev.status, 'not_created')
  assert.equal(dev.container_id, null)
})

test(
  'types keep the order of the configuration, and the first one in it is the first configured type',
  onlyLong,
  async (t) => {
    const template = JSON.stringify({ display_name: 'X', description: 'x', image: await testImage(), port: 8080 })
    const types = ['zeta', '10', '2', 'dev']
    const CONTAINER_TEMPLATES = `{${types.map((type) => `"${type}": ${template}`).join(', ')}}`
    const odd = await startBerth(t, { env: { CONTAINER_TEMPLATES } })
    const person = await odd.signUp('ann@x.org')
    const { containers } = (await person.call('GET', '/api/user/containers')).body
    assert.deepEqual(
      containers.map(({ type }: { type: string }) => type),
      types,
    )
    assert.equal(containers[0].container_id, person.auth.user.container_id)
    assert.equal(containers[0].status, 'running')
  },
)
