import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  assertOk,
  assertRefused,
  blockContainer,
  blockUser,
  engineState,
  instant,
  onEngine,
} from '../../support/api-calls.ts'
import { recordOf, unblockContainer, unblockUser } from '../../support/api-calls.ts'
import { startBerth, type Person, type Reply } from '../../support/berth.ts'
import { askEngine } from '../../support/engine/engine.ts'
import { waitFor } from '../../support/program.ts'
import { onlyLong } from '#test/support/extent.ts'

const berth = await startBerth({ after }, { env: { BASE_DOMAIN: 'berth.example' } })
const admin = await berth.administrator()
/** Of whom tests ask that need a container which stands. */
const dan = await berth.signUp('dan@x.org')
const launch = (person: Person, type: string): Promise<Reply> => person.call('POST', `/api/container/launch/${type}`)

const ann = await berth.signUpWithoutContainer('ann@x.org')
let ofAnn: Reply | undefined

test('launch of a type without a record creates the container and answers with exactly the specified fields', async () => {
  const reply = (ofAnn = await launch(ann, 'prod'))
  assertOk(reply)
  const { message, container_id, ...rest } = reply.body
  assert.ok(message)
  assert.deepEqual(rest, { service_url: 'http://spawner.berth.example/ann-prod', status: 'running' })
  assert.equal(await engineState(berth, container_id), 'running')
})

test('it stores a record with the fields of a UserContainer', async () => {
  const { id, template_image, created_at, last_used, ...rest } = await recordOf(admin, ann.id, 'prod')
  assert.ok(Number.isInteger(id))
  assert.match(template_image, /\w/)
  assert.match(created_at, instant)
  assert.match(last_used ?? '', instant)
  assert.deepEqual(rest, {
    user_id: ann.id,
    container_type: 'prod',
    container_id: ofAnn?.body.container_id,
    container_port: 8080,
    is_blocked: false,
    blocked_at: null,
    blocked_by: null,
  })
})

test('launch of one type never overwrites the container id of another', onlyLong, async () => {
  const cat = await berth.signUp('cat@x.org')
  const prod = await launch(cat, 'prod')
  assert.equal((await recordOf(admin, cat.id, 'dev')).container_id, cat.auth.user.container_id)
  assert.notEqual(prod.body.container_id, cat.auth.user.container_id)
  assert.equal((await onEngine(berth, cat.id)).length, 2)
})

test('launch of a running container is 200 and reuses it', async () => {
  const reply = await launch(dan, 'dev')
  assertOk(reply)
  assert.equal(reply.body.container_id, dan.auth.user.container_id)
})

test('launch starts a stopped container rather than recreating it', async () => {
  const id = dan.auth.user.container_id ?? ''
  await berth.runtime.stop(id)
  const reply = await launch(dan, 'dev')
  assertOk(reply)
  assert.equal(reply.body.container_id, id)
  assert.equal(await engineState(berth, id), 'running')
})

test('launch recreates a container that the runtime no longer has, and replaces its id in the record', async () => {
  const id = dan.auth.user.container_id ?? ''
  await berth.runtime.remove(id)
  const reply = await launch(dan, 'dev')
  assertOk(reply)
  assert.notEqual(reply.body.container_id, id)
  assert.equal((await recordOf(admin, dan.id)).container_id, reply.body.container_id)
  assert.equal((await recordOf(admin, dan.id)).container_port, 8080)
})

test('launch updates last_used of the container, and not since when it runs', async () => {
  const runningSince = async () => {
    const { containers } = (await dan.call('GET', '/api/user/data')).body
    return containers.find(({ type }: { type: string }) => type === 'dev').running_since as string
  }
  const since = await runningSince()
  const before = Date.now()
  assertOk(await launch(dan, 'dev'))
  assert.ok(Date.parse((await recordOf(admin, dan.id)).last_used ?? '') >= before)
  // "Running since" was the last visit.
  assert.deepEqual([await runningSince(), Date.parse(since) < before], [since, true])
})

test('launch of a type that is not configured is 400 and names the types there are', async () => {
  const refused = await launch(admin, 'nonsense')
  assertRefused(refused, 400)
  assert.match(refused.body.error, /dev, prod/)
})

test('launch of a blocked container is 403 with blocked_at, and nothing is started', async () => {
  const record = await recordOf(admin, dan.id)
  const { container } = (await blockContainer(admin, record.id)).body
  const refused = await launch(dan, 'dev')
  assertRefused(refused, 403, ['blocked_at'])
  assert.equal(refused.body.blocked_at, container.blocked_at)
  assert.match(refused.body.blocked_at, instant)
  assert.equal(await engineState(berth, record.container_id ?? ''), 'exited')
})

test('launch works again after the unblock', onlyLong, async () => {
  const ivy = await berth.signUp('ivy@x.org')
  const { id } = await recordOf(admin, ivy.id)
  assertOk(await blockContainer(admin, id))
  assertOk(await unblockContainer(admin, id))
  assert.equal(await engineState(berth, ivy.auth.user.container_id ?? ''), 'exited', 'the unblock starts nothing')
  assertOk(await launch(ivy, 'dev'))
})

test('a blocked user with a live token can launch nothing, not even a type without record; reading goes on', async () => {
  const joe = await berth.signUpWithoutContainer('joe@x.org')
  assertOk(await blockUser(admin, joe.id))
  const dev = await launch(joe, 'dev')
  assertRefused(dev, 403, ['blocked_at'])
  assert.match(dev.body.blocked_at, instant)
  const prod = await launch(joe, 'prod')
  assertRefused(prod, 403, ['blocked_at'])
  assert.equal(prod.body.blocked_at, null)
  for (const path of ['/api/user/me', '/api/container/status', '/api/user/containers'])
    assertOk(await joe.call('GET', path))
  assert.deepEqual(await onEngine(berth, joe.id), [])
})

test('an unknown type is 400 for a blocked user, too', async () => {
  const kay = await berth.signUpWithoutContainer('kay@x.org')
  assertOk(await blockUser(admin, kay.id))
  assertRefused(await launch(kay, 'nonsense'), 400)
})

test('the container of a blocked user, unblocked by itself, still cannot be launched', async () => {
  const lee = await berth.signUpWithoutContainer('lee@x.org')
  assertOk(await blockUser(admin, lee.id))
  assertOk(await unblockContainer(admin, (await recordOf(admin, lee.id)).id))
  assertRefused(await launch(lee, 'dev'), 403, ['blocked_at'])
  assertOk(await unblockUser(admin, lee.id))
  assertOk(await launch(lee, 'dev'))
})

// It was answered with "running", and its address with 503 for as long as it ran.
test('launch of a container that was disconnected from its network makes it reachable again', async () => {
  const ida = await berth.signUpWithoutContainer('ida@x.org')
  const id: string = (await launch(ida, 'prod')).body.container_id
  const { NetworkSettings } = await askEngine<{ NetworkSettings: { Networks: object } }>(
    'GET',
    `/containers/${id}/json`,
  )
  for (const network of Object.keys(NetworkSettings.Networks))
    await askEngine('POST', `/networks/${network}/disconnect`, { body: { Container: id } })
  const again = await launch(ida, 'prod')
  assertOk(again)
  assert.equal(again.body.container_id, id)
  const reached = async () => (await ida.call('GET', `/${ida.slug}-prod/`)).status
  await waitFor('the page', async () => (await reached()) === 200)
})
