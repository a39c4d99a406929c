import assert from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import type { ClusterFields } from '#/engines/container-spec.ts'
import type { RuntimeEvent } from '#/engines/runtime.ts'
import { askCluster } from '../support/cluster/cluster-api.ts'
import { openCluster } from '../support/cluster/cluster-rig.ts'
import { eventually, look, ofKind } from '../support/engine/runtimes.ts'

/** Part of `npm run test:cluster`: the field `kubernetes` of templates, pull secrets, and what a cluster does to pods by itself. */

const isOwn = process.env.BERTH_TEST_CLUSTER_IS_OWN !== undefined
const rig = await openCluster()
const { runtime, installation, spec, run } = rig
const namespace = `/api/v1/namespaces/${installation}`
const fields: ClusterFields = {
  nodeSelector: {},
  tolerations: [],
  storageClass: null,
  pullSecrets: [],
  gpuResource: 'nvidia.com/gpu',
}

interface StoredPod {
  readonly spec: {
    readonly nodeName?: string
    readonly tolerations?: readonly { readonly key?: string; readonly operator?: string; readonly effect?: string }[]
    readonly imagePullSecrets?: readonly { readonly name: string }[]
  }
}
const podOf = (name: string) => askCluster<StoredPod>('GET', `${namespace}/pods/${installation}-${name}`)

/** As a drain does it. */
async function evict(name: string): Promise<void> {
  const metadata = { name: `${installation}-${name}`, namespace: installation }
  const ask = (version: string) =>
    askCluster('POST', `${namespace}/pods/${metadata.name}/eviction`, {
      apiVersion: version,
      kind: 'Eviction',
      metadata,
    })
  // Clusters before 1.22 know the older version alone.
  await ask('policy/v1').catch(() => ask('policy/v1beta1'))
}

after(() => rig.close())

suite('where a cluster runs a container', { concurrency: 4 }, () => {
  test('a pod gets the node that its template selects; one for which no node is there is refused as without room', async (t) => {
    if (!isOwn) return t.skip('the nodes of this cluster are not known')
    for (const node of ['kn1', 'kn2']) {
      await run(`on-${node}`, { cluster: { ...fields, nodeSelector: { 'kubernetes.io/hostname': node } } })
      assert.equal((await podOf(`on-${node}`)).spec.nodeName, node)
    }
    const { id } = await runtime.create(spec('nowhere', { cluster: { ...fields, nodeSelector: { disk: 'none' } } }))
    await assert.rejects(runtime.start(id), ofKind('full'))
  })

  test('tolerations and pull secrets are accepted as the template has them', async () => {
    const toleration = { key: 'gpu', operator: 'Exists', value: '', effect: 'NoSchedule', seconds: null } as const
    await run('tolerant', { cluster: { ...fields, tolerations: [toleration], pullSecrets: ['theirs'] } })
    const { tolerations, imagePullSecrets } = (await podOf('tolerant')).spec
    assert.ok(
      tolerations?.some(
        ({ key, operator, effect }) => key === 'gpu' && operator === 'Exists' && effect === 'NoSchedule',
      ),
    )
    assert.deepEqual(imagePullSecrets, [{ name: 'theirs' }])
  })

  test('a home gets the storage class of its template, and is bound and mounted', async (t) => {
    if (!isOwn) return t.skip('the storage of this cluster is not known')
    const storageClass = 'berth-other'
    await askCluster('POST', '/apis/storage.k8s.io/v1/storageclasses', {
      metadata: { name: storageClass },
      provisioner: 'kubernetes.io/host-path',
    }).catch(() => undefined)
    const home = { volume: `${installation}-other-home`, path: '/home/berth', size: 1024 ** 2 }
    await run('classy', { home, cluster: { ...fields, storageClass } })
    const claim = await askCluster<{ spec: { storageClassName: string } }>(
      'GET',
      `${namespace}/persistentvolumeclaims/${home.volume}`,
    )
    assert.equal(claim.spec.storageClassName, storageClass)
  })

  test('an account at a registry is a pull secret of the pod, replaced when the password changes', async () => {
    const create = (name: string, password: string) =>
      runtime.create(spec(name), { credentials: () => ({ username: 'puller', password }) })
    const { id } = await create('first', 'one')
    await runtime.start(id)
    const [{ name } = { name: '' }] = (await podOf('first')).spec.imagePullSecrets ?? []
    const stored = async () => {
      const { data, type } = await askCluster<{ data: Record<string, string>; type: string }>(
        'GET',
        `${namespace}/secrets/${name}`,
      )
      assert.equal(type, 'kubernetes.io/dockerconfigjson')
      return Buffer.from(data['.dockerconfigjson'] ?? '', 'base64').toString()
    }
    assert.match(await stored(), /"password":"one"/)
    await create('second', 'two')
    assert.match(await stored(), /"password":"two"/)
    assert.equal((await podOf('second')).spec.imagePullSecrets?.[0]?.name, name)
  })
})

suite('what a cluster does to pods by itself', { concurrency: 2 }, () => {
  test('a pod that is drained from its node is reported as evicted, and can be launched again; one that Berth removes is not', async (t) => {
    const away = new AbortController()
    t.after(() => away.abort())
    const heard: RuntimeEvent[] = []
    runtime.watch((event) => void heard.push(event), away.signal)
    const { id } = await run('drained')
    await eventually(() => assert.ok(heard.some((event) => event.id === id && event.action === 'start')))
    await evict('drained')
    const ends = (of: string) => heard.filter((event) => event.id === of && event.action === 'destroy')
    await eventually(() => assert.deepEqual(ends(id), [{ id, action: 'destroy', isEvicted: true }]), 60_000)
    const again = await run('drained')
    await runtime.remove(again.id)
    await eventually(() => assert.deepEqual(ends(again.id), [{ id: again.id, action: 'destroy' }]))
  })

  test('a pod that its node evicts, because it fills its memory file system, says so', async () => {
    const { id } = await run('evicted', {
      readOnly: true,
      memory: 64 * 1024 ** 2,
      command: ['/bin/sh', '-c', 'dd if=/dev/zero of=/tmp/large bs=1M count=40; exec httpd -f -p 8080'],
    })
    await eventually(async () => {
      const { state, disruption } = await look(runtime, id)
      assert.deepEqual([state, disruption], ['exited', 'evicted'])
    }, 90_000)
  })
})
