import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { pollUntil } from '../support/control-plane.ts'
import { startEnginelessBerth, tokenIn, type EnginelessBerth } from '../support/berth-without-engine.ts'
import { faultyStore, type StoreFault } from '../support/store/faulty-store.ts'
import { FakeEngine } from '../support/engine/fake-engine.ts'
import { FakeGateway } from '../support/gateway/fake-gateway.ts'
import { observationTime } from '#test/support/observation-time.ts'
import { onlyLong } from '#test/support/extent.ts'

/** A store that fails, or is slow, in the middle of what is done with one container. */

/** @param fields of the one template */
async function arrange(t: TestContext, fields: Record<string, unknown> = {}) {
  const [engine, gateway, fault]: [FakeEngine, FakeGateway, StoreFault] = [new FakeEngine(), new FakeGateway(), {}]
  const berth = await startEnginelessBerth(t, {
    env: { CONTAINER_TEMPLATES: JSON.stringify({ dev: { image: 'i', port: 8080, ...fields } }) },
    runtime: engine.runtime,
    gateway,
    wrapDatabase: (database) => faultyStore(database, fault),
  })
  const token = await signUp(berth)
  const call = (method: string, path: string) => berth.call(method, path, { token })
  const wake = () => gateway.control?.wake('ann-dev')
  const word = () => gateway.routeStateOf('ann-dev')
  return { berth, engine, gateway, fault, call, wake, word }
}

async function signUp(berth: EnginelessBerth): Promise<string> {
  await berth.call('POST', '/api/auth/signup', { body: { email: 'ann@x.org' } })
  const [mail] = berth.mails
  assert.ok(mail)
  const { body } = await berth.call('GET', `/api/auth/verify-signup?token=${tokenIn(mail)}`)
  return (body as { access_token: string }).access_token
}

for (const [kind, field] of [
  ['pause', 'idle_pause'],
  ['stop', 'idle_timeout'],
] as const) {
  test(`a hold for a ${kind} ends although the store fails while the container is held`, onlyLong, async (t) => {
    const { engine, gateway, fault, word } = await arrange(t, { [field]: 1 })
    let [isHeld, failed] = [false, 0]
    const hold = gateway.hold.bind(gateway)
    gateway.hold = (prefix) => ((isHeld = true), hold(prefix))
    // A pause that the engine refuses is ended by what is said afterwards alone; so is a stop that could not be noted.
    engine.before = (verb) => {
      if (verb === 'pause' && isHeld) throw new RuntimeError('failed', 'pause')
    }
    fault.fails = () => isHeld && ++failed > 0
    await pollUntil(
      () => failed > 1 && gateway.held.size === 0,
      () => `the store failed ${failed} times, and held are: ${[...gateway.held].join()}`,
    )
    assert.equal(word(), 'running')
    ;[isHeld, engine.before] = [false, () => undefined]
    fault.fails = () => false
    await pollUntil(
      () => engine.running.length === 0,
      () => 'it is put to rest once the store works again',
    )
  })
}

test('a hold that was never released ends with the first request for the container', async (t) => {
  const { gateway, wake } = await arrange(t)
  gateway.held.add('ann-dev')
  assert.equal(await wake(), undefined)
  assert.equal(gateway.held.size, 0)
})

test('a stop behind a wake whose store fails stops what that wake was still starting', onlyLong, async (t) => {
  const { engine, fault, call, wake } = await arrange(t)
  assert.equal((await call('POST', '/api/container/stop/dev')).status, 200)
  assert.equal(engine.running.length, 0)
  const started = Promise.withResolvers<void>()
  let isStarting = false
  engine.before = async (verb) => {
    if (verb === 'start') await ((isStarting = true), started.promise)
  }
  // Asked while the engine works: is it blocked?
  fault.fails = (query) => isStarting && query === 'select user_containers'
  const waking = wake()?.catch(() => undefined)
  await pollUntil(
    () => isStarting,
    () => 'it is never started',
  )
  fault.fails = () => false
  const stopping = call('POST', '/api/container/stop/dev')
  await sleep(200)
  started.resolve()
  await Promise.all([waking, stopping])
  await observationTime(200)
  assert.deepEqual(engine.running, [])
})

test('a launch whose store fails does not end before the engine has ended its part', async (t) => {
  const { engine, fault, call } = await arrange(t)
  await call('POST', '/api/container/stop/dev')
  for (const id of engine.made.keys()) await engine.runtime.remove(id)
  const started = Promise.withResolvers<void>()
  let isStarting = false
  engine.before = async (verb) => {
    if (verb === 'start') await ((isStarting = true), started.promise)
  }
  fault.fails = (query) => isStarting && query === 'update user_containers'
  let isAnswered = false
  const launching = call('POST', '/api/container/launch/dev').finally(() => (isAnswered = true))
  await pollUntil(
    () => isStarting,
    () => 'it is never started',
  )
  await observationTime(500)
  assert.equal(isAnswered, false)
  started.resolve()
  await launching
})

test('a block stops what runs although the store cannot be written any more once the block is stored', async (t) => {
  const { engine, fault, call } = await arrange(t)
  assert.deepEqual(engine.running, ['dev of 1'])
  let writes = 0
  fault.fails = (query) => query === 'update user_containers' && ++writes > 1
  assert.equal((await call('POST', '/api/admin/containers/1/block')).status, 200)
  assert.deepEqual(engine.running, [])
})

test('a launch that was blocked while it started stops what it started although the store cannot be written', async (t) => {
  const { engine, fault, call } = await arrange(t)
  await call('POST', '/api/container/stop/dev')
  const started = Promise.withResolvers<void>()
  let isStarting = false
  engine.before = async (verb) => {
    if (verb === 'start') await ((isStarting = true), started.promise)
  }
  const launching = call('POST', '/api/container/launch/dev')
  await pollUntil(
    () => isStarting,
    () => 'it is never started',
  )
  let writes = 0
  fault.fails = (query) => query === 'update user_containers' && ++writes > 1
  const blocking = call('POST', '/api/admin/containers/1/block')
  await pollUntil(
    () => writes > 0,
    () => 'the block is never stored',
  )
  started.resolve()
  assert.equal((await launching).status, 403)
  assert.deepEqual(engine.running, [])
  assert.equal((await blocking).status, 200)
})

for (const state of ['paused', 'exited'] as const)
  test(`a launch whose store cannot be written removes no container that is ${state}`, async (t) => {
    const { engine, fault, call } = await arrange(t)
    const [[id, made]] = engine.made as unknown as [[string, { state: string }]]
    if (state === 'paused') await engine.runtime.pause(id)
    else await call('POST', '/api/container/stop/dev')
    fault.fails = (query) => query === 'update user_containers'
    assert.equal((await call('POST', '/api/container/launch/dev')).status, 500)
    assert.deepEqual([engine.made.get(id), made.state], [made, state])
    fault.fails = () => false
    assert.equal((await call('POST', '/api/container/launch/dev')).status, 200)
    assert.deepEqual([[...engine.made.keys()], made.state], [[id], 'running'])
  })

test('a launch whose store is on a full disk is refused for want of room', async (t) => {
  const { fault, call } = await arrange(t)
  await call('POST', '/api/container/stop/dev')
  Object.assign(fault, { isFull: true, fails: (query: string) => query === 'update user_containers' })
  const { status, body } = await call('POST', '/api/container/launch/dev')
  assert.equal(status, 500)
  assert.equal((body as { reason?: unknown }).reason, 'full')
})

test('that it was woken is noted within its flight: a stop that follows is not undone by it', onlyLong, async (t) => {
  const { engine, fault, call, wake, berth } = await arrange(t)
  await call('POST', '/api/container/stop/dev')
  const [noted, steps]: [PromiseWithResolvers<void>, string[]] = [Promise.withResolvers<void>(), []]
  let isNoting = false
  fault.delay = (query) => {
    if (query !== 'update user_containers' || isNoting) return undefined
    isNoting = true
    return noted.promise.then(() => void steps.push('noted'))
  }
  engine.before = (verb) => void (verb === 'stop' && steps.push('stop'))
  // A request that waits for it does not wait for the write.
  assert.equal(await wake(), undefined)
  await pollUntil(
    () => isNoting,
    () => 'it is never noted',
  )
  const stopping = call('POST', '/api/container/stop/dev')
  await sleep(300)
  noted.resolve()
  assert.equal((await stopping).status, 200)
  assert.deepEqual(steps, ['noted', 'stop'])
  const { stopped_at, running_since } = await berth.database.db
    .selectFrom('user_containers')
    .select(['stopped_at', 'running_since'])
    .executeTakeFirstOrThrow()
  assert.notEqual(stopped_at, null)
  assert.equal(running_since, null)
})
