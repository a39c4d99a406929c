import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { packTar } from 'modern-tar'
import { createDockerRuntime } from '#/engines/docker/docker-runtime.ts'
import { ownImageName } from '#/engines/image-builds.ts'
import { engineAnswering } from '#test/support/engine/faulty-engines.ts'
import { startImageRegistry } from '#test/support/engine/image-registry.ts'
import { askEngine, testImage } from '#test/support/engine/engine.ts'
import { startBroker, type BrokerRig } from './broker-rig.ts'

/** Builds of images through the broker: only where the operator allows them, in networks and with names of ours. */
const base = await testImage()

const limits = { memory: 64 * 1024 ** 2, cpus: 0.5, timeout: 60_000, maxSize: 1024 ** 3 }
async function buildThrough({ installation, address }: BrokerRig) {
  const runtime = createDockerRuntime({ installation, dockerHost: address, network: installation })
  await runtime.prepare()
  const builds = runtime.imageBuilds()
  assert.ok(builds)
  const labels = Object.entries(builds.labelsFor('1-1')).map(([name, value]) => `${name}="${value}"`)
  const body = `FROM ${base}\nLABEL ${labels.join(' ')}\nRUN echo hello\n`
  const archive = await packTar([{ header: { name: 'Dockerfile', size: body.length }, body }])
  const context = (async function* () {
    yield archive
  })()
  const name = ownImageName(installation, 'course', 1)
  let output = ''
  const build = { id: '1-1', name, context, dockerfile: 'Dockerfile', limits }
  const built = await builds.build(build, (text) => (output += text), AbortSignal.timeout(60_000))
  return { built, builds, output, name }
}

test('an image is built and removed through it where the operator allows builds', async () => {
  const broker = await startBroker({ after }, { allow: () => 'builds' })
  const { built, builds, output, name } = await buildThrough(broker)
  assert.match(output, /^hello$/m)
  assert.equal((await builds.find(name))?.id, built.id)
  await builds.sweep(async () => new Set())
  assert.equal(await builds.find(name), undefined)
  assert.ok(await builds.find(base))
  const networks = await askEngine<{ Name: string }[]>('GET', '/networks')
  assert.deepEqual(
    networks.filter(({ Name }) => Name.startsWith(`${broker.installation}-build-`)),
    [],
  )
  assert.deepEqual(broker.lines, [])
})

test('without that no build begins', async () => {
  const broker = await startBroker({ after })
  await assert.rejects(buildThrough(broker))
  const { status, text } = await broker.ask('POST', '/v1.41/build?version=1', '')
  assert.equal(status, 403)
  assert.match(text, /BROKER_ALLOW does not have \(builds\)/)
})

test('other networks, names, builders and limits are refused, and so is the removal of images of others', async () => {
  const broker = await startBroker({ after }, { allow: () => 'builds' })
  const { installation, ask } = broker
  const runtime = createDockerRuntime({ installation, dockerHost: broker.address, network: installation })
  await runtime.prepare()
  const network = `${installation}-build-1-1`
  const made = (name: string) => ({
    Name: name,
    CheckDuplicate: true,
    Driver: 'bridge',
    Options: {
      'com.docker.network.bridge.enable_icc': 'false',
      'com.docker.network.bridge.name': `brth-${installation.slice(5, 13)}`,
    },
    Labels: { 'berth.instance': installation },
  })
  for (const name of [`${installation}-build-1`, `${installation}-build-1-x`])
    assert.equal((await ask('POST', '/v1.41/networks/create', made(name))).status, 403, name)
  assert.equal((await ask('POST', '/v1.41/networks/create', made(network))).status, 201)
  const usual: Record<string, string> = {
    version: '1',
    t: ownImageName(installation, 'course', 1),
    rm: 'true',
    forcerm: 'true',
    nocache: 'true',
    networkmode: network,
    memory: '67108864',
    memswap: '67108864',
    cpuperiod: '100000',
    cpuquota: '50000',
  }
  const changes: Record<string, string | undefined>[] = [
    { version: '2' },
    { version: undefined },
    { t: base },
    { t: ownImageName('other', 'course', 1) },
    { networkmode: 'host' },
    { networkmode: 'bridge' },
    // Its steps have more rights than containers of users, which are on this one.
    { networkmode: installation },
    { networkmode: `${installation}-build-1-2` },
    { networkmode: `container:${installation}-ann-dev` },
    { networkmode: undefined },
    { memory: '0', memswap: '0' },
    { memory: String(2 ** 50), memswap: String(2 ** 50) },
    { memswap: '-1' },
    { cpuquota: '-1' },
    { rm: 'false' },
    { remote: 'http://169.254.169.254/' },
    { extrahosts: 'x:1' },
    { cachefrom: '["secret"]' },
    { buildargs: '{}' },
  ]
  for (const change of changes) {
    const all = Object.entries({ ...usual, ...change }).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as [string, string]],
    )
    const reply = await ask('POST', `/v1.41/build?${new URLSearchParams(all).toString()}`, '')
    assert.equal(reply.status, 403, `${JSON.stringify(change)}: ${reply.text}`)
  }
  assert.equal((await ask('DELETE', `/v1.41/images/${encodeURIComponent(base)}`)).status, 404)
  assert.equal((await ask('DELETE', `/v1.41/images/${encodeURIComponent(base)}?force=true`)).status, 403)
  assert.equal((await ask('GET', '/v1.41/images/json?filters=%7B%7D')).status, 403)
  assert.equal((await ask('GET', '/v1.41/images/json')).text, '[]')
  await askEngine('GET', `/images/${base}/json`)
})

test('of images of others those are removed that were pulled through it, when no container has them', async () => {
  const { host } = await startImageRegistry({ after }, ['own', 'before'])
  const imageOf = (tag: string) => `${host}/course:${tag}`
  after(async () => {
    for (const tag of ['own', 'before']) await askEngine('DELETE', `/images/${imageOf(tag)}`).catch(() => undefined)
  })
  const broker = await startBroker({ after })
  const { installation } = broker
  const runtime = createDockerRuntime({ installation, dockerHost: broker.address, network: installation })
  const images = runtime.imageStore()
  assert.ok(images)
  // The engine had this one.
  await askEngine('POST', '/images/create', { query: { fromImage: `${host}/course`, tag: 'before' } })
  for (const tag of ['own', 'before']) {
    const { status } = await broker.ask('POST', `/v1.41/images/create?fromImage=${encodeURIComponent(imageOf(tag))}`)
    assert.equal(status, 200)
  }
  // Of the images of the host those are told of that were pulled through it, and nothing but their names and sizes.
  const sizes = () => images.sizesOf(['own', 'before'].map(imageOf))
  assert.deepEqual([...(await sizes()).keys()], [imageOf('own')])
  assert.ok(((await sizes()).get(imageOf('own')) ?? 0) > 500_000)
  const [listed, ...others] = JSON.parse((await broker.ask('GET', '/v1.41/images/json')).text)
  assert.deepEqual([others, Object.keys(listed)], [[], ['RepoTags', 'RepoDigests', 'Size']])
  assert.equal(await images.remove(imageOf('before')), false)
  const { Id: id } = await askEngine<{ Id: string }>('POST', '/containers/create', { body: { Image: imageOf('own') } })
  try {
    assert.equal(await images.remove(imageOf('own')), false)
    // An API that was taken over does not look before.
    const path = `/v1.41/images/${imageOf('own').replaceAll(':', '%3A')}`
    assert.equal((await broker.ask('DELETE', path)).status, 403)
    const filters = encodeURIComponent(JSON.stringify({ ancestor: [await runtime.imageId(imageOf('own'))] }))
    const told = await broker.ask('GET', `/v1.41/containers/json?all=true&filters=${filters}`)
    assert.deepEqual(Object.keys(JSON.parse(told.text)[0]), ['ImageID'])
  } finally {
    await askEngine('DELETE', `/containers/${id}`, { query: { force: 'true' } })
  }
  assert.equal(await images.remove(imageOf('own')), true)
  assert.equal((await sizes()).size, 0)
  await askEngine('GET', `/images/${imageOf('before')}/json`)
})

test('an image that the engine does not let go at this moment is removed at the next attempt', async () => {
  const { host } = await startImageRegistry({ after }, ['busy'])
  const image = `${host}/course:busy`
  const [fault, words] = [{ isBusy: true }, '{"message":"conflict: the image is used"}']
  const engine = await engineAnswering(
    { after },
    { test: (line) => fault.isBusy && /^DELETE \S*\/images\//.test(line) },
    `HTTP/1.1 409 Conflict\r\nContent-Type: application/json\r\nContent-Length: ${words.length}\r\n\r\n${words}`,
  )
  const { installation, address, ask } = await startBroker({ after }, { engine })
  after(() => askEngine('DELETE', `/images/${image}`).catch(() => undefined))
  const images = createDockerRuntime({ installation, dockerHost: address, network: installation }).imageStore()
  assert.ok(images)
  assert.equal((await ask('POST', `/v1.41/images/create?fromImage=${encodeURIComponent(image)}`)).status, 200)
  assert.equal(await images.remove(image), false)
  fault.isBusy = false
  assert.equal(await images.remove(image), true)
  assert.equal((await images.sizesOf([image])).size, 0)
  // Whichever program pulls it from now on keeps it.
  await askEngine('POST', '/images/create', { query: { fromImage: image } })
  assert.equal(await images.remove(image), false)
})

test('an image whose pull failed is not its own, whichever program pulls it later', async () => {
  const { host } = await startImageRegistry({ after }, ['late'])
  const image = `${host}/course:late`
  const [fault, words] = [{ isAway: true }, '{"message":"manifest unknown"}']
  const engine = await engineAnswering(
    { after },
    { test: (line) => fault.isAway && /^POST \S*\/images\/create/.test(line) },
    `HTTP/1.1 404 Not Found\r\nContent-Type: application/json\r\nContent-Length: ${words.length}\r\n\r\n${words}`,
  )
  const { installation, address, ask } = await startBroker({ after }, { engine })
  after(() => askEngine('DELETE', `/images/${image}`).catch(() => undefined))
  const images = createDockerRuntime({ installation, dockerHost: address, network: installation }).imageStore()
  assert.ok(images)
  const pull = () => ask('POST', `/v1.41/images/create?fromImage=${encodeURIComponent(image)}`)
  assert.deepEqual(await pull(), { status: 404, text: words })
  await askEngine('POST', '/images/create', { query: { fromImage: image } })
  assert.equal(await images.remove(image), false)
  await askEngine('DELETE', `/images/${image}`)
  fault.isAway = false
  assert.equal((await pull()).status, 200)
  assert.equal(await images.remove(image), true)
})
