import assert from 'node:assert/strict'
import { once } from 'node:events'
import { lstatSync, mkdirSync } from 'node:fs'
import { createConnection } from 'node:net'
import path from 'node:path'
import { suite, test, after } from 'node:test'
import { createDockerRuntime } from '#/engines/docker/docker-runtime.ts'
import { askEngine, testImage } from '#test/support/engine/engine.ts'
import { createAndStart, eventually, openInstallation, plainSpec } from '#test/support/engine/runtimes.ts'
import { timeLimit, waitLimit } from '#test/support/extent.ts'
import { containerBody, startBroker } from './broker-rig.ts'

/** Ways by which an API that was taken over has got past the broker once, against a real engine. */
suite('an API that was taken over', async () => {
  const broker = await startBroker(
    { after },
    {
      allow: (root) => `writable=${root}/write,writable=${root}/homes/*`,
    },
  )
  const { installation, address, ask, root, socket } = broker
  const runtime = createDockerRuntime({ installation, dockerHost: address, network: installation })
  await runtime.prepare()
  const image = await testImage()
  const labels = { 'berth.instance': installation }
  const body = (hostConfig: object = {}, rest: object = {}) => containerBody(installation, image, hostConfig, rest)
  const create = (made: unknown, name = `${installation}-eve`) =>
    ask('POST', `/v1.41/containers/create?name=${name}`, made)
  const helper = (more: object) => ({
    Image: 'berth-helper:empty',
    Cmd: ['never-started'],
    Labels: { 'berth.helper': installation, ...more },
    HostConfig: {
      NetworkMode: 'none',
      CapDrop: ['ALL'],
      Mounts: [{ Type: 'volume', Source: `${installation}-home`, Target: '/home' }],
    },
  })
  const network = (name: string) => ({
    Name: name,
    CheckDuplicate: true,
    Driver: 'bridge',
    Options: {
      'com.docker.network.bridge.enable_icc': 'false',
      'com.docker.network.bridge.name': 'brth-00000001',
    },
    Labels: labels,
  })

  test('cannot put a link in place of a folder of the host that another container mounts', async () => {
    const folder = path.join(root, 'write', 'below')
    mkdirSync(folder, { recursive: true })
    mkdirSync(path.join(root, 'read'))
    const home = path.join(root, 'homes', 'ann')
    mkdirSync(path.join(home, 'below'), { recursive: true })
    const mount = (Source: string, ReadOnly: boolean) =>
      body({
        Mounts: [{ Type: 'bind', Source, Target: '/x', ReadOnly, BindOptions: { Propagation: 'rprivate' } }],
      })
    const refusals = [
      [mount(root, false), /writable=/],
      [mount(path.join(root, 'read'), false), /writable=/],
      [mount(folder, true), /is below .*\/write/],
      [mount(folder, false), /is below .*\/write/],
      [mount(path.join(home, 'below'), true), /is below .*\/homes\/\*/],
      [mount(path.join(root, 'homes'), false), /writable=/],
    ] as const
    for (const [made, why] of refusals) {
      const { status, text } = await create(made)
      assert.equal(status, 403, text)
      assert.match(text, why)
    }
    const allowed = [path.join(root, 'write'), home].map((each) => mount(each, false))
    for (const made of [mount(path.join(root, 'read'), true), ...allowed]) {
      assert.equal((await create(made)).status, 201, 'what the operator allows')
      assert.equal((await ask('DELETE', `/v1.41/containers/${installation}-eve`)).status, 204)
    }
    assert.ok(lstatSync(folder).isDirectory())
  })

  test('cannot name a network by the beginning of another’s id, to be put on that when its own is gone', async (t) => {
    const other = await openInstallation(t)
    await other.runtime.prepare()
    const { Id } = await askEngine<{ Id: string }>('GET', `/networks/${other.installation}`)
    for (const name of [Id.slice(0, 12), `${other.installation}-2`, `${installation}-x`]) {
      const { status, text } = await ask('POST', '/v1.41/networks/create', network(name))
      assert.equal(status, 403, `${name}: ${text}`)
      assert.match(text, /gives no network the name/)
    }
  })

  test('cannot put a container on a network by the beginning of an id', async () => {
    const { Id } = await askEngine<{ Id: string }>('GET', `/networks/${installation}`)
    for (const NetworkMode of [Id, Id.slice(0, 12)]) {
      const made = body({ NetworkMode }, { NetworkingConfig: { EndpointsConfig: {} } })
      assert.match((await create(made)).text, /gives no network the name/)
    }
  })

  test('cannot take up memory with bodies that never end', async () => {
    const head = 'POST /v1.41/volumes/create HTTP/1.1\r\nHost: docker\r\nContent-Length: 1048576\r\n\r\n'
    const slow = createConnection(socket).on('error', () => undefined)
    slow.resume().write(`${head}{`)
    await once(slow, 'close', { signal: AbortSignal.timeout(waitLimit(5_000)) })
    const many = Array.from({ length: 4 }, () => createConnection(socket).on('error', () => undefined))
    const answers = many.map((each) => once(each, 'data', { signal: AbortSignal.timeout(waitLimit(5_000)) }))
    for (const each of many) each.write(`${head}{${' '.repeat(1_000_000)}`)
    assert.match(String((await Promise.any(answers))[0]), /^HTTP\/1.1 403/)
    for (const each of many) each.destroy()
  })

  test('cannot keep others waiting by bodies with as many values as fit into them', async () => {
    const many = [
      Array(300_000).fill(''),
      Array.from({ length: 300_000 }, () => ({})),
      Object.fromEntries(Array(60_000).fill(0).entries()),
    ]
    const bodies = many.flatMap((each) => [body({}, { Env: each }), body({ Mounts: each }), body({}, { Labels: each })])
    const waitBehind = async (each: unknown) => {
      const refused = create(each)
      const start = performance.now()
      await ask('GET', '/v1.41/_ping')
      const waited = performance.now() - start
      assert.match((await refused).text, /more than 8192 values/)
      return waited
    }
    for (const each of bodies) {
      // Other work on the machine keeps one of them waiting, too.
      const waits = [await waitBehind(each), await waitBehind(each), await waitBehind(each)]
      assert.ok(Math.min(...waits) < timeLimit(200), `${waits.join(', ')} ms`)
    }
  })

  test('cannot take names that other programs on the host will use', async () => {
    assert.match((await create(body(), 'postgres')).text, /gives no container the name postgres/)
    assert.match((await create(body(), '')).text, /gives no container the name/)
    const volume = await ask('POST', '/v1.41/volumes/create', { Name: 'shop_db-data', Labels: labels })
    assert.match(volume.text, /gives no volume the name shop_db-data/)
    const mounts = {
      Mounts: [{ Type: 'volume', Source: 'shop_db-data', Target: '/x', VolumeOptions: { Labels: labels } }],
    }
    assert.match((await create(body(mounts))).text, /volume=shop_db-data/)
  })

  test('cannot give labels that other programs on the host act on', async () => {
    const foreign = [
      { 'traefik.enable': 'true' },
      { 'com.docker.compose.project': 'shop' },
      { 'berth.helper.pid': '1' },
      { 'a\nb': 'c' },
    ]
    for (const each of foreign)
      assert.equal((await create(body({}, { Labels: { ...labels, ...each } }))).status, 403, JSON.stringify(each))
  })

  test('cannot run a helper, or put it among the containers of another installation', async () => {
    const volume = { Name: `${installation}-home`, Labels: labels }
    assert.equal((await ask('POST', '/v1.41/volumes/create', volume)).status, 201)
    const name = `berth-helper-${'0'.repeat(16)}`
    for (const each of [installation, 'test-00000000x'])
      assert.equal((await create(helper({ 'berth.instance': each }), name)).status, 403)
  })

  test('cannot put files into the image of helpers, which other installations use', async () => {
    const image = () => askEngine<{ Id: string; Size: number }>('GET', '/images/berth-helper:empty/json')
    const before = await image().catch(() => undefined)
    const target = '/v1.41/images/create?fromSrc=-&repo=berth-helper&tag=empty'
    const { status } = await ask('POST', target, 'x'.repeat(2048))
    assert.equal(status, 200)
    const { Id, Size } = await image()
    assert.equal(Size, 0)
    // It was made anew, so that the one before has no name any more; one that a helper of another test has stays.
    if (before && before.Id !== Id) await askEngine('DELETE', `/images/${before.Id}`).catch(() => undefined)
  })

  test('is not shown containers and volumes of others in lists of networks and of sizes', async (t) => {
    const other = await openInstallation(t)
    await other.runtime.prepare()
    const volume = `${other.installation}-home-1-ann-dev`
    const { id } = await other.run('theirs', { home: { volume, path: '/home/berth', size: null } })
    assert.equal((await ask('GET', '/v1.24/networks')).status, 403)
    const networks = await ask('GET', '/v1.41/networks')
    assert.match(networks.text, new RegExp(other.installation))
    assert.doesNotMatch(networks.text, new RegExp(id))
    const own = { Name: `${installation}-mine`, Labels: labels }
    assert.equal((await ask('POST', '/v1.41/volumes/create', own)).status, 201)
    await eventually(async () => {
      const { status, text } = await ask('GET', '/v1.41/system/df?type=volume')
      assert.equal(status, 200)
      assert.match(text, /-mine"/)
      assert.doesNotMatch(text, new RegExp(`${id}|${volume}`))
    })
  })

  test('cannot read what another program’s volume is by making it again', async (t) => {
    const Name = `${installation}-foreign`
    await askEngine('POST', '/volumes/create', { body: { Name, Labels: { note: 'theirs' } } })
    t.after(() => askEngine('DELETE', `/volumes/${Name}`))
    const { status, text } = await ask('POST', '/v1.41/volumes/create', { Name, Labels: labels })
    assert.equal(status, 403)
    assert.doesNotMatch(text, /theirs/)
  })

  test('cannot have many requests in progress on one connection, each with a connection to the engine', async () => {
    const filters = encodeURIComponent(JSON.stringify({ label: [`berth.instance=${installation}`] }))
    const connection = createConnection(socket)
      .on('error', () => undefined)
      .resume()
    connection.write(`GET /v1.41/events?filters=${filters} HTTP/1.1\r\nHost: docker\r\n\r\n`.repeat(3))
    await once(connection, 'close', { signal: AbortSignal.timeout(waitLimit(5_000)) })
  })

  test('does not keep a connection to the engine by leaving while its request is checked', async () => {
    const { id } = await createAndStart(runtime, { ...plainSpec, name: `${installation}-ann-dev`, image })
    const sockets = () => process.getActiveResourcesInfo().filter((each) => each === 'PipeWrap').length
    const before = sockets()
    for (let count = 0; count < 100; count++) {
      const connection = createConnection(socket)
      await once(connection, 'connect')
      connection.write(`GET /v1.41/containers/${id}/logs?stdout=1&follow=1 HTTP/1.1\r\nHost: docker\r\n\r\n`)
      setTimeout(() => connection.destroy(), 1)
    }
    await eventually(() => assert.ok(sockets() < before + 10, `${sockets()} connections are left`))
  })

  test('cannot fill the log with one request', async () => {
    const { length } = broker.lines
    await create(body({ CapAdd: ['X'.repeat(100_000)] }))
    assert.equal(broker.lines.length, length + 1)
    assert.ok((broker.lines.at(-1) ?? '').length < 2_000)
  })
})
