import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, suite, test } from 'node:test'
import { createKubernetesRuntime } from '#/engines/kubernetes/kubernetes-runtime.ts'
import { askCluster, clusterImage, kubeconfig, makeNamespace } from '../support/cluster/cluster-api.ts'
import { newInstallation } from '../support/engine/engine.ts'
import { eventually, look, plainSpec } from '../support/engine/runtimes.ts'

/** Part of `npm run test:cluster`: who owns the environments of pods, and what the garbage collector of a cluster does with them. */

interface Secret {
  readonly metadata: {
    readonly name: string
    readonly uid: string
    readonly ownerReferences?: readonly { readonly kind: string; readonly uid: string }[]
  }
}

const installation = newInstallation()
const removeNamespace = await makeNamespace(installation)
const image = await clusterImage()
const path = `/api/v1/namespaces/${installation}/secrets`
const anchorName = `${installation}-environments`

/** A process of Berth. */
const open = () => createKubernetesRuntime({ kubeconfig, namespace: installation, installation, storageClass: null })
type Process = Awaited<ReturnType<typeof open>>

async function run(runtime: Process, name: string): Promise<string> {
  const { id } = await runtime.create({ ...plainSpec, name: `${installation}-${name}`, image })
  await runtime.start(id)
  return id
}
const secrets = async () => (await askCluster<{ items: Secret[] }>('GET', path)).items
const anchor = async () => (await secrets()).find(({ metadata }) => metadata.name === anchorName)
/** Kinds and uids of the owners of the environments of a pod. */
const ownersOf = async (name: string) =>
  (await secrets())
    .filter(({ metadata }) => metadata.name.startsWith(`${installation}-${name}-`))
    .map(({ metadata }) => metadata.ownerReferences?.map(({ kind, uid }) => `${kind} ${uid}`))

suite('environments of pods on a cluster', () => {
  after(() => removeNamespace())

  test('each environment belongs to its pod in the end, whether it came after or before it, and goes with it', async () => {
    const runtime = await open()
    const first = await run(runtime, 'first')
    await eventually(async () => assert.ok(await anchor()))
    // The first one has no anchor yet, the later ones have it some time.
    for (const name of ['second', 'third']) {
      const id = await run(runtime, name)
      assert.deepEqual(await ownersOf(name), [[`Pod ${id}`]])
    }
    assert.deepEqual(await ownersOf('first'), [[`Pod ${first}`]])
    await runtime.remove(first)
    await eventually(async () => assert.deepEqual(await ownersOf('first'), []))
  })

  test('what a crash left between an environment and its pod goes with the next process; what runs keeps its own', async () => {
    const before = await anchor()
    assert.ok(before)
    const { name, uid } = before.metadata
    await askCluster('POST', path, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name: `${installation}-crashed-1234abcd`,
        ownerReferences: [{ apiVersion: 'v1', kind: 'Secret', name, uid }],
      },
    })
    const next = await open()
    const id = await run(next, 'fourth')
    await eventually(async () => assert.deepEqual(await ownersOf('crashed'), []), 60_000)
    await eventually(async () => assert.notEqual((await anchor())?.metadata.uid ?? uid, uid), 60_000)
    for (const kept of ['second', 'third', 'fourth']) assert.equal((await ownersOf(kept)).length, 1, kept)
    assert.equal((await look(next, id)).state, 'running')
  })

  test('without its anchor, which an operator removed, a process starts containers, at the second attempt at the latest', async () => {
    const runtime = await open()
    await run(runtime, 'fifth')
    await eventually(async () => {
      const id = await run(runtime, `try-${randomBytes(2).toString('hex')}`)
      assert.ok(id)
      assert.ok(await anchor())
    }, 60_000)
    await askCluster('DELETE', `${path}/${anchorName}`)
    // The collector removes an environment that it saw without an owner, although it has got its pod since: that pod waits in vain.
    const started = await run(runtime, 'sixth').then(
      (id) => ['sixth', id] as const,
      async () => ['again', await run(runtime, 'again')] as const,
    )
    assert.deepEqual(await ownersOf(started[0]), [[`Pod ${started[1]}`]])
  })

  test('an environment whose pod was refused does not stay', async () => {
    const runtime = await open()
    await run(runtime, 'seventh')
    await eventually(async () => assert.ok(await anchor()))
    const refused = { ...plainSpec, name: `${installation}-refused`, image, runtime: 'no-such-class' }
    for (let each = 0; each < 2; each++) await assert.rejects(runtime.create(refused))
    await eventually(async () => assert.deepEqual(await ownersOf('refused'), []), 60_000)
  })
})
