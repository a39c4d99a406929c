// Part of npm run test:more: faults and races of what launch.test.ts and blocking-races.test.ts state.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertOk, assertRefused, blockContainer, engineState, onEngine, recordOf } from '../../support/api-calls.ts'
import { startBerth, type Person, type Reply } from '../../support/berth.ts'
import {
  during,
  unreachableRuntime,
  noRestartRuntime,
  noCreateRuntime,
  slowRuntime,
  type Fault,
} from '../../support/engine/faulty-runtimes.ts'

const deafness: Fault = { active: false }
const refusal: Fault = { active: false }
const forgetting: Fault = { active: false }
const berth = await startBerth(
  { after },
  {
    wrapRuntime: (runtime) =>
      unreachableRuntime(noCreateRuntime(noRestartRuntime(slowRuntime(runtime, 100), forgetting), refusal), deafness),
  },
)
const admin = await berth.administrator()
const launch = (person: Person, type: string): Promise<Reply> => person.call('POST', `/api/container/launch/${type}`)

test('when a stopped container fails to start, a new one of its type takes its place in the record', async () => {
  const ann = await berth.signUp('ann@x.org')
  const old = ann.auth.user.container_id ?? ''
  await berth.runtime.stop(old)
  const reply = await during(forgetting, () => launch(ann, 'dev'))
  assertOk(reply)
  assert.notEqual(reply.body.container_id, old)
  assert.equal((await recordOf(admin, ann.id)).container_id, reply.body.container_id)
  assert.deepEqual(await onEngine(berth, ann.id), [reply.body.container_id])
})

test('when recreation fails, launch is 500, and works once the engine does', async () => {
  const ben = await berth.signUp('ben@x.org')
  await berth.runtime.remove(ben.auth.user.container_id ?? '')
  assertRefused(await during(refusal, () => launch(ben, 'dev')), 500, ['reason'])
  assertOk(await launch(ben, 'dev'))
})

test('when a first creation fails, launch is 500 and the type is not_created; the next launch creates it', async () => {
  const refused = await during(refusal, () => launch(admin, 'prod'))
  assertRefused(refused, 500, ['reason'])
  const prod = async () => (await admin.call('GET', '/api/user/containers')).body.containers[1]
  assert.equal((await prod()).status, 'not_created')
  assertOk(await launch(admin, 'prod'))
  assert.equal((await prod()).status, 'running')
})

test('an engine that does not answer is 500, gives nothing of itself away, and costs no container', async () => {
  const cat = await berth.signUp('cat@x.org')
  const id = cat.auth.user.container_id ?? ''
  await berth.runtime.stop(id)
  const refused = await during(deafness, () => launch(cat, 'dev'))
  assertRefused(refused, 500, ['reason'])
  assert.doesNotMatch(refused.text, /\.sock|ECONN|secret/)
  assert.equal(refused.body.reason, 'engine')
  assert.match(refused.headers.get('retry-after') ?? '', /^\d+$/)
  assert.equal(await engineState(berth, id), 'exited')
  assert.equal((await launch(cat, 'dev')).body.container_id, id)
})

test('a person who signed up while the engine did not answer gets their container at the first login or launch', async () => {
  const dan = await during(deafness, () => berth.signUp('dan@x.org'))
  assert.equal(dan.auth.user.container_id, null)
  assertOk(await launch(dan, 'dev'))
  assert.equal((await onEngine(berth, dan.id)).length, 1)
})

test('of twenty launches at once all are 200 with the same id, and there is one container on the engine', async () => {
  const eve = await during(refusal, () => berth.signUp('eve@x.org'))
  const replies = await Promise.all(Array.from({ length: 20 }, () => launch(eve, 'dev')))
  for (const reply of replies) assertOk(reply)
  const ids = new Set(replies.map(({ body }) => body.container_id))
  assert.deepEqual(await onEngine(berth, eve.id), [...ids])
  const { containers } = await (await admin.call('GET', '/api/admin/users?q=eve@')).body.users[0]
  assert.equal(containers.length, 1)
})

test('a container that is blocked while it is being launched does not run afterwards, and the launch is 403', async () => {
  const fay = await during(refusal, () => berth.signUp('fay@x.org'))
  const { id } = await recordOf(admin, fay.id)
  const launching = launch(fay, 'dev')
  await new Promise((resolve) => setTimeout(resolve, 30))
  assertOk(await blockContainer(admin, id))
  assertRefused(await launching, 403, ['blocked_at'])
  const { container_id } = await recordOf(admin, fay.id)
  assert.notEqual(container_id && (await engineState(berth, container_id)), 'running')
})
