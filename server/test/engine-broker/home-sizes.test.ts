import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createDockerRuntime } from '#/engines/docker/docker-runtime.ts'
import { askEngine, testImage } from '#test/support/engine/engine.ts'
import { openInstallation, plainSpec } from '#test/support/engine/runtimes.ts'
import { startBroker } from './broker-rig.ts'

/** Homes are measured through the broker by a helper that can read them and write to nothing; no other such helper is made. */
const { installation, address, ask, lines } = await startBroker({ after })
const runtime = createDockerRuntime({ installation, dockerHost: address, network: installation })
await runtime.prepare()
const volume = `${installation}-home-1-ann-dev`
const spec = { ...plainSpec, name: `${installation}-ann-dev`, image: await testImage() }
const { id } = await runtime.create({ ...spec, home: { volume, path: '/home/berth', size: null } })

test('homes are measured through it, and nothing is left of that', async () => {
  const sizes = await runtime.measureHomes(AbortSignal.timeout(60_000))
  assert.deepEqual([...sizes.keys()], [volume])
  const filters = JSON.stringify({ label: [`berth.helper=${installation}`] })
  assert.deepEqual(await askEngine('GET', '/containers/json', { query: { all: '1', filters } }), [])
  assert.deepEqual(lines, [])
})

test('what a container has written outside of its home is measured through it', async () => {
  assert.equal(typeof (await runtime.measureLayer(id, AbortSignal.timeout(60_000))), 'number')
  assert.deepEqual(lines, [])
})

test('a helper that could write to a home, has other rights or mounts, or runs something else is not made', async (t) => {
  const { installation: other, runtime: theirs } = await openInstallation(t)
  await theirs.create({ ...spec, name: `${other}-ben-dev`, home: { volume: `${other}-home`, path: '/h', size: null } })
  type Mounts = readonly { Name?: string; Destination: string }[]
  const found = await askEngine<{ Mounts: Mounts }>('GET', `/containers/${id}/json`)
  const tool = found.Mounts.find(({ Destination }) => Destination === '/.berth')?.Name
  const mount = (Source: string | undefined, Target: string, ReadOnly = true) => ({
    Type: 'volume',
    Source,
    Target,
    ReadOnly,
    VolumeOptions: { NoCopy: true },
  })
  const [home, toolMount] = [mount(volume, '/homes/0'), mount(tool, '/.berth')]
  const hostConfig = {
    NetworkMode: 'none',
    CapDrop: ['ALL'],
    CapAdd: ['DAC_READ_SEARCH'],
    SecurityOpt: ['no-new-privileges:true'],
    ReadonlyRootfs: true,
    Memory: 1024 ** 2 * 16,
    MemorySwap: 1024 ** 2 * 16,
    PidsLimit: 16,
    CpuShares: 2,
    LogConfig: { Type: 'local', Config: { 'max-size': '1m', 'max-file': '2' } },
    Mounts: [home, toolMount],
  }
  const body = (config: object = {}, rest: object = {}) => ({
    Image: 'berth-helper:empty',
    Cmd: ['/.berth/berth-tool', 'du', '20', '/homes'],
    User: '0:0',
    Labels: { 'berth.helper': installation, 'berth.helper.pid': '1', 'berth.helper.task': 'du' },
    HostConfig: { ...hostConfig, ...config },
    ...rest,
  })
  const name = `berth-helper-${'1'.repeat(16)}`
  const make = (wanted: object) => ask('POST', `/v1.41/containers/create?name=${name}`, wanted)
  for (const [what, wanted] of [
    ['another program', body({}, { Cmd: ['/.berth/berth-tool', 'chown', '20', '/homes'] })],
    ['another folder', body({}, { Cmd: ['/.berth/berth-tool', 'du', '20', '/proc'] })],
    ['a further right', body({ CapAdd: ['DAC_READ_SEARCH', 'SYS_ADMIN'] })],
    ['another right', body({ CapAdd: ['DAC_OVERRIDE'] })],
    ['a network', body({ NetworkMode: 'host' })],
    ['a home to write to', body({ Mounts: [mount(volume, '/homes/0', false), toolMount] })],
    ['a home at another place', body({ Mounts: [mount(volume, '/homes/../etc'), toolMount] })],
    ['no tool', body({ Mounts: [home, mount(volume, '/homes/1')] })],
    ['a tool of its own', body({ Mounts: [home, mount(volume, '/.berth'), toolMount] })],
    ['a home of another installation', body({ Mounts: [mount(`${other}-home`, '/homes/0'), toolMount] })],
    ['a folder of the host', body({ Mounts: [{ Type: 'bind', Source: '/etc', Target: '/homes/0' }, toolMount] })],
  ] as const)
    assert.equal((await make(wanted)).status, 403, what)
  const made = await make(body())
  assert.equal(made.status, 201, made.text)
  await askEngine('DELETE', `/containers/${name}`)
})
