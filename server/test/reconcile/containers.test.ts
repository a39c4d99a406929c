import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { Runtime } from '#/engines/runtime.ts'
import type { ContainerSpec } from '#/engines/container-spec.ts'
import { findContainer } from '#/store/user-containers.ts'
import { assertOk, blockContainer, engineState, recordOf } from '#test/support/api-calls.ts'
import { startBerth, testTemplates, type Berth, type Person } from '#test/support/berth.ts'
import { outside, pollUntil, startRig } from '#test/support/control-plane.ts'
import { askEngine, testImage } from '#test/support/engine/engine.ts'
import type { Fault } from '#test/support/engine/faulty-runtimes.ts'
import { createAndStart, plainSpec } from '#test/support/engine/runtimes.ts'
import { onlyLong } from '#test/support/extent.ts'

/** What the reconciler makes of worlds that no launch leaves behind, as an operator sees it in the engine and in the API. */

const pace = { every: 300, remove: 1_500, forget: 5_000 }
const rig = await startRig({ after }, {}, { pace })
const { berth } = rig
const admin = await rig.personWithoutContainer('boss')
const image = await testImage()

/** Until the engine says so, which a busy one may take seconds for; undefined: that it has none. */
const untilState = (isWanted: (state: string | undefined) => boolean, id: string, { runtime }: Berth) =>
  pollUntil(
    async () =>
      isWanted(
        await runtime.inspectId(id).then(
          (each) => each?.state,
          () => 'unknown',
        ),
      ),
    () => `${id} is not in the state that is wanted`,
    30_000,
  )

const stateIs = (id: string, wanted: string | undefined, of = berth) => untilState((state) => state === wanted, id, of)

/** Stopped, and perhaps removed by the time that a slow machine looks. */
const ends = (id: string) => untilState((state) => state === undefined || state === 'exited', id, berth)

/** A container of this installation that no launch has made. */
const specFor = (
  owner: ContainerSpec['owner'],
  name = `${owner.slug}-${owner.type}`,
  installation = berth.installation,
) => ({
  ...plainSpec,
  name: `${installation}-${name}`,
  owner,
  image,
  home: { volume: `${installation}-home-${name}`, path: '/home/berth', size: null },
  fingerprint: 'made by hand',
})

const idOf = (person: Person) => String(person.auth.user.container_id)
const storedId = async ({ id }: Person) => (await findContainer(berth.database.db, id, 'dev'))?.containerId
const reportOf = async (someone: Pick<Person, 'call'> = admin) => (await someone.call('GET', '/api/admin/system')).body

/** Until so many runs began and ended after now. */
async function untilLooked({ call }: Pick<Person, 'call'>, times = 2): Promise<void> {
  const last = async () => (await call('GET', '/api/admin/system')).body.reconciler.last_run
  for (let time = 0, before = await last(); time < times; time++) {
    await pollUntil(
      async () => (await last()) !== before,
      () => 'the reconciler does not run',
    )
    before = await last()
  }
}

test(
  'a container without a record, as an older backup leaves it, is stopped, later removed, and its home stays',
  onlyLong,
  async () => {
    const ghost = specFor({ userId: 900_001, slug: 'ghost', type: 'dev' })
    const { id } = await createAndStart(berth.runtime, ghost)
    await ends(id)
    await stateIs(id, undefined)
    await askEngine('GET', `/volumes/${ghost.home.volume}`)
    const { actions } = (await reportOf()).reconciler
    assert.ok(actions.stop >= 1 && actions.remove >= 1, JSON.stringify(actions))
  },
)

test('a container whose record lost its id is found by its name, and is its again', async () => {
  const ann = await rig.person('ann')
  const id = idOf(ann)
  await berth.database.db
    .updateTable('user_containers')
    .set({ container_id: null, container_port: null })
    .where('user_id', '=', ann.id)
    .execute()
  await pollUntil(
    async () => (await storedId(ann)) === id,
    () => 'it was not adopted',
  )
  assert.equal((await recordOf(admin, ann.id)).container_port, 8080)
  await ann.untilRouteState('running')
  assert.equal(await engineState(berth, id), 'running')
})

test('a container that replaced another from outside is adopted, and its owner reaches it', onlyLong, async () => {
  const bob = await rig.person('bob')
  await outside.remove(idOf(bob))
  const { id } = await createAndStart(berth.runtime, specFor({ userId: bob.id, slug: bob.slug, type: 'dev' }))
  await pollUntil(
    async () => (await storedId(bob)) === id,
    () => 'it was not adopted',
  )
  await pollUntil(
    () => bob.routeState() === 'running' && bob.address().containerId === id,
    () => `the gateway says ${bob.routeState()}`,
  )
})

test('a blocked container is stopped when it is started from outside, although no record has its id', async () => {
  const cat = await rig.person('cat')
  const id = idOf(cat)
  assertOk(await blockContainer(admin, (await recordOf(admin, cat.id)).id))
  await berth.database.db
    .updateTable('user_containers')
    .set({ container_id: null })
    .where('user_id', '=', cat.id)
    .execute()
  await outside.start(id)
  await stateIs(id, 'exited')
})

test(
  'of two containers of one person and type the one of the record goes on, renamed or not; the other is stopped, later removed',
  onlyLong,
  async () => {
    const dan = await rig.person('dan')
    const first = idOf(dan)
    const name = `${berth.installation}-${dan.slug}-dev`
    await askEngine('POST', `/containers/${first}/rename`, { query: { name: `${name}-renamed` } })
    const { id: second } = await createAndStart(berth.runtime, specFor({ userId: dan.id, slug: dan.slug, type: 'dev' }))
    await ends(second)
    await stateIs(second, undefined)
    assert.equal(await engineState(berth, first), 'running')
    assert.equal(await storedId(dan), first)
  },
)

test('a container of an earlier owner of the same id is never given to the present one', onlyLong, async () => {
  const eve = await rig.person('eve')
  const { id } = await createAndStart(berth.runtime, specFor({ userId: eve.id, slug: 'evelyn', type: 'dev' }))
  await ends(id)
  assert.equal(await storedId(eve), idOf(eve))
  await eve.untilRouteState('running')
})

test('foreign containers are left alone, whatever their names and whatever half of our labels they carry', async (t) => {
  const labels = [
    {},
    { 'berth.instance': 'another-installation', 'berth.user_id': '1', 'berth.slug': 'x', 'berth.type': 'dev' },
    { 'berth.instance': berth.installation },
    { 'berth.instance': berth.installation, 'berth.user_id': 'one', 'berth.slug': 'x', 'berth.type': 'dev' },
  ]
  const ids: string[] = []
  for (const [at, Labels] of labels.entries()) {
    const query = { name: `${berth.installation}-stranger${at}-dev` }
    const body = { Image: image, Labels, HostConfig: { NetworkMode: 'none' } }
    const { Id } = await askEngine<{ Id: string }>('POST', '/containers/create', { query, body })
    t.after(async () => void (await outside.remove(Id).catch(() => undefined)))
    await outside.start(Id)
    ids.push(Id)
  }
  await untilLooked(admin, 3)
  for (const id of ids) assert.equal((await berth.runtime.inspectId(id))?.state, 'running')
})

test(
  'nothing that is being launched is taken for left over, however often the reconciler looks',
  onlyLong,
  async () => {
    const people = await Promise.all(Array.from({ length: 4 }, (_, at) => rig.person(`many${at}`)))
    const restarts = await Promise.all(people.map((each) => each.call('POST', '/api/container/restart')))
    const launches = await Promise.all(people.map((each) => each.call('POST', '/api/container/launch/prod')))
    await untilLooked(admin)
    for (const reply of [...restarts, ...launches]) {
      assertOk(reply)
      assert.equal(await engineState(berth, reply.body.container_id), 'running')
    }
  },
)

test('a container that is gone is reported as not found, and forgotten after the grace time', async () => {
  const fay = await rig.person('fay')
  const entry = async () => (await fay.call('GET', '/api/user/containers')).body.containers[0]
  await outside.remove(idOf(fay))
  assert.equal((await entry()).status, 'not_found')
  await pollUntil(
    async () => (await entry()).status === 'not_created',
    () => 'it was not forgotten',
  )
  assert.equal((await entry()).container_id, null)
})

test(
  'a type that is configured no more does not run; administrators still see and block its record',
  onlyLong,
  async (t) => {
    const before = await startBerth(t, { pace })
    const gus = await before.signUp('gus@x.org')
    const prod = await gus.call('POST', '/api/container/launch/prod')
    assertOk(prod)
    await before.close()
    const { dev } = JSON.parse(await testTemplates())
    const { dataDir, installation } = before
    const now = await startBerth(t, {
      pace,
      dataDir,
      installation,
      env: { CONTAINER_TEMPLATES: JSON.stringify({ dev }) },
    })
    await stateIs(prod.body.container_id, 'exited', now)
    const { containers } = (await now.call('GET', '/api/user/containers', { token: gus.token })).body
    assert.deepEqual(
      containers.map((each: { type: string; status: string }) => [each.type, each.status]),
      [['dev', 'running']],
    )
    const same: Person = {
      ...gus,
      call: (method, path, options) => now.call(method, path, { token: gus.token, ...options }),
    }
    const record = await recordOf(same, gus.id, 'prod')
    assert.equal(record.container_id, prod.body.container_id)
    assertOk(await blockContainer(same, record.id))
    await untilLooked(same, 2)
    assert.equal(await engineState(now, prod.body.container_id), 'exited')
  },
)

test('what begins to run although nothing should is stopped within seconds, not with the next round', async (t) => {
  const patient = await startBerth(t)
  const boss = await patient.signUp('boss@x.org')
  const hal = await patient.signUp('hal@x.org')
  assertOk(await blockContainer(boss, (await recordOf(boss, hal.id)).id))
  await outside.start(idOf(hal))
  const owner = { userId: 900_003, slug: 'ghost', type: 'dev' }
  const { id } = await createAndStart(patient.runtime, specFor(owner, 'ghost-dev', patient.installation))
  await stateIs(id, 'exited', patient)
  await stateIs(idOf(hal), 'exited', patient)
  assert.equal(await engineState(patient, idOf(boss)), 'running')
})

test('administrators see what runs, who waits, and what is left of the host', async () => {
  const { launches, containers, host, warnings } = await reportOf()
  assert.deepEqual([launches.waiting, launches.under_way], [0, 0])
  assert.ok(launches.parallel >= 1)
  assert.ok(containers.running > 0 && containers.max === null && containers.addresses_left > 0)
  assert.ok(host.memory.total > host.memory.left && host.memory.left > 0)
  assert.ok(host.disk.total > host.disk.left && host.disk.left > 0)
  assert.match(host.rules, /^(set|not set: .+)$/)
  assert.ok(
    warnings.every((warning: string) => /^\p{Lu}.*\.$/u.test(warning)),
    warnings.join(),
  )
})

test('a list that fails leads to nothing; the report and the metrics say that the engine does not answer', async (t) => {
  const fault: Fault = { active: false }
  const halfDeaf = await startBerth(t, {
    pace: { every: 300, remove: 0 },
    wrapRuntime: (real) => listless(real, fault),
  })
  const boss = await halfDeaf.signUp('boss@x.org')
  const before = (await reportOf(boss)).reconciler
  assert.ok(before.is_engine_answering && before.failures.length === 0, JSON.stringify(before))
  fault.active = true
  const owner = { userId: 900_002, slug: 'ghost', type: 'dev' }
  const { id } = await createAndStart(halfDeaf.runtime, specFor(owner, 'ghost-dev', halfDeaf.installation))
  await pollUntil(
    async () => (await reportOf(boss)).reconciler.failures.length > 0,
    () => 'no failure is reported',
  )
  const { is_engine_answering, failures, last_success, last_run } = (await reportOf(boss)).reconciler
  assert.equal(is_engine_answering, false)
  assert.match(failures.join(), /list containers: the engine does not answer/)
  assert.doesNotMatch(failures.join(), /secret/)
  const inGerman = await boss.call('GET', '/api/admin/system', { headers: { 'accept-language': 'de' } })
  assert.match(
    inGerman.body.reconciler.failures.join(),
    /ist noch nicht fertig \(list containers: die Engine antwortet/,
  )
  assert.ok(last_success < last_run)
  assert.equal(await engineState(halfDeaf, id), 'running')
  assert.equal(await engineState(halfDeaf, idOf(boss)), 'running')
  assert.ok((await numberIn(halfDeaf, 'berth_reconcile_failures_total')) > 0)
  fault.active = false
  await stateIs(id, undefined, halfDeaf)
  assert.equal(await engineState(halfDeaf, idOf(boss)), 'running')
  await pollUntil(
    async () => (await reportOf(boss)).reconciler.is_engine_answering,
    () => 'the engine is still said not to answer',
  )
  // The metrics are kept for a moment, and were read just before.
  await pollUntil(
    async () => (await numberIn(halfDeaf, 'berth_reconcile_actions_total{kind="remove"}')) >= 1,
    () => 'no removal is counted',
  )
  const success = await numberIn(halfDeaf, 'berth_reconcile_last_success_timestamp_seconds')
  assert.ok(Math.abs(Date.now() / 1_000 - success) < 60, `${success}`)
  assert.ok((await numberIn(halfDeaf, 'berth_reconcile_duration_seconds')) > 0)
  assert.equal(await numberIn(halfDeaf, 'berth_engine_up'), 1)
})

async function numberIn(from: Berth, name: string): Promise<number> {
  const line = (await from.call('GET', '/metrics')).text.split('\n').find((each) => each.startsWith(`${name} `))
  return Number(line?.slice(name.length + 1))
}

/** An engine that cannot say which containers there are. */
function listless(runtime: Runtime, fault: Fault): Runtime {
  return new Proxy(runtime, {
    get(target, name: keyof Runtime) {
      if (name === 'list' && fault.active)
        return async () => {
          throw new RuntimeError('unreachable', 'list containers', new Error('connect /var/run/secret.sock'))
        }
      return name === 'capabilities' ? target.capabilities : target[name].bind(target)
    },
  })
}
