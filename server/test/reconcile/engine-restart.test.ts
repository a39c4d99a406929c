// Part of npm run test:more: it starts engines; containers.test.ts states what the reconciler does with what it finds.
// Needs a process of its own: it takes the time of ten others.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { Runtime } from '#/engines/runtime.ts'
import { findContainer } from '#/store/user-containers.ts'
import { assertOk, blockContainer, engineState, recordOf } from '#test/support/api-calls.ts'
import { startBerth, testTemplates, type Berth, type Lifetime } from '#test/support/berth.ts'
import { outside, pollUntil, startRig } from '#test/support/control-plane.ts'
import { askEngine, type AskEngine } from '#test/support/engine/engine.ts'
import type { Fault } from '#test/support/engine/faulty-runtimes.ts'
import { linkToEngine } from '#test/support/engine/faulty-engines.ts'
import { startOwnEngine } from '#test/support/engine/own-engine.ts'
import { eventually, read } from '#test/support/engine/runtimes.ts'
import { observationTime } from '#test/support/observation-time.ts'
import { extent, onlyLong, waitLimit } from '#test/support/extent.ts'

/** After the engine, or the host, was started again, what should run does. */

/** A slow machine takes seconds to start an engine, and each container. */
const limit = 60_000

const stateIs = (berth: Berth, id: string, state: string) =>
  pollUntil(
    async () => (await engineState(berth, id).catch(() => 'unknown')) === state,
    () => `${id} is not ${state}`,
    limit,
  )

const shouldRun = async ({ database }: Berth, userId: number, type = 'dev') =>
  (await findContainer(database.db, userId, type))?.runningSince !== null

const untilNoted = (berth: Berth, userId: number, isWanted: boolean, type = 'dev') =>
  pollUntil(
    async () => (await shouldRun(berth, userId, type)) === isWanted,
    () => `whether it should run is not noted as ${isWanted}`,
    limit,
  )

/** `dev` never rests, `prod` is paused after a second. */
async function templates(): Promise<string> {
  const { dev, prod } = JSON.parse(await testTemplates())
  return JSON.stringify({ dev, prod: { ...prod, idle_pause: 1 } })
}

test(
  'after the engine was stopped or killed what ran runs again, with its files; what slept, ended or is blocked does not',
  { timeout: waitLimit(300_000) },
  async (t) => {
    const engine = await startOwnEngine(t)
    const env = { CONTAINER_TEMPLATES: await templates() }
    const rig = await startRig(t, {}, { engine, env, pace: { every: 500, down: 8_000 } })
    const { berth } = rig
    const [boss, ann, bob, cat] = [
      await rig.person('boss'),
      await rig.person('ann'),
      await rig.person('bob'),
      await rig.person('cat'),
    ]
    const idOf = ({ auth }: typeof ann) => String(auth.user.container_id)
    await writeKept(engine.ask, idOf(ann))
    assertOk(await blockContainer(boss, (await recordOf(boss, cat.id)).id))
    await engine.ask('POST', `/containers/${idOf(bob)}/stop`)
    const paused = String((await ann.call('POST', '/api/container/launch/prod')).body.container_id)
    await stateIs(berth, paused, 'paused')
    await untilNoted(berth, bob.id, false)

    for (const [round, end] of (['stop', 'kill'] as const).slice(0, extent(1, 2)).entries()) {
      await engine[end]()
      await engine.start()
      await stateIs(berth, idOf(ann), 'running')
      await stateIs(berth, idOf(boss), 'running')
      await ann.untilRouteState('running')
      // What is reported, and stored, follows what the engine did; on a busy machine not at once.
      await eventually(async () => {
        // The engine lets what is paused go on in order to stop it, which is no start.
        assert.equal(await engineState(berth, paused), 'exited', end)
        assert.equal(rig.gateway.routeStateOf(`${ann.slug}-prod`), 'asleep')
        assert.equal(await engineState(berth, idOf(bob)), 'exited', end)
        assert.equal(await engineState(berth, idOf(cat)), 'exited', end)
        assert.match(await readFrom(ann.address()), /by ann/)
        assert.equal(await shouldRun(berth, ann.id), true)
      }, limit)
      await pollUntil(
        async () => (await boss.call('GET', '/api/admin/system')).body.reconciler.actions.restore >= 2 * (round + 1),
        () => 'what was started again is not told',
        limit,
      )
    }
    await eventually(async () => assert.equal(await rig.control.wake(`${ann.slug}-prod`), undefined), limit)
  },
)

test('after a restart of the host what ran runs again in the same container, and counts as unused', async (t) => {
  // Its address is part of what a container is made of, and a free port is another one each time.
  const env = { BASE_DOMAIN: 'berth.test' }
  const { berth, people } = await startAndEnd(t, ['ann'], env)
  const [ann] = people
  assert.ok(ann)
  await outside.stop(ann.container)
  const now = await startBerth(t, { dataDir: berth.dataDir, installation: berth.installation, env })
  await stateIs(now, ann.container, 'running')
  const record = await findContainer(now.database.db, ann.id, 'dev')
  assert.deepEqual([record?.containerId, record?.lastUsed], [ann.container, ann.lastUsed])
})

test(
  'what the engine cannot start again is reported to administrators, not given up, and started once it can be',
  onlyLong,
  async (t) => {
    const { berth, people } = await startAndEnd(t, ['boss', 'ann'])
    const [boss, ann] = people
    assert.ok(boss && ann)
    await outside.stop(ann.container)
    const fault: Fault = { active: true }
    const { dataDir, installation } = berth
    const now = await startBerth(t, { dataDir, installation, wrapRuntime: (runtime) => lameRuntime(runtime, fault) })
    const warning = new RegExp(`could not be started again.*: dev of user ${ann.id}\\.`)
    const warnings = async () =>
      (await now.call('GET', '/api/admin/system', { token: boss.token })).body.warnings.join() as string
    await pollUntil(
      async () => warning.test(await warnings()),
      () => 'nothing is reported',
      limit,
    )
    assert.notEqual(await engineState(now, ann.container), 'running')
    assert.equal(await shouldRun(now, ann.id), true)
    fault.active = false
    await pollUntil(
      async () => (await recordState(now, ann.id)) === 'running',
      () => 'it is not started again',
      limit,
    )
    // It counts as started once it has settled, which is a moment after the engine says that it runs.
    await pollUntil(
      async () => !warning.test(await warnings()),
      () => 'administrators are still told that it could not be started',
      limit,
    )
  },
)

test('a Berth that is stopped while it starts again what ran leaves the rest to the next one', onlyLong, async (t) => {
  const env = { BASE_DOMAIN: 'berth.test' }
  const { berth, people } = await startAndEnd(t, ['ann', 'bob'], env)
  await Promise.all(people.map(({ container }) => outside.stop(container)))
  const [starts, creations] = [heldCalls(), heldCalls()]
  const wrapRuntime = (runtime: Runtime): Runtime => ({
    ...runtime,
    start: async (...given) => starts.before(() => runtime.start(...given)),
    create: async (...given) => creations.before(() => runtime.create(...given)),
  })
  const { dataDir, installation } = berth
  const ending = await startBerth(t, { dataDir, installation, wrapRuntime, env: { ...env, LAUNCH_PARALLEL: '1' } })
  await starts.asked
  const launched = ending.call('POST', '/api/container/launch/prod', { token: people[0]?.token ?? '' })
  await pollUntil(
    async () =>
      (await ending.call('GET', '/api/admin/system', { token: people[0]?.token ?? '' })).body.launches.waiting === 2,
    () => 'a launch and a restoration do not wait',
    limit,
  )
  starts.goOn()
  await creations.asked
  const closed = ending.close()
  // Time in which who waits to be started again could be refused three times.
  await observationTime(8_000)
  creations.goOn()
  await Promise.all([closed, launched.catch(() => undefined)])
  const next = await startBerth(t, { dataDir, installation, env })
  for (const { container } of people) await stateIs(next, container, 'running')
})

test('what ended by itself stays down although the engine was not heard for a while', async (t) => {
  const line = await linkToEngine(t)
  const engine = { address: line.address, ask: askEngine }
  const rig = await startRig(t, {}, { pace: { every: 300, down: 60_000 }, engine })
  const [ann, bob] = [await rig.person('ann'), await rig.person('bob')]
  await outside.stop(ann.address().containerId)
  await ann.untilRouteState('asleep')
  line.cut()
  const report = async () => (await ann.call('GET', '/api/admin/system')).body.reconciler
  for (let run = 0; run < 4; run++) {
    const { last_run } = await report()
    await pollUntil(
      async () => (await report()).last_run !== last_run,
      () => 'the reconciler does not look',
      limit,
    )
  }
  await bob.untilRouteState('running')
  assert.equal(await engineState(rig.berth, String(ann.auth.user.container_id)), 'exited')
})

/** A file in the home, which the app serves. */
async function writeKept(ask: AskEngine, id: string): Promise<void> {
  const Cmd = ['/bin/sh', '-c', 'echo by ann > /home/berth/kept']
  const { Id } = await ask<{ Id: string }>('POST', `/containers/${id}/exec`, { body: { Cmd } })
  await ask('POST', `/exec/${Id}/start`, { body: { Detach: true } })
}

const readFrom = ({ host, port }: { host: string; port: number }) => read({ address: host, port }, 'kept')

interface Former {
  readonly id: number
  readonly token: string
  readonly container: string
  readonly lastUsed: Date | null | undefined
}

/** A Berth that has ended, as at a shutdown of its host, and people whose containers still run. */
async function startAndEnd(lifetime: Lifetime, names: readonly string[], env: Record<string, string> = {}) {
  const berth = await startBerth(lifetime, { env })
  const people: Former[] = []
  for (const name of names) {
    const { id, token, auth } = await berth.signUp(`${name}@x.org`)
    const record = await findContainer(berth.database.db, id, 'dev')
    people.push({ id, token, container: String(auth.user.container_id), lastUsed: record?.lastUsed })
  }
  await berth.close()
  return { berth, people }
}

/** Of their present container: one that could not be started may have been made anew. */
async function recordState(berth: Berth, userId: number): Promise<string> {
  const id = (await findContainer(berth.database.db, userId, 'dev'))?.containerId
  return (id && (await engineState(berth, id).catch(() => undefined))) ?? 'unknown'
}

/** Calls that wait until they may go on. */
function heldCalls() {
  const [asked, mayGoOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const before = async <T>(work: () => Promise<T>): Promise<T> => {
    asked.resolve()
    await mayGoOn.promise
    return work()
  }
  return { before, asked: asked.promise, goOn: () => mayGoOn.resolve() }
}

/** An engine that starts and makes nothing. */
function lameRuntime(runtime: Runtime, fault: Fault): Runtime {
  const unlessLame = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
    if (fault.active) throw new RuntimeError('failed', what)
    return work()
  }
  return new Proxy(runtime, {
    get(target, name: keyof Runtime) {
      if (name === 'start')
        return (...given: Parameters<Runtime['start']>) => unlessLame('start', () => target.start(...given))
      if (name === 'create')
        return (...given: Parameters<Runtime['create']>) => unlessLame('create', () => target.create(...given))
      return name === 'capabilities' ? target.capabilities : target[name].bind(target)
    },
  })
}
