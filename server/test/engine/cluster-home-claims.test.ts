import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { V1Pod } from '@kubernetes/client-node'
import { createPod } from '#/engines/kubernetes/container-create.ts'
import { awaitStart } from '#/engines/kubernetes/container-lifecycle.ts'
import { readTemplate } from '#/templates/read-templates.ts'
import { TemplateSources } from '#/templates/template-sources.ts'
import { openStandIn, podList, reply, storedPod, type Asked } from '../support/cluster/stand-in-api.ts'
import { plainSpec } from '../support/engine/runtimes.ts'

/** Homes in a claim that the pods of all people have, and claims that a storage class does not provide; by a stand-in. */

const spec = { ...plainSpec, name: 'berth-abcde-ann-dev', image: 'web' }
const fields = { image: 'web', home: '/home/ann', home_source: { claim: 'class-homes', sub_path: 'homes/{slug}' } }

function mountsFor(slug: string) {
  const { template, problems } = readTemplate('dev', fields)
  assert.ok(template, problems.join())
  return new TemplateSources({ secretsDir: null, mountRoots: [] }).mountsOf(template, { userId: 7, slug })
}

const isClaim = ({ path }: Asked) => path.includes('/persistentvolumeclaims/')

test('a pod has the folder of its person in the claim as its home, and nothing else of the claim', async (t) => {
  const { cluster, asked } = await openStandIn(t, (one, response) =>
    isClaim(one)
      ? reply(response, 200, { metadata: { name: 'class-homes' }, spec: { accessModes: ['ReadWriteMany'] } })
      : reply(response, 201, storedPod(spec.name, 'uid-1')),
  )
  await createPod(cluster, { ...spec, mounts: mountsFor('ann') })
  const pod = asked.find(({ method, path }) => method === 'POST' && path.endsWith('/pods'))?.body as V1Pod
  const claims = pod.spec?.volumes?.filter(({ persistentVolumeClaim: claim }) => claim?.claimName === 'class-homes')
  assert.equal(claims?.length, 1)
  const mounts = pod.spec?.containers[0]?.volumeMounts?.filter(({ name }) => name === claims?.[0]?.name)
  assert.deepEqual(
    mounts?.map(({ mountPath, subPath, readOnly }) => [mountPath, subPath, readOnly]),
    [['/home/ann', 'homes/ann', false]],
  )
  assert.ok(!asked.some(({ method, path }) => method === 'POST' && path.endsWith('/persistentvolumeclaims')))
})

test('a claim of homes without ReadWriteMany is refused by its name, and no pod is made', async (t) => {
  const { cluster, asked } = await openStandIn(t, (_, response) =>
    reply(response, 200, { metadata: { name: 'class-homes' }, spec: { accessModes: ['ReadWriteOnce'] } }),
  )
  await assert.rejects(createPod(cluster, { ...spec, mounts: mountsFor('ann') }), {
    kind: 'failed',
    message: /the claim class-homes of home_source has no ReadWriteMany/,
  })
  assert.deepEqual(
    asked.map(({ method }) => method),
    ['GET'],
  )
})

/** A pod without a node, because its claim is not bound. */
async function startWith(t: Parameters<typeof openStandIn>[0], claim: object) {
  const pod = {
    ...storedPod(spec.name, 'uid-1'),
    spec: { volumes: [{ persistentVolumeClaim: { claimName: 'shared-home' } }] },
    status: { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', message: 'unbound claims' }] },
  }
  const answers = (one: Asked) => {
    if (isClaim(one)) return { metadata: { name: 'shared-home', uid: 'uid-2' }, spec: claim }
    if (one.path.endsWith('/events'))
      return podList('1', { reason: 'ProvisioningFailed', message: 'Only support ReadWriteOnce access mode' })
    return one.path.endsWith('/pods') ? podList('1', pod) : pod
  }
  const { cluster } = await openStandIn(t, (one, response) => reply(response, 200, answers(one)), { scheduling: 0 })
  return awaitStart(cluster, 'uid-1')
}

test('a start that waits for a shared claim names it, its storage class and the words of the provisioner', async (t) => {
  const claim = { accessModes: ['ReadWriteMany'], storageClassName: 'local-path' }
  await assert.rejects(startWith(t, claim), (error: Error) => {
    assert.match(
      error.message,
      /its claim shared-home asks for ReadWriteMany, .* storage class local-path has not provided it: name one that offers/,
    )
    assert.equal((error.cause as Error).message, 'Only support ReadWriteOnce access mode')
    return true
  })
})

test('a start without room on a node says that, where its claims are there or belong to one pod', async (t) => {
  for (const claim of [{ accessModes: ['ReadWriteMany'], volumeName: 'pv-1' }, { accessModes: ['ReadWriteOnce'] }])
    await assert.rejects(startWith(t, claim), { kind: 'full', message: /no node has room for it/ })
})
