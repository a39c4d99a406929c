import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createDockerRuntime } from '#/engines/docker/docker-runtime.ts'
import { askEngine } from '../support/engine/engine.ts'
import { engineAnswering, ok } from '../support/engine/faulty-engines.ts'
import { execInContainer } from '../support/engine/exec-in-container.ts'
import { ofKind, openDockerEngine } from '../support/engine/runtimes.ts'

/** Writable layers with a real Docker Engine, which cannot bind them: its folder is on no XFS with project quotas. */
const rig = await openDockerEngine()
after(() => rig.close())
const { runtime, neighbour, installation, spec } = rig
const signal = AbortSignal.timeout(120_000)
const MiB = 1024 ** 2

test('what a container writes outside of its home is measured, also while it is stopped, for its own installation alone', async () => {
  const home = { volume: `${installation}-home`, path: '/home/berth', size: null }
  const { id } = await rig.run('written', { home, layerSize: 64 * MiB })
  const before = await runtime.measureLayer(id, signal)
  assert.ok(typeof before === 'number' && before < 100_000, `${before}`)
  await execInContainer(id, 'head -c 3000000 /dev/zero > /tmp/written; head -c 5000000 /dev/zero > /home/berth/kept')
  const written = async () => Number(await runtime.measureLayer(id, signal)) - before
  assert.equal(await written(), 3_000_000)
  await runtime.stop(id)
  assert.equal(await written(), 3_000_000)
  assert.equal(await neighbour.measureLayer(id, signal), undefined)
  await runtime.remove(id)
  assert.equal(await runtime.measureLayer(id, signal), undefined)
})

/** The real engine, which says that its layers are on XFS, and how often it is asked to create a user's container. */
async function engineOnXfs(t: Parameters<typeof engineAnswering>[0]) {
  const info = await askEngine<object>('GET', '/info')
  const storage = { Driver: 'overlay2', DriverStatus: [['Backing Filesystem', 'xfs']] }
  const asked = { creations: 0 }
  const isInfo = (line: string) => {
    if (line.includes(`/containers/create?name=${installation}-`)) asked.creations++
    return / \S*\/info /.test(line)
  }
  const dockerHost = await engineAnswering(t, { test: isInfo }, ok(JSON.stringify({ ...info, ...storage })))
  return { asked, dockerHost, onXfs: createDockerRuntime({ installation, dockerHost, network: installation }) }
}

test('where the engine refuses to bind a layer the container is created without, and the refusal is remembered', async (t) => {
  const { asked, onXfs } = await engineOnXfs(t)
  assert.deepEqual([(await runtime.host()).supportsLayerLimit, (await onXfs.host()).supportsLayerLimit], [false, true])
  const { id } = await onXfs.create(spec('refused', { layerSize: 64 * MiB }))
  const { HostConfig } = await askEngine<{ HostConfig: { StorageOpt?: unknown } }>('GET', `/containers/${id}/json`)
  assert.deepEqual([HostConfig.StorageOpt ?? null, asked.creations], [null, 2])
  assert.equal((await onXfs.host()).supportsLayerLimit, false)
  await onXfs.create(spec('refused-again', { layerSize: 64 * MiB }))
  await onXfs.create(spec('unlimited'))
  assert.equal(asked.creations, 4)
  assert.equal(await onXfs.measureLayer(id, signal), await runtime.measureLayer(id, signal))
})

test('a layer that the engine binds is not measured, and one that it cannot measure has no size', async (t) => {
  const { id } = await rig.run('bound')
  const found = await askEngine<{ HostConfig: object }>('GET', `/containers/${id}/json`)
  const bound = { ...found, HostConfig: { ...found.HostConfig, StorageOpt: { size: '67108864' } } }
  const at = async (part: RegExp, answer: object) =>
    createDockerRuntime({
      installation,
      dockerHost: await engineAnswering(t, part, ok(JSON.stringify(answer))),
      network: installation,
    }).measureLayer(id, signal)
  assert.equal(await at(/\/containers\/[0-9a-f]{64}\/json/, bound), 'bound')
  await assert.rejects(at(/\/containers\/json/, [{ Id: id, SizeRw: -1 }]), ofKind('failed'))
  assert.equal(await at(/\/containers\/json/, [{ Id: id }]), 0)
  assert.equal(await at(/\/containers\/json/, []), undefined)
})
