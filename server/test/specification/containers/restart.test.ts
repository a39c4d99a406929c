import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertOk, assertRefused, blockContainer, blockUser, engineState, onEngine } from '../../support/api-calls.ts'
import { instant, recordOf, seenBy } from '../../support/api-calls.ts'
import { startBerth, type Person } from '../../support/berth.ts'
import {
  during,
  unreachableRuntime,
  noCreateRuntime,
  noStopRuntime,
  type Fault,
} from '../../support/engine/faulty-runtimes.ts'
import { onlyLong } from '#test/support/extent.ts'

const deafness: Fault = { active: false }
const refusal: Fault = { active: false }
const stubbornness: Fault = { active: false }
const berth = await startBerth(
  { after },
  {
    wrapRuntime: (runtime) =>
      unreachableRuntime(noCreateRuntime(noStopRuntime(runtime, stubbornness), refusal), deafness),
  },
)
const admin = await berth.administrator()
const restart = (person: Person) => person.call('POST', '/api/container/restart')

const ann = await berth.signUp('ann@x.org')
const beforeRestart = Date.now()
const first = await restart(ann)

test('restart answers with message, container_id and status running', async () => {
  assertOk(first)
  assert.deepEqual(Object.keys(first.body).sort(), ['container_id', 'message', 'status'])
  assert.equal(first.body.status, 'running')
  assert.equal(await engineState(berth, first.body.container_id), 'running')
})

test('restart stops and removes the container, creates a new one, and stores its id and port', async () => {
  const old = ann.auth.user.container_id ?? ''
  assert.notEqual(first.body.container_id, old)
  assert.equal(await engineState(berth, old), undefined)
  const record = await recordOf(admin, ann.id)
  assert.deepEqual([record.container_id, record.container_port], [first.body.container_id, 8080])
})

test('restart sets last_used of user and container', async () => {
  const user = await seenBy(admin, ann.id)
  assert.match(user.last_used, instant)
  assert.ok(Date.parse(user.last_used) >= beforeRestart)
  assert.ok(Date.parse(user.containers[0].last_used) >= beforeRestart)
})

test('restart makes a verified user active, and an active one stays active', async () => {
  assert.equal(ann.auth.user.state, 'verified')
  assert.equal((await seenBy(admin, ann.id)).state, 'active')
  assertOk(await restart(ann))
  assert.equal((await seenBy(admin, ann.id)).state, 'active')
})

test('a container of any type is replaced by the address with its type, and of an unknown type none', async () => {
  // Pages offered it on the first card alone.
  const bea = await berth.signUp('bea@x.org')
  const launched = await bea.call('POST', '/api/container/launch/prod')
  assertOk(launched)
  const reply = await bea.call('POST', '/api/container/restart/prod')
  assertOk(reply)
  assert.notEqual(reply.body.container_id, launched.body.container_id)
  assert.equal(await engineState(berth, launched.body.container_id), undefined)
  assert.equal(await engineState(berth, bea.auth.user.container_id ?? ''), 'running', 'that of the first type runs on')
  assertRefused(await bea.call('POST', '/api/container/restart/toaster'), 400)
})

test('restart leaves the containers of other types alone', onlyLong, async () => {
  const eve = await berth.signUp('eve@x.org')
  const { body } = await eve.call('POST', '/api/container/launch/prod')
  assertOk(await restart(eve))
  assert.equal((await recordOf(admin, eve.id, 'prod')).container_id, body.container_id)
  assert.equal(await engineState(berth, body.container_id), 'running')
})

test('restart of a user who has only another type creates the first type and its record, and overwrites nothing', async () => {
  const fay = await during(refusal, () => berth.signUp('fay@x.org'))
  await berth.database.db.deleteFrom('user_containers').where('user_id', '=', fay.id).execute()
  const prod = await fay.call('POST', '/api/container/launch/prod')
  const { body } = await restart(fay)
  assert.equal((await recordOf(admin, fay.id, 'dev')).container_id, body.container_id)
  assert.equal((await recordOf(admin, fay.id, 'prod')).container_id, prod.body.container_id)
})

test('restart of a user without any record creates container and record', onlyLong, async () => {
  const gus = await during(refusal, () => berth.signUp('gus@x.org'))
  await berth.database.db.deleteFrom('user_containers').where('user_id', '=', gus.id).execute()
  const { body } = await restart(gus)
  assert.deepEqual(await onEngine(berth, gus.id), [body.container_id])
  assert.equal((await recordOf(admin, gus.id)).container_id, body.container_id)
})

test('a failure to stop or remove the old container is ignored: restart is 200', async () => {
  const reply = await during(stubbornness, () => restart(ann))
  assertOk(reply)
  assert.equal(await engineState(berth, reply.body.container_id), 'running')
  assert.ok(berth.logs.some((line) => line.includes('removing the old container') && line.includes('failed')))
})

test('a container that cannot be created is 500, and the state stays verified', async () => {
  const ivy = await berth.signUpWithoutContainer('ivy@x.org')
  assertRefused(await during(refusal, () => restart(ivy)), 500, ['reason'])
  assert.equal((await seenBy(admin, ivy.id)).state, 'verified')
  assertOk(await restart(ivy))
})

test('an engine that does not answer is 500, and the container goes on running', async () => {
  const { container_id } = await recordOf(admin, ann.id)
  assertRefused(await during(deafness, () => restart(ann)), 500, ['reason'])
  assert.equal(await engineState(berth, container_id ?? ''), 'running')
})

test('restart of a blocked container is 403 with blocked_at, before anything is touched', async () => {
  const { id, container_id } = await recordOf(admin, ann.id)
  assertOk(await blockContainer(admin, id))
  const refused = await restart(ann)
  assertRefused(refused, 403, ['blocked_at'])
  assert.match(refused.body.blocked_at, instant)
  assert.equal(await engineState(berth, container_id ?? ''), 'exited')
})

test('restart of a blocked user with a live token is 403', async () => {
  const lee = await berth.signUpWithoutContainer('lee@x.org')
  assertOk(await blockUser(admin, lee.id))
  assertRefused(await restart(lee), 403, ['blocked_at'])
})

test('of ten restarts at once all are 200, and one container is left', async () => {
  const max = await berth.signUpWithoutContainer('max@x.org')
  const replies = await Promise.all(Array.from({ length: 10 }, () => restart(max)))
  for (const reply of replies) assertOk(reply)
  const [left, ...more] = await onEngine(berth, max.id)
  assert.deepEqual(more, [])
  assert.equal((await recordOf(admin, max.id)).container_id, left)
})
