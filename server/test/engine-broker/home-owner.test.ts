import assert from 'node:assert/strict'
import { lstatSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, test } from 'node:test'
import { createDockerRuntime } from '#/engines/docker/docker-runtime.ts'
import type { HomeContents } from '#/engines/runtime.ts'
import { askEngine, testImage } from '#test/support/engine/engine.ts'
import { openInstallation, plainSpec } from '#test/support/engine/runtimes.ts'
import { startBroker } from './broker-rig.ts'

/** The owner of homes is changed through the broker, by a helper that runs; no other helper is started. */
const { installation, address, ask, lines, root } = await startBroker(
  { after },
  { allow: (folder) => `writable=${folder}/*` },
)
const runtime = createDockerRuntime({ installation, dockerHost: address, network: installation })
await runtime.prepare()
const volume = `${installation}-home-1-ann-dev`
const spec = { ...plainSpec, name: `${installation}-ann-dev`, image: await testImage() }
const { id } = await runtime.create({ ...spec, home: { volume, path: '/home/berth', size: null } })
const changeOwner: NonNullable<HomeContents['changeOwner']> = (home, work) => {
  const change = runtime.homeContents()?.changeOwner
  assert.ok(change)
  return change(home, work)
}
const to = (account: string) => ({
  from: undefined,
  to: account,
  signal: AbortSignal.timeout(30_000),
  onProgress: () => {},
})

test('the owner of a home, and of a folder that containers may write to, is changed through it', async () => {
  assert.equal((await changeOwner({ volume }, to('4321'))).changed, 1)
  assert.equal((await changeOwner({ volume }, to('4322'))).from.uid, 4321)
  const folder = path.join(root, 'ann')
  mkdirSync(folder)
  writeFileSync(path.join(folder, 'file'), '')
  assert.equal((await changeOwner({ folder }, to('4321:4321'))).changed, 2)
  assert.equal(lstatSync(path.join(folder, 'file')).uid, 4321)
  await assert.rejects(changeOwner({ volume: `${volume}-gone` }, to('1')), /it is gone/)
  assert.deepEqual(lines, [])
})

test('one that is given up leaves no helper', async () => {
  const signal = AbortSignal.abort()
  await assert.rejects(changeOwner({ volume }, { ...to('4323'), signal }))
  const filters = JSON.stringify({ label: [`berth.helper=${installation}`] })
  assert.deepEqual(await askEngine('GET', '/containers/json', { query: { all: '1', filters } }), [])
})

test('a helper with other programs, rights, mounts or folders is not made, and one without a task not started', async (t) => {
  const { installation: other, runtime: theirs } = await openInstallation(t)
  await theirs.create({ ...spec, name: `${other}-ben-dev`, home: { volume: `${other}-home`, path: '/h', size: null } })
  const { Mounts } = await askEngine<{ Mounts: readonly { Name?: string; Destination: string }[] }>(
    'GET',
    `/containers/${id}/json`,
  )
  const tool = Mounts.find(({ Destination }) => Destination === '/.berth')?.Name
  const toolMount = { Type: 'volume', Source: tool, Target: '/.berth', ReadOnly: true, VolumeOptions: { NoCopy: true } }
  const homeMount = {
    Type: 'volume',
    Source: volume,
    Target: '/home',
    ReadOnly: false,
    VolumeOptions: { NoCopy: true },
  }
  const bind = (Source: string) => ({
    Type: 'bind',
    Source,
    Target: '/home',
    ReadOnly: false,
    BindOptions: { Propagation: 'rprivate' },
  })
  const hostConfig = {
    NetworkMode: 'none',
    CapDrop: ['ALL'],
    CapAdd: ['CHOWN', 'DAC_OVERRIDE'],
    SecurityOpt: ['no-new-privileges:true'],
    ReadonlyRootfs: true,
    Memory: 1024 ** 2 * 16,
    MemorySwap: 1024 ** 2 * 16,
    PidsLimit: 16,
    LogConfig: { Type: 'local', Config: { 'max-size': '1m', 'max-file': '2' } },
    Mounts: [homeMount, toolMount],
  }
  const body = (config: object = {}, rest: object = {}) => ({
    Image: 'berth-helper:empty',
    Cmd: ['/.berth/berth-tool', 'chown', '-', '1:1', '/home', '-'],
    User: '0:0',
    Labels: { 'berth.helper': installation, 'berth.helper.pid': '1', 'berth.helper.task': 'chown' },
    HostConfig: { ...hostConfig, ...config },
    ...rest,
  })
  const make = (wanted: object) => ask('POST', `/v1.41/containers/create?name=berth-helper-${'0'.repeat(16)}`, wanted)
  for (const [what, wanted] of [
    ['an image', body({}, { Image: 'alpine' })],
    ['a program', body({}, { Cmd: ['/home/evil', 'chown', '-', '1:1', '/home', '-'] })],
    ['a folder', body({}, { Cmd: ['/.berth/berth-tool', 'chown', '-', '1:1', '/proc', '-'] })],
    ['a label', body({}, { Labels: { 'berth.helper': installation, 'berth.helper.task': 'evil' } })],
    ['a right', body({ CapAdd: ['CHOWN', 'SYS_ADMIN'] })],
    ['further rights', body({ CapAdd: ['CHOWN', 'DAC_OVERRIDE', 'DAC_READ_SEARCH'] })],
    ['privileges', body({ Privileged: true })],
    ['a network', body({ NetworkMode: 'host' })],
    ['new privileges', body({ SecurityOpt: ['seccomp=unconfined'] })],
    ['memory', body({ Memory: 1024 ** 4, MemorySwap: 1024 ** 4 })],
    ['a home of another installation', body({ Mounts: [{ ...homeMount, Source: `${other}-home` }, toolMount] })],
    ['a writable tool', body({ Mounts: [homeMount, { ...toolMount, ReadOnly: false }] })],
    ['a third mount', body({ Mounts: [homeMount, toolMount, homeMount] })],
    ['a folder of the host', body({ Mounts: [bind('/etc'), toolMount] })],
    ['a folder that nobody may write to', body({ Mounts: [bind(root), toolMount] })],
  ] as const)
    assert.equal((await make(wanted)).status, 403, what)
  const made = await make(body())
  assert.equal(made.status, 201, made.text)
  await askEngine('DELETE', `/containers/berth-helper-${'0'.repeat(16)}`)

  const still = { NetworkMode: 'none', CapDrop: ['ALL'], Mounts: [homeMount] }
  const { Cmd, Image } = body()
  const Labels = { 'berth.helper': installation, 'berth.helper.pid': '1' }
  assert.equal((await make({ Image, Cmd, Labels, HostConfig: still })).status, 201)
  const name = `berth-helper-${'0'.repeat(16)}`
  assert.equal((await ask('POST', `/v1.41/containers/${name}/start`)).status, 404)
  await askEngine('DELETE', `/containers/${name}`)
})
