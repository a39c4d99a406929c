import assert from 'node:assert/strict'
import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { totalmem } from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { suite, test, after } from 'node:test'
import { packTar, unpackTar } from 'modern-tar'
import { createDockerRuntime, dockerHomeArchive } from '#/engines/docker/docker-runtime.ts'
import { startRegistry } from '#test/support/engine/registry.ts'
import { askEngine, testImage } from '#test/support/engine/engine.ts'
import { createAndStart, eventually, look, openInstallation, plainSpec, read } from '#test/support/engine/runtimes.ts'
import { containerBody, startBroker, upgradeStatus } from './broker-rig.ts'

/** The broker between Berth and a real engine: all that Berth does works, and nothing else does. */
suite('broker of the socket of the engine', async () => {
  const broker = await startBroker({ after }, { allow: () => 'capability=SYS_PTRACE' })
  const { installation, address, ask, lines, root } = broker
  const runtime = createDockerRuntime({ installation, dockerHost: address, network: installation })
  await runtime.prepare()
  const image = await testImage()
  const home = { volume: `${installation}-home-1-ann-dev`, path: '/home/berth', size: null }
  const spec = { ...plainSpec, name: `${installation}-ann-dev`, image, home }

  const body = (hostConfig: object = {}, rest: object = {}) => containerBody(installation, image, hostConfig, rest)
  const create = (made: unknown) => ask('POST', `/v1.41/containers/create?name=${installation}-eve`, made)

  test('a container is made, started, read, paused, stopped and removed through it, and its home archived', async () => {
    const started = await createAndStart(runtime, spec)
    assert.equal(await read(started), 'hello\n')
    assert.deepEqual(
      (await runtime.list()).map(({ id }) => id),
      [started.id],
    )
    await runtime.pause(started.id)
    assert.equal((await look(runtime, started.id)).state, 'paused')
    await runtime.start(started.id)
    assert.ok((await runtime.usage(started.id)) !== undefined)
    await runtime.logs(started.id, 10)
    await runtime.stop(started.id)
    const archive = dockerHomeArchive(installation, address)
    assert.deepEqual(
      (await archive.homes()).map(({ volume }) => volume),
      [home.volume],
    )
    let bytes = 0
    for await (const chunk of archive.read(home.volume, AbortSignal.timeout(10_000))) bytes += chunk.length
    assert.ok(bytes >= 1024)
    await runtime.remove(started.id)
    await runtime.removeHome(home.volume)
    assert.equal(await runtime.inspectId(started.id), undefined)
    assert.deepEqual(lines, [])
  })

  test('a folder of the host is mounted through it, and compared before and after the start', async (t) => {
    const folder = path.join(root, 'data')
    mkdirSync(folder)
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    const mounts = [{ source: { path: folder }, target: '/data', readOnly: true }]
    const { id } = await runtime.create({ ...spec, name: `${installation}-mount`, home: null, mounts })
    t.after(() => runtime.remove(id))
    renameSync(folder, `${folder}-too`)
    symlinkSync(`${folder}-too`, folder)
    await assert.rejects(runtime.start(id), /leads to \S+-too by now/)
    rmSync(folder)
    renameSync(`${folder}-too`, folder)
    await runtime.start(id)
    assert.equal((await look(runtime, id)).state, 'running')
    assert.deepEqual(lines, [])
  })

  test('an image is pulled through it, and the time of that is known', async (t) => {
    const { image: missing } = await startRegistry(t)
    const created = await runtime.create({ ...spec, name: `${installation}-pulled`, home: null, image: missing })
    await runtime.remove(created.id)
    assert.ok(((await runtime.imageInfo(missing))?.taggedAt ?? 0) > new Date(Date.now() - 60_000))
  })

  test('homes are read, written and put right through it, as snapshots and uploads do', async () => {
    const started = await createAndStart(runtime, spec)
    await runtime.stop(started.id)
    const contents = runtime.homeContents()
    assert.ok(contents)
    const signal = AbortSignal.timeout(30_000)
    const names = async () =>
      (await unpackTar(await buffer(contents.read(home.volume, signal)))).map(({ header }) => header.name)
    const before = await names()
    const archive = await packTar([
      { header: { name: 'restored/', size: 0, type: 'directory' } },
      { header: { name: 'restored/a', size: 1, type: 'file' }, body: 'a' },
    ])
    await contents.add(home.volume, Readable.from([archive]), signal)
    assert.deepEqual((await names()).filter((name) => !before.includes(name)).length, 2)
    await contents.discard(home.volume, 'restored', signal)
    assert.deepEqual(
      (await names()).filter((name) => !before.includes(name)),
      ['./restored'],
    )
    await runtime.remove(started.id)
    await runtime.removeHome(home.volume)
    assert.deepEqual(lines, [])
  })

  test('a program is run in a container of a user through it, with its input, its output and its code', async () => {
    const { id } = await createAndStart(runtime, { ...spec, home: null })
    const command = ['/bin/sh', '-c', 'tr a-z A-Z; echo sorry >&2; exit 3'] as const
    const { stream, ended } = await runtime.exec(id, command, AbortSignal.timeout(30_000))
    stream.end('x'.repeat(1_000_000))
    assert.equal((await buffer(stream)).toString(), 'X'.repeat(1_000_000))
    assert.deepEqual(await ended, { code: 3, errors: 'sorry\n' })
    await runtime.remove(id)
    await assert.rejects(runtime.exec(id, command, AbortSignal.timeout(30_000)), /exec/)
    assert.deepEqual(lines, [])
  })

  test('an event of the engine reaches Berth through it, and ends with its watcher', async () => {
    const [away, heard] = [new AbortController(), [] as string[]]
    runtime.watch(({ id: of }) => void heard.push(of ?? ''), away.signal)
    const { id } = await createAndStart(runtime, { ...spec, home: null })
    await eventually(async () => {
      if (!heard.includes(id)) {
        await runtime.stop(id)
        await runtime.start(id)
      }
      assert.ok(heard.includes(id))
    })
    away.abort()
    await runtime.remove(id)
  })

  test('what weakens a container is refused by its name, and nothing is made', async () => {
    const link = path.join(root, 'link')
    symlinkSync('/etc', link)
    const bind = (source: string, options: object = {}) => ({
      Mounts: [
        {
          Type: 'bind',
          Source: source,
          Target: '/x',
          ReadOnly: false,
          BindOptions: { Propagation: 'rprivate' },
          ...options,
        },
      ],
    })
    const volume = (options: object) => ({
      Mounts: [{ Type: 'volume', Source: `${installation}-x`, Target: '/x', VolumeOptions: options }],
    })
    const labels = { 'berth.instance': installation }
    const attacks: [string, unknown, RegExp][] = [
      ['privileged', body({ Privileged: true }), /Privileged/],
      [
        'a key in another case',
        { ...body(), hostconfig: { Privileged: true } },
        /hostconfig is no key that Berth sends/,
      ],
      ['a key of the host config in another case', body({ privileged: true }), /HostConfig\/privileged is no key/],
      ['process ids of the host', body({ PidMode: 'host' }), /HostConfig/],
      ['the network of the host', body({ NetworkMode: 'host' }, { NetworkingConfig: { EndpointsConfig: {} } }), /host/],
      ['the network of another container', body({ NetworkMode: 'container:abc' }), /NetworkMode/],
      [
        'a second network',
        body({}, { NetworkingConfig: { EndpointsConfig: { [installation]: {}, bridge: {} } } }),
        /bridge/,
      ],
      [
        'an address of its own',
        body({}, { NetworkingConfig: { EndpointsConfig: { [installation]: { Aliases: ['api'] } } } }),
        /no key/,
      ],
      ['a capability', body({ CapAdd: ['SYS_ADMIN'] }), /capability=SYS_ADMIN/],
      [
        'a device',
        body({ Devices: [{ PathOnHost: '/dev/sda', PathInContainer: '/dev/sda', CgroupPermissions: 'rwm' }] }),
        /device=/,
      ],
      ['all GPUs', body({ DeviceRequests: [{ Count: 1, Capabilities: [['gpu']] }] }), /gpus/],
      ['a GPU by its id', body({ DeviceRequests: [{ DeviceIDs: ['1'], Capabilities: [['gpu']] }] }), /gpu=1/],
      ['another runtime', body({ Runtime: 'evil' }), /runtime=evil/],
      ['an old kind of mount', body({ Binds: ['/:/host'] }), /HostConfig/],
      ['the root of the host', body(bind('/')), /not below ALLOWED_MOUNT_ROOTS/],
      ['a folder beside a root', body(bind(`${root}/../..`)), /not below ALLOWED_MOUNT_ROOTS/],
      ['a link below a root', body(bind(link)), /not below ALLOWED_MOUNT_ROOTS/],
      [
        'mounts of the host that come later',
        body(bind(root, { BindOptions: { Propagation: 'rshared' } })),
        /Propagation|Mounts/,
      ],
      [
        'a volume that is a folder of the host',
        body(
          volume({
            Labels: labels,
            DriverConfig: { Name: 'local', Options: { type: 'none', o: 'bind', device: '/' } },
          }),
        ),
        /Options|Mounts/,
      ],
      [
        'a volume of another program',
        body({ Mounts: [{ Type: 'volume', Source: 'postgres-data', Target: '/x' }] }),
        /volume=postgres-data/,
      ],
      ['a profile of its own', body({ SecurityOpt: ['seccomp=unconfined'] }), /SecurityOpt/],
      ['no limit of memory', body({ Memory: 0 }), /Memory/],
      [
        'more memory than the host has',
        body({ Memory: totalmem() * 2, MemorySwap: totalmem() * 2 }),
        /bytes of memory, and the host/,
      ],
      [
        'a bound writable layer with another option',
        body({ StorageOpt: { size: '1', 'overlay2.override_kernel_check': '1' } }),
        /StorageOpt/,
      ],
      ['a writable layer that is bound to no number', body({ StorageOpt: { size: '10G' } }), /StorageOpt/],
      ['swap', body({ MemorySwap: 134217728 }), /asks for swap/],
      ['a larger share of the processors than other programs have', body({ CpuShares: 262144 }), /CpuShares/],
      ['to be killed after the platform', body({ OomScoreAdj: 0 }), /OomScoreAdj/],
      ['an environment of 340,000 variables', body({}, { Env: Array(340_000).fill('') }), /more than 8192 values/],
      ['the namespace of users of the host', body({ UsernsMode: 'host' }), /HostConfig/],
      ['a cgroup of its own', body({ CgroupParent: '/' }), /HostConfig/],
      ['kernel settings', body({ Sysctls: { 'kernel.shmmax': '1' } }), /HostConfig/],
      ['a restart without Berth', body({ RestartPolicy: { Name: 'always' } }), /RestartPolicy/],
      ['a published port', body({ PortBindings: { '80/tcp': [{ HostPort: '80' }] } }), /HostConfig/],
      ['another installation', body({}, { Labels: { 'berth.instance': 'other' } }), /installation other/],
      ['no installation', body({}, { Labels: {} }), /no installation/],
      ['a helper that runs something', { ...body(), Labels: { 'berth.helper': installation } }, /Image|no key/],
      ['no JSON', '{', /no JSON/],
      ['a list', [], /body|object/],
    ]
    for (const [what, made, why] of attacks) {
      const { status, text } = await create(made)
      assert.equal(status, 403, `${what}: ${status} ${text}`)
      assert.match(text, why, what)
    }
    assert.equal((await ask('GET', `/v1.41/containers/${installation}-eve/json`)).status, 404)
    assert.equal(lines.length, attacks.length)
    // The engine of this machine can bind none.
    const bound = await create(body({ StorageOpt: { size: '67108864' } }))
    assert.ok(bound.status !== 403, bound.text)
    await ask('DELETE', `/v1.41/containers/${installation}-eve?force=true&v=true`)
    assert.equal((await create(body({ CapAdd: ['CHOWN', 'SYS_PTRACE'] }))).status, 201, 'what the operator allows')
    assert.equal((await ask('DELETE', `/v1.41/containers/${installation}-eve?force=true&v=true`)).status, 204)
  })

  test('a program with rights of its own, and one in a container of others, is refused', async (t) => {
    const { id } = await createAndStart(runtime, { ...spec, home: null })
    t.after(() => runtime.remove(id))
    const plain = { AttachStdin: true, AttachStdout: true, AttachStderr: true, Tty: false, Cmd: ['id'] }
    const attacks = [
      { Privileged: true }, { User: 'root' }, { Tty: true }, { Env: ['LD_PRELOAD=x'] }, { WorkingDir: '/' },
      { DetachKeys: 'a' }, { Cmd: 'id' }, { Cmd: [] }, { privileged: true },
    ] // prettier-ignore
    for (const each of attacks) {
      const { status, text } = await ask('POST', `/v1.41/containers/${id}/exec`, { ...plain, ...each })
      assert.equal(status, 403, `${JSON.stringify(each)}: ${text}`)
    }
    const other = await openInstallation(t)
    await other.runtime.prepare()
    const theirs = await other.run('theirs')
    assert.equal((await ask('POST', `/v1.41/containers/${theirs.id}/exec`, plain)).status, 404)
    const { Id } = await askEngine<{ Id: string }>('POST', `/containers/${theirs.id}/exec`, { body: plain })
    assert.equal((await ask('GET', `/v1.41/exec/${Id}/json`)).status, 404)
    assert.equal(await upgradeStatus(broker.socket, `/v1.41/exec/${Id}/start`), 404)
    assert.equal(await upgradeStatus(broker.socket, `/v1.41/containers/${id}/attach`), 403)
    assert.equal(await upgradeStatus(broker.socket, `/v1.41/exec/${Id}/start`, 'x'.repeat(300)), 403)
    const own = await ask('POST', `/v1.41/containers/${id}/exec`, plain)
    assert.equal(own.status, 201)
    const { Id: ownId } = JSON.parse(own.text) as { Id: string }
    assert.equal((await ask('POST', `/v1.41/exec/${ownId}/start`, { Detach: true })).status, 403)
    assert.equal(await upgradeStatus(broker.socket, `/v1.41/exec/${ownId}/start`), 101)
    const { text } = await ask('GET', `/v1.41/exec/${ownId}/json`)
    assert.deepEqual(Object.keys(JSON.parse(text) as object).toSorted(), ['ExitCode', 'ID', 'Running'])
  })

  test('containers, volumes and networks of others can neither be seen nor changed', async (t) => {
    const other = await openInstallation(t)
    await other.runtime.prepare()
    const volume = `${other.installation}-home-1-ann-dev`
    const { id } = await other.run('theirs', { home: { volume, path: '/home/berth', size: null } })
    const calls = [
      ['GET', `/containers/${id}/json`],
      ['GET', `/containers/${id}/logs?stdout=true`],
      ['GET', `/containers/${id}/archive?path=/`],
      ['PUT', `/containers/${id}/archive?path=/`],
      ['POST', `/containers/${id}/stop?t=0`],
      ['DELETE', `/containers/${id}?force=true`],
      ['DELETE', `/volumes/${volume}`],
      ['DELETE', `/networks/${other.installation}`],
      ['DELETE', '/networks/bridge'],
      ['GET', '/containers/json?all=true'],
      [
        'GET',
        `/containers/json?filters=${encodeURIComponent(JSON.stringify({ label: [`berth.instance=${other.installation}`] }))}`,
      ],
      [
        'GET',
        `/containers/json?filters=${encodeURIComponent(JSON.stringify({ label: { [`berth.instance=${installation}`]: false } }))}`,
      ],
      ['GET', '/volumes'],
      ['GET', '/events'],
    ] as const
    for (const [method, target] of calls) {
      const { status, text } = await ask(method, `/v1.41${target}`)
      const isList = !target.slice(1).includes('/') || target.startsWith('/containers/json')
      assert.equal(status, isList ? 403 : 404, `${method} ${target}: ${status} ${text}`)
    }
    const theirs = {
      Mounts: [
        { Type: 'volume', Source: volume, Target: '/x', VolumeOptions: { Labels: { 'berth.instance': installation } } },
      ],
    }
    assert.match((await create(body(theirs))).text, /asks for the volume/)
    assert.equal((await look(other.runtime, id)).state, 'running')
  })

  test('calls that Berth does not use are refused, however their path is written', async () => {
    const id = '0'.repeat(64)
    const calls = [
      ['POST', `/v1.41/exec/${id}/resize?h=1&w=1`],
      ['POST', `/v1.41/containers/${id}/update`],
      ['POST', `/v1.41/containers/${id}/attach?stream=1`],
      ['GET', `/v1.41/containers/${id}/export`],
      ['POST', '/v1.41/build?remote=http://evil.example'],
      ['POST', '/v1.41/images/load'],
      ['POST', '/v1.41/images/create?fromSrc=-&repo=postgres&tag=16'],
      ['POST', '/v1.41/images/create?fromSrc=http://evil.example&repo=berth-helper&tag=empty'],
      ['POST', '/v1.41/images/create?fromImage=x&fromImage=y'],
      ['DELETE', '/v1.41/images/postgres'],
      ['POST', '/v1.41/images/postgres%3A16/tag?repo=postgres&tag=17'],
      ['POST', '/v1.41/images/evil/tag?repo=postgres&tag=16'],
      ['POST', '/v1.41/swarm/init'],
      ['GET', '/v1.41/secrets'],
      ['POST', '/v1.41/plugins/pull?remote=x'],
      ['POST', '/v1.41/containers/prune'],
      ['POST', `/v1.41/networks/${installation}/connect`],
      ['GET', '/v1.41/../containers/json'],
      ['GET', '/v1.41/_ping/../containers/json'],
      ['GET', '/v1.41/images/../containers/json'],
      ['GET', '/v1.41/images/x%2f..%2f..%2fcontainers/json'],
      ['POST', '//containers/create'],
      ['POST', '/v1.41/containers/create/'],
      ['GET', 'http://docker/v1.41/containers/json'],
      ['PATCH', '/v1.41/_ping'],
    ] as const
    for (const [method, target = ''] of calls) {
      const { status, text } = await ask(method, target, method === 'POST' ? body() : undefined)
      assert.ok(status === 403 || status === 404, `${method} ${target}: ${status} ${text}`)
      assert.doesNotMatch(text, /page not found/, `${target} has reached the engine`)
    }
  })

  test('a network between containers that may reach each other, or that is not of Docker’s own driver, is not made', async () => {
    const made = (options: object, rest: object = {}) => ({
      Name: `${installation}-2`,
      CheckDuplicate: true,
      Driver: 'bridge',
      Options: {
        'com.docker.network.bridge.enable_icc': 'false',
        'com.docker.network.bridge.name': 'brth-00000000',
        ...options,
      },
      Labels: { 'berth.instance': installation },
      ...rest,
    })
    for (const each of [
      made({ 'com.docker.network.bridge.enable_icc': 'true' }),
      made({ 'com.docker.network.bridge.name': 'eth0' }),
      made({}, { Driver: 'macvlan' }),
      made({}, { IPAM: { Config: [{ Subnet: '169.254.169.0/24' }] } }),
      made({}, { Labels: {} }),
    ])
      assert.equal((await ask('POST', '/v1.41/networks/create', each)).status, 403)
  })

  test('no body of a request, and nothing of its environment, is in a line of its log', async () => {
    const secret = 'hunter2-in-the-environment'
    await create(body({ Privileged: true }, { Env: [`PASSWORD=${secret}`] }))
    await ask('GET', `/v1.41/containers/json?filters=${secret}`)
    assert.doesNotMatch(lines.join('\n'), new RegExp(secret))
  })
})
