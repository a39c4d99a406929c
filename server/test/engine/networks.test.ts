// Part of npm run test:more: where containers are put; network-isolation.test.ts states what they reach.
import assert from 'node:assert/strict'
import { totalmem } from 'node:os'
import { test, type TestContext } from 'node:test'
import { NetworkFull } from '#/engines/runtime-error.ts'
import { createDockerRuntime } from '#/engines/docker/docker-runtime.ts'
import { askEngine, engineAddress } from '../support/engine/engine.ts'
import { engineAnswering, hangingEngine, linkToEngine, ok, refusal } from '../support/engine/faulty-engines.ts'
import { testSubnet } from '../support/engine/outer-network.ts'
import { createAndStart, eventually, look, ofKind, openAt, openInstallation, read } from '../support/engine/runtimes.ts'
import { timeLimit } from '#test/support/extent.ts'

/** How containers are spread over networks: a bridge takes a thousand, an engine makes some thirty. */

interface NetworkSeen {
  readonly Id: string
  readonly Name: string
  readonly Options: Readonly<Record<string, string>>
}

const isolated = { 'com.docker.network.bridge.enable_icc': 'false' }

async function networksOf(installation: string): Promise<NetworkSeen[]> {
  const query = { filters: JSON.stringify({ label: [`berth.instance=${installation}`] }) }
  return askEngine<NetworkSeen[]>('GET', '/networks', { query })
}

/** Names of the networks that an installation's containers were made for, sorted. */
async function placesOf(installation: string): Promise<string[]> {
  const query = { all: 'true', filters: JSON.stringify({ label: [`berth.instance=${installation}`] }) }
  const found = await askEngine<{ HostConfig: { NetworkMode: string } }[]>('GET', '/containers/json', { query })
  return found.map(({ HostConfig }) => HostConfig.NetworkMode).sort()
}

/** A network that is there before Berth is. */
async function makeNetwork(t: TestContext, body: { Name: string } & Record<string, unknown>): Promise<void> {
  const IPAM = { Config: [{ Subnet: testSubnet() }] }
  await askEngine('POST', '/networks/create', { body: { Driver: 'bridge', Options: isolated, IPAM, ...body } })
  t.after(() => askEngine('DELETE', `/networks/${body.Name}`).catch(() => undefined))
}

test('with room for two on each, five containers are on three networks, every one is listed with its address, and all answer', async (t) => {
  const { installation, runtime, run } = await openInstallation(t, { maxPerNetwork: 2 })
  await runtime.prepare()
  const made = []
  for (const name of ['a', 'b', 'c', 'd', 'e']) made.push(await run(name))
  const [one, two, three] = [installation, `${installation}-2`, `${installation}-3`]
  assert.deepEqual(await placesOf(installation), [one, one, two, two, three])
  const listed = await runtime.list()
  assert.deepEqual(
    listed.map(({ id, address }) => `${id} ${address}`).sort(),
    made.map(({ id, address }) => `${id} ${address}`).sort(),
  )
  for (const each of listed) assert.equal(await read(each), 'hello\n')
})

test('of twelve that are created at the same moment no network gets more than it has room for', async (t) => {
  const { installation, runtime, spec } = await openInstallation(t, { maxPerNetwork: 4 })
  await runtime.prepare()
  await Promise.all(Array.from({ length: 12 }, (_, index) => runtime.create(spec(`crowd-${index}`))))
  const places = await placesOf(installation)
  assert.equal(places.length, 12)
  for (const [name, there] of Map.groupBy(places, (place) => place))
    assert.ok(there.length <= 4, `${name}: ${there.length}`)
})

test('a removed container frees its place, also when removed from outside, and a network is filled before the next', async (t) => {
  const { installation, runtime, spec } = await openInstallation(t, { maxPerNetwork: 2 })
  await runtime.prepare()
  const create = async (name: string) => (await runtime.create(spec(name))).id
  const [a, b] = [await create('a'), await create('b')]
  await create('c')
  await runtime.remove(a)
  await create('d')
  assert.deepEqual(await placesOf(installation), [installation, installation, `${installation}-2`])
  await askEngine('DELETE', `/containers/${b}`)
  await runtime.prepare()
  await create('e')
  assert.deepEqual(await placesOf(installation), [installation, installation, `${installation}-2`])
})

test('the next network is there before the last is full, and counts are found again by the next program', async (t) => {
  const { installation, runtime, spec } = await openInstallation(t, { maxPerNetwork: 2 })
  await runtime.prepare()
  assert.equal((await networksOf(installation)).length, 1)
  await runtime.create(spec('a'))
  await eventually(async () => assert.equal((await networksOf(installation)).length, 2))
  await runtime.create(spec('b'))
  const next = createDockerRuntime({ installation, dockerHost: engineAddress, network: installation, maxPerNetwork: 2 })
  await next.create(spec('c'))
  assert.deepEqual(await placesOf(installation), [installation, installation, `${installation}-2`])
  await next.prepare()
})

test('every bridge is called brth- and something that its network always gets', async (t) => {
  const { installation, runtime } = openAt(engineAddress, t)
  const bridge = async () =>
    (await networksOf(installation)).map(({ Options }) => Options['com.docker.network.bridge.name'])
  await runtime.prepare()
  const [first] = await bridge()
  assert.match(first ?? '', /^brth-[0-9a-f]{8}$/)
  await askEngine('DELETE', `/networks/${installation}`)
  await runtime.prepare()
  assert.deepEqual(await bridge(), [first])
})

test('a bridge whose name another network has already gets another', async (t) => {
  const { installation, runtime, spec } = await openInstallation(t)
  await runtime.prepare()
  const [found] = await networksOf(installation)
  await askEngine('DELETE', `/networks/${installation}`)
  await makeNetwork(t, { Name: `${installation}-thief`, Options: { ...isolated, ...found?.Options } })
  await runtime.prepare()
  const [other] = await networksOf(installation)
  assert.match(other?.Options['com.docker.network.bridge.name'] ?? '', /^brth-[0-9a-f]{8}$/)
  const started = await createAndStart(runtime, spec('app'))
  assert.equal(await read(started), 'hello\n')
})

test('a network of an earlier version, whose bridge has no name of ours, goes on serving', async (t) => {
  const { installation, runtime, run } = await openInstallation(t, { maxPerNetwork: 9 })
  await makeNetwork(t, { Name: installation, Labels: { 'berth.instance': installation } })
  await runtime.prepare()
  const started = await run('old')
  assert.equal(await read(started), 'hello\n')
  assert.deepEqual(await placesOf(installation), [installation])
  assert.equal((await networksOf(installation)).length, 1)
})

test("an operator's network with few addresses gets no more containers than it has addresses", async (t) => {
  const { installation, runtime, spec } = await openInstallation(t)
  await makeNetwork(t, { Name: installation })
  await runtime.prepare()
  for (let index = 0; index < 14; index++) await runtime.create(spec(`small-${index}`))
  assert.deepEqual(await placesOf(installation), [...Array<string>(13).fill(installation), `${installation}-2`])
})

test("another installation's network is never used, whatever its name", async (t) => {
  const { installation, runtime, spec } = await openInstallation(t, { maxPerNetwork: 1 })
  await makeNetwork(t, { Name: `${installation}-2`, Labels: { 'berth.instance': `${installation}-2` } })
  await runtime.prepare()
  await runtime.create(spec('a'))
  await runtime.create(spec('b'))
  assert.deepEqual(await placesOf(installation), [installation, `${installation}-3`])
})

test('a second network that was pruned is made again when a container of it is started', async (t) => {
  const { installation, runtime, spec } = await openInstallation(t, { maxPerNetwork: 1 })
  await runtime.prepare()
  await runtime.create(spec('a'))
  const { id } = await runtime.create(spec('b'))
  assert.deepEqual(await placesOf(installation), [installation, `${installation}-2`])
  await askEngine('DELETE', `/networks/${installation}-2`)
  await runtime.start(id)
  assert.equal(await read(await look(runtime, id)), 'hello\n')
})

test('when the engine has no addresses for another network, what fits is launched, then it is full, and says so', async (t) => {
  for (const words of [
    'could not find an available, non-overlapping IPv4 address pool among the defaults to assign to the network',
    'all predefined address pools have been fully subnetted',
  ]) {
    const { installation, runtime, spec } = await openInstallation(t)
    await runtime.prepare()
    const address = await engineAnswering(t, /^POST \S+networks\/create/, refusal(404, words))
    const exhausted = createDockerRuntime({
      installation,
      dockerHost: address,
      network: installation,
      maxPerNetwork: 2,
    })
    await exhausted.create(spec('a'))
    const { id } = await exhausted.create(spec('b'))
    await assert.rejects(
      exhausted.create(spec('c')),
      (error) => ofKind('full')(error) && /no address is left.*plan-capacity\.md/.test(String(error)),
    )
    await exhausted.prepare()
    assert.equal(await runtime.inspect(`${installation}-c`), undefined)
    await exhausted.remove(id)
    await exhausted.create(spec('c'))
  }
})

test('without addresses for even the first network, making ready says that it is full', async (t) => {
  const words = refusal(404, 'could not find an available, non-overlapping IPv4 address pool among the defaults')
  const { runtime } = openAt(await engineAnswering(t, /^POST \S+networks\/create/, words), t)
  await assert.rejects(runtime.prepare(), ofKind('full'))
})

test('a bridge without a free port, and a network without a free address, is full, which is no failure', async (t) => {
  const { installation, runtime, spec } = await openInstallation(t)
  await runtime.prepare()
  const { id } = await runtime.create(spec('late'))
  for (const words of [
    'adding interface vethd653871 to bridge brth-0a1b2c3d failed: exchange full',
    `no available IPv4 addresses on this network's address pools: ${installation}`,
  ]) {
    const address = await engineAnswering(t, /^POST \S+\/start/, refusal(500, words))
    const distant = createDockerRuntime({ installation, dockerHost: address, network: installation })
    await assert.rejects(distant.start(id), NetworkFull)
  }
})

test('what the host has left is reported: addresses, cores, runtimes, memory and disk, and why there are no rules', async (t) => {
  const { installation } = await openInstallation(t)
  await makeNetwork(t, { Name: installation })
  const [network] = await askEngine<{ IPAM: { Config: { Subnet: string }[] } }[]>('GET', '/networks', {
    query: { filters: JSON.stringify({ name: [installation] }) },
  })
  const info = {
    NCPU: 3,
    Runtimes: { runc: {}, runsc: {} },
    DockerRootDir: '/',
    // Of both parts one is taken, by the network that is there.
    DefaultAddressPools: [{ Base: network?.IPAM.Config[0]?.Subnet.replace('/28', '/27'), Size: 28 }],
  }
  const address = await engineAnswering(t, /^GET \S*\/info/, ok(JSON.stringify(info)))
  const runtime = createDockerRuntime({ installation, dockerHost: address, network: installation, maxPerNetwork: 8 })
  assert.equal((await runtime.host()).addressesLeft, null)
  await runtime.prepare()
  const { memory, disk, ...report } = await runtime.host()
  assert.deepEqual(report, {
    cores: 3,
    ociRuntimes: ['runc', 'runsc'],
    hasGpus: false,
    isThisMachine: report.isThisMachine,
    supportsHomeQuota: report.supportsHomeQuota,
    supportsLayerLimit: report.supportsLayerLimit,
    addressesLeft: 16,
    rulesAre: 'host rules',
    rules: { areSet: false, reason: 'HOST_RULES is off' },
  })
  assert.ok(memory && memory.available > 0 && memory.available < memory.total)
  assert.equal(memory.total, totalmem())
  assert.ok(disk && disk.free > 0 && disk.free < disk.total)
})

test('a launch asks the engine to create and to start; counting networks asks nothing', async (t) => {
  const { installation, spec } = await openInstallation(t)
  const line = await linkToEngine(t)
  const runtime = createDockerRuntime({ installation, dockerHost: line.address, network: installation })
  await runtime.prepare()
  // The first one puts the container tool into its volume.
  await runtime.start((await runtime.create(spec('first'))).id)
  const before = line.questions.length
  for (const name of ['a', 'b']) await runtime.start((await runtime.create(spec(name))).id)
  const asked = line.questions.slice(before).map((each) => each.replace(/[0-9a-f]{64}|\?.*/g, ''))
  const launch = ['POST /containers/create', 'POST /containers//start']
  assert.deepEqual(asked, [...launch, ...launch])
})

test('after a restart a list that never comes keeps no container from being made', async (t) => {
  // Formerly nothing was known of the networks before the engine had counted its containers, and every creation failed.
  const { installation, runtime, spec } = await openInstallation(t)
  await runtime.prepare()
  const hanging = await hangingEngine(t)
  hanging.hang(/\/containers\/json/)
  const next = createDockerRuntime({ installation, dockerHost: hanging.address, network: installation })
  await next.prepare()
  const began = performance.now()
  const { id } = await next.create(spec('meanwhile'))
  assert.ok(performance.now() - began < timeLimit(4_000))
  assert.ok(await runtime.inspectId(id))
})
