import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { readTemplate } from '#/templates/read-templates.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { HostCheck } from '#/containers/reconcile/host-check.ts'
import { createDockerRuntime } from '#/engines/docker/docker-runtime.ts'
import { askEngine, buildImage, engineAddress, testImage } from '../support/engine/engine.ts'
import { startOwnEngine } from '../support/engine/own-engine.ts'
import { waitLimit } from '../support/extent.ts'
import {
  containersOf,
  createAndStart,
  eventually,
  look,
  ofKind,
  openAt,
  openDockerEngine,
  openInstallation,
  read,
  shell,
} from '../support/engine/runtimes.ts'

/** What the Docker Engine adapter promises beyond the port: hardening, volumes, ports, network. */
const rig = await openDockerEngine()
after(() => rig.close())
const { runtime, spec, run } = rig

interface Inspection {
  readonly HostConfig: Readonly<Record<string, unknown>>
  readonly NetworkSettings: { readonly Ports: Readonly<Record<string, unknown>> }
  readonly Mounts: readonly { readonly Name: string }[]
}

const inspection = (id: string) => askEngine<Inspection>('GET', `/containers/${id}/json`)

test('a program has eight capabilities at most, cannot gain more, and is killed before the platform', async () => {
  const found = await run('rights', shell('cat /proc/self/status /proc/self/limits /proc/1/oom_score_adj > /tmp/self'))
  const self = await read(found, 'self')
  assert.match(self, /CapBnd:\s+00000000000004fb\n/)
  assert.match(self, /NoNewPrivs:\s+1\n/)
  assert.match(self, /Seccomp:\s+2\n/)
  assert.match(self, /Max core file size +0 +0 /)
  assert.match(self, /\n500\n$/)
})

test('a template can add a capability, allow setuid programs and have a root that cannot be written to', async () => {
  const script =
    'cat /proc/self/status > /tmp/self; touch /home/berth/new 2> /tmp/refusal; touch /run/new && echo ok > /tmp/run; grep " /tmp " /proc/mounts > /tmp/mount'
  const extra = { capAdd: ['SYS_PTRACE'], allowSetuid: true, readOnly: true }
  const found = await run('extra', { ...extra, ...shell(script) })
  assert.match(await read(found, 'self'), /CapBnd:\s+00000000000804fb\n/)
  assert.match(await read(found, 'self'), /NoNewPrivs:\s+0\n/)
  assert.match(await read(found, 'refusal'), /Read-only file system/)
  assert.equal(await read(found, 'run'), 'ok\n')
  // Half of its 64 MiB.
  assert.match(await read(found, 'mount'), /size=32768k/)
})

test('a template gives shared memory, and devices of the host with the rights that it says', async () => {
  const script =
    'df -k /dev/shm > /tmp/shm; head -c 3 /dev/berth-zero | od > /tmp/read; : > /dev/berth-zero 2> /tmp/refusal; ls /dev/zero /dev/fuse > /tmp/list 2>&1'
  const devices = [{ onHost: '/dev/zero', inContainer: '/dev/berth-zero', rights: 'r' }]
  const found = await run('devices', { shmSize: 48 * 1024 ** 2, devices, ...shell(script) })
  assert.match(await read(found, 'shm'), / 49152 /)
  assert.match(await read(found, 'read'), /000000/)
  assert.doesNotMatch(await read(found, 'list'), /^\/dev\/fuse/m)
})

// A look at files of a container mounts its home into the engine, and the removal that was under way then deleted what was in it.
test('no file of a home is lost when files of its container are looked at while it is removed', async () => {
  const home = { volume: `${rig.installation}-looked-at`, path: '/home/berth', size: null }
  const files = runtime.containerFiles()
  const look = (id: string) => files?.status(id, '/home/berth', AbortSignal.timeout(10_000)).catch(() => undefined)
  for (let round = 0; round < 8; round++) {
    const script = `${round === 0 ? ': > /home/berth/kept; ' : ''}ls /home/berth > /tmp/list`
    const found = await run(`looked-at-${round}`, { home, ...shell(script) })
    assert.match(await read(found, 'list'), /^kept$/m, `round ${round}`)
    const over = new AbortController()
    const looks = Array.from({ length: 8 }, async () => {
      while (!over.signal.aborted) await Promise.all([look(found.id), new Promise((resolve) => setTimeout(resolve, 2))])
    })
    await runtime.remove(found.id).finally(() => over.abort())
    await Promise.all(looks)
  }
})

// In a run of chaos a home was empty after it had been read: a request that was given up met the removal of what had read it.
test('what reads a home has it mounted read-only, so that no removal deletes its files', async (t) => {
  const own = await openInstallation(t)
  const home = { volume: `${own.installation}-read`, path: '/home/berth', size: null }
  await own.run('read', { home, ...shell('sleep 600') })
  const pieces = own.runtime.homeContents()?.read(home.volume, AbortSignal.timeout(10_000))[Symbol.asyncIterator]()
  try {
    assert.equal((await pieces?.next())?.done, false)
    const filters = JSON.stringify({ label: [`berth.helper=${own.installation}`] })
    const helpers = await askEngine<{ Mounts: { Name: string; RW: boolean }[] }[]>('GET', '/containers/json', {
      query: { all: '1', filters },
    })
    const mounts = helpers.flatMap(({ Mounts }) => Mounts.map(({ Name, RW }) => ({ Name, RW })))
    assert.deepEqual(mounts, [{ Name: home.volume, RW: false }])
  } finally {
    await pieces?.return?.(undefined)
  }
})

// Where a pause met the start of a program, the engine neither inspected nor resumed nor removed the container any more.
test('a container is paused beside programs that are being started in it, and goes on', async (t) => {
  // An engine of its own: without what keeps them apart it has to be started again.
  const engine = await startOwnEngine({ after: (end) => void t.after(end) })
  const { installation, runtime } = openAt(engine.address, t)
  const { run } = containersOf(runtime, installation, await testImage())
  const found = await run('busy', shell('sleep 600'))
  const limit = AbortSignal.timeout(waitLimit(60_000))
  for (let round = 0; round < 10; round++) {
    const execs = Array.from({ length: 4 }, () => runtime.exec(found.id, ['echo', 'hello'], limit))
    const programs = Promise.allSettled(execs)
    await sleep(4 * round)
    await runtime.pause(found.id, limit)
    for (const each of await programs)
      if (each.status === 'fulfilled') each.value.stream.resume().on('error', () => undefined)
      else assert.equal(each.reason instanceof RuntimeError && each.reason.kind, 'conflict')
    await runtime.start(found.id, limit)
  }
  // Docker notes a pause when it is done, and once more when containerd's event of it comes, which may be after the end of the pause:
  // until the event of that end has come, too, it calls a container paused that runs (seen on a busy machine).
  await eventually(async () => assert.equal((await runtime.inspect(found.name))?.state, 'running'))
})

// After `docker image prune -a`, homes were neither read nor measured until Berth was started anew.
test('homes are read and measured after the empty image of helpers was removed', async (t) => {
  // Tests beside this one need that of the machine's engine.
  const engine = await startOwnEngine({ after: (end) => void t.after(end) })
  const { installation, runtime } = openAt(engine.address, t)
  const home = { volume: `${installation}-ann-dev`, path: '/home/berth', size: null }
  const command = ['/bin/sh', '-c', 'head -c 300000 /dev/zero > file; exec httpd -f -p 8080 -h /home/berth']
  const { run } = containersOf(runtime, installation, await testImage())
  await read(await run('home', { home, command }), 'file')
  const limit = AbortSignal.timeout(waitLimit(60_000))
  const bytesOf = async () => (await runtime.measureHomes(limit)).get(home.volume) ?? 0
  const readHome = async () =>
    Buffer.concat(await Array.fromAsync(runtime.homeContents()?.read(home.volume, limit) ?? []))
  assert.ok((await readHome()).length > 300_000)
  for (const what of ['read', 'measured']) {
    await engine.ask('DELETE', '/images/berth-helper:empty')
    const bytes = what === 'read' ? (await readHome()).length : await bytesOf()
    assert.ok(bytes >= 300_000, `${what}: ${bytes}`)
  }
})

test('a program cannot have more processes than its template says', async () => {
  const crowd = 'i=0; while [ $i -lt 40 ]; do sleep 1 & i=$((i+1)); done'
  const found = await run('crowd', { pids: 20, ...shell(`(${crowd}) 2> /tmp/refusal; sleep 2`) })
  assert.match(await read(found, 'refusal'), /fork/)
})

test('nothing is published, privileged, shared with the host, or restarted by the engine', async () => {
  const { id } = await run('closed', { memory: 32 * 1024 ** 2, cpus: 999, pids: 33 })
  const { HostConfig, NetworkSettings } = await inspection(id)
  const { NCPU } = await askEngine<{ NCPU: number }>('GET', '/info')
  const { PortBindings, Binds, Devices, Privileged, RestartPolicy, AutoRemove, PublishAllPorts, ...host } = HostConfig
  assert.deepEqual(Object.values(NetworkSettings.Ports).filter(Boolean), [])
  assert.deepEqual([PortBindings ?? {}, Binds ?? [], Devices ?? []], [{}, [], []])
  assert.deepEqual([Privileged, PublishAllPorts, AutoRemove], [false, false, false])
  assert.deepEqual(RestartPolicy, { Name: 'no', MaximumRetryCount: 0 })
  assert.deepEqual([host.IpcMode, host.CgroupnsMode, host.PidMode, host.UTSMode], ['private', 'private', '', ''])
  assert.deepEqual([host.Memory, host.PidsLimit, host.NanoCpus], [32 * 1024 ** 2, 33, NCPU * 1e9])
  assert.equal(host.MemorySwap, host.Memory)
  assert.deepEqual([host.Init, host.ShmSize, host.CpuShares], [true, 64 * 1024 ** 2, 256])
  assert.deepEqual([host.SecurityOpt, host.UsernsMode, host.OomKillDisable], [['no-new-privileges:true'], '', false])
  assert.ok((host.MaskedPaths as string[]).includes('/proc/kcore'), 'what the engine hides stays hidden')
  assert.deepEqual(host.LogConfig, { Type: 'local', Config: { 'max-size': '10m', 'max-file': '3' } })
})

test('a template that wants more memory than the host has gets what there is', async () => {
  const { id } = await run('vast', { memory: 1024 ** 5 })
  const { HostConfig } = await inspection(id)
  const { MemTotal } = await askEngine<{ MemTotal: number }>('GET', '/info')
  assert.deepEqual([HostConfig.Memory, HostConfig.MemorySwap], [MemTotal, MemTotal])
})

test('a home volume carries whose it is; nameless volumes of an image go with their container', async (t) => {
  const image = `${rig.installation}:volume`
  t.after(() => askEngine('DELETE', `/images/${image}`))
  await buildImage(image, 'FROM berth-test-web:1\nVOLUME /data\n')
  const home = { volume: `${rig.installation}-labelled`, path: '/home/berth', size: null }
  const { id } = await run('volumes', { image, home })
  const isTool = (name: string) => name.startsWith(`${rig.installation}-tool-`)
  const names = (await inspection(id)).Mounts.map(({ Name }) => Name).filter((name) => !isTool(name))
  const nameless = names.find((name) => name !== home.volume) ?? ''
  assert.equal(names.length, 2)
  await runtime.remove(id)
  const { Labels } = await askEngine<{ Labels: object }>('GET', `/volumes/${home.volume}`)
  assert.deepEqual(Labels, {
    'berth.instance': rig.installation,
    'berth.user_id': '1',
    'berth.slug': 'ann',
    'berth.type': 'dev',
  })
  await assert.rejects(askEngine('GET', `/volumes/${nameless}`), /404/)
})

test("without a port of its own a template takes the image's single one, also after the image was rebuilt", async (t) => {
  const image = `${rig.installation}:ports`
  const built: string[] = []
  t.after(async () => {
    // The newest first, because it may be made of the others; those that nothing else needs go with it.
    for (const id of built.toReversed())
      await askEngine('DELETE', `/images/${id}`, { query: { force: 'true' } }).catch(() => undefined)
  })
  const portOf = async (...exposed: (number | string)[]) => {
    const lines = ['FROM scratch', `LABEL of=${rig.installation}`, 'COPY bin /bin', 'CMD ["/bin/busybox"]']
    await buildImage(image, [...lines, ...exposed.map((each) => `EXPOSE ${each}`)].join('\n'))
    built.push((await askEngine<{ Id: string }>('GET', `/images/${image}/json`)).Id)
    const { id, port } = await runtime.create(spec('ports', { image, port: null }))
    assert.equal((await look(runtime, id)).port, port)
    await runtime.remove(id)
    return port
  }
  assert.equal(await portOf(), 8080)
  assert.equal(await portOf(9999), 9999)
  assert.equal(await portOf(7777), 7777)
  assert.equal(await portOf(7777, 9999), 8080)
  // HTTP needs TCP, so a port of UDP beside it is none of these.
  assert.equal(await portOf('3000/tcp 9000/udp'), 3000)
  assert.equal(await portOf('9000/udp'), 8080)
})

test('of eight who make ready at once, each from a process of its own, one makes the network', async (t) => {
  const { installation } = openAt(engineAddress, t)
  const open = () => createDockerRuntime({ installation, dockerHost: engineAddress, network: installation })
  await Promise.all(Array.from({ length: 8 }, () => open().prepare()))
  const networks = await askEngine<{ Name: string }[]>('GET', '/networks')
  assert.equal(networks.filter(({ Name }) => Name === installation).length, 1)
})

test('a network on which containers could reach each other is refused', async (t) => {
  const { installation, runtime } = openAt(engineAddress, t)
  const Labels = { 'berth.instance': installation }
  await askEngine('POST', '/networks/create', { body: { Name: installation, Driver: 'bridge', Labels } })
  await assert.rejects(runtime.prepare(), (error) => ofKind('failed')(error) && /reach each other/.test(String(error)))
})

test('an address is given to the next container only after the end of the last was told', async (t) => {
  const { installation, runtime } = openAt(engineAddress, t)
  await runtime.prepare()
  const heard: string[] = []
  const away = new AbortController()
  t.after(() => away.abort())
  runtime.watch(({ id, action }) => void heard.push(`${action} ${id}`), away.signal)
  const named = (name: string) => ({ ...spec(name), name: `${installation}-${name}` })
  const last = await createAndStart(runtime, named('last'))
  await eventually(async () => {
    await runtime.stop(last.id)
    await runtime.start(last.id)
    assert.ok(heard.includes(`start ${last.id}`))
  })
  const { address } = await look(runtime, last.id)
  heard.length = 0
  // On a busy machine the engine may fail to freeze a program at the first attempt.
  await eventually(() => runtime.pause(last.id))
  await runtime.stop(last.id)
  const { Version } = await askEngine<{ Version: string }>('GET', '/version')
  // Already here, without another turn: no other container can have got the address before. Newer engines free the address and
  // tell of the end some 10 ms later (docs/explanation/engines.md); there it has to be told before the next program runs.
  if (Number.parseInt(Version) < 25) assert.ok(heard.includes(`die ${last.id}`), heard.join())
  const next = await createAndStart(runtime, named('next'))
  assert.ok(heard.includes(`die ${last.id}`), heard.join())
  assert.equal(next.address, address)
})

test('what a program writes to a terminal is in the log, too, and can be followed', async () => {
  const Labels = { 'berth.instance': rig.installation, 'berth.user_id': '1', 'berth.slug': 'ann', 'berth.type': 'dev' }
  const Cmd = ['/bin/sh', '-c', 'echo one; echo two >&2; sleep 1; echo three']
  const body = { Image: spec('tty').image, Labels, Tty: true, Cmd, HostConfig: { NetworkMode: 'none' } }
  const { Id } = await askEngine<{ Id: string }>('POST', '/containers/create', { body })
  await runtime.start(Id)
  const heard: string[] = []
  await runtime.followLogs(Id, 5, (line) => void heard.push(line), AbortSignal.timeout(20_000))
  assert.deepEqual(heard, ['one', 'two', 'three'])
  assert.deepEqual(await runtime.logs(Id, 2), ['two', 'three'])
  await runtime.remove(Id)
})

test('a container without labels, or whose labels are no owner, is touched by no verb', async (t) => {
  for (const Labels of [
    {},
    { 'berth.instance': rig.installation },
    { 'berth.user_id': '1', 'berth.slug': 'ann', 'berth.type': 'dev' },
  ]) {
    const Cmd = ['/bin/sh', '-c', 'echo secret; exec sleep 60']
    const body = { Image: spec('nobody').image, Labels, Cmd, HostConfig: { NetworkMode: 'none' } }
    const { Id } = await askEngine<{ Id: string }>('POST', '/containers/create', { body })
    t.after(() => askEngine('DELETE', `/containers/${Id}`, { query: { force: 'true' } }))
    await askEngine('POST', `/containers/${Id}/start`)
    await assert.rejects(runtime.pause(Id), ofKind('missing'))
    await assert.rejects(runtime.start(Id), ofKind('missing'))
    assert.deepEqual([await runtime.logs(Id, 5), await runtime.usage(Id)], [[], undefined])
    await Promise.all([runtime.stop(Id), runtime.remove(Id)])
    const { State } = await askEngine<{ State: { Status: string } }>('GET', `/containers/${Id}/json`)
    assert.equal(State.Status, 'running')
  }
})

test('a network that was pruned while nothing ran is made anew at the next start', async (t) => {
  const { installation, runtime } = openAt(engineAddress, t)
  await runtime.prepare()
  const named = (name: string) => ({ ...spec(name), name: `${installation}-${name}` })
  const { id } = await runtime.create(named('new'))
  const old = await createAndStart(runtime, named('old'))
  await runtime.stop(old.id)
  await askEngine('DELETE', `/networks/${installation}`)
  await runtime.start(id)
  assert.equal(await read(await look(runtime, id)), 'hello\n')
  // What ran before is tied to the network that is gone, for ever; the caller has to make it anew.
  await assert.rejects(runtime.start(old.id), ofKind('failed'))
})

test('a GPU and a device that this engine does not have keep Berth from starting, with words that name the type', async () => {
  const log = { warn: () => undefined, error: () => undefined, info: () => undefined }
  const refusal = (fields: object) => {
    const { template } = readTemplate('dev', { image: 'x', ...fields })
    return new HostCheck(runtime, () => (template ? [template] : []), log)
      .checkAtStart()
      .catch((error: Error) => error.message)
  }
  assert.match((await refusal({ gpus: 1 })) ?? '', /^the template "dev" asks for 1 GPU, and the engine offers none/)
  assert.match(
    (await refusal({ devices: ['/dev/no-such'] })) ?? '',
    /^the template "dev" asks for the device \/dev\/no-such/,
  )
  assert.equal(await refusal({ devices: ['/dev/null'] }), undefined)
})

test('a container is started right after its creation without a look, and looked at before each later start', async () => {
  const calls: string[] = []
  const debug = ({ engine }: { engine: string }) => void calls.push(engine.split(' ')[0] ?? '')
  const { installation } = rig
  const log = { debug } as unknown as Pick<Logger, 'debug'>
  const own = createDockerRuntime({ installation, dockerHost: engineAddress, network: installation, log })
  await own.prepare()
  const { id } = await own.create(spec('unseen'))
  calls.length = 0
  await own.start(id)
  assert.deepEqual(calls, ['start'])
  await own.stop(id, undefined, 0)
  calls.length = 0
  await own.start(id)
  assert.deepEqual(calls, ['inspect', 'start'])
  await own.remove(id)
})
