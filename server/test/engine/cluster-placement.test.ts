import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { V1Pod } from '@kubernetes/client-node'
import { createPod } from '#/engines/kubernetes/container-create.ts'
import { openStandIn, reply, status, storedPod, type Asked } from '../support/cluster/stand-in-api.ts'
import { eventually, plainSpec } from '../support/engine/runtimes.ts'

/** What the field `kubernetes` and `registry_auth` of a template make of a pod; npm run test:cluster uses a real cluster. */

const spec = { ...plainSpec, name: 'berth-abcde-ann-dev', image: 'registry.example.org/web:1' }
const home = { volume: 'berth-abcde-home', path: '/home/berth', size: null }
const cluster = {
  nodeSelector: { disk: 'ssd' },
  tolerations: [
    { key: 'gpu', operator: 'Equal', value: 'yes', effect: 'NoExecute', seconds: 60 },
    { key: '', operator: 'Exists', value: '', effect: '', seconds: null },
  ],
  storageClass: 'fast',
  pullSecrets: ['theirs'],
  gpuResource: 'amd.com/gpu',
} as const
const made = (asked: readonly Asked[], kind: string) =>
  asked.filter(({ method, path }) => method === 'POST' && path.endsWith(kind)).map(({ body }) => body)
/** Whether it is about the Secret of an account at a registry. */
const isAccount = ({ body }: Asked) =>
  (body as { metadata?: { name: string } } | undefined)?.metadata?.name.includes('-registry-') ?? false

test('a pod has the nodes, tolerations, pull secrets and GPUs of its template, and its home the storage class', async (t) => {
  const opened = await openStandIn(t, ({ method, path }, response) => {
    if (method === 'GET') return reply(response, 404, status(404, 'NotFound'))
    return reply(response, 201, storedPod(spec.name, path.endsWith('/pods') ? 'uid-1' : 'uid-2'))
  })
  await createPod(opened.cluster, { ...spec, home, gpus: 2, cluster })
  const [pod] = made(opened.asked, '/pods') as V1Pod[]
  assert.deepEqual(pod?.spec?.nodeSelector, { disk: 'ssd' })
  assert.deepEqual(pod?.spec?.tolerations, [
    { operator: 'Equal', key: 'gpu', value: 'yes', effect: 'NoExecute', tolerationSeconds: 60 },
    { operator: 'Exists' },
  ])
  assert.deepEqual(pod?.spec?.imagePullSecrets, [{ name: 'theirs' }])
  assert.equal(pod?.spec?.containers[0]?.resources?.limits?.['amd.com/gpu'], '2')
  const [claim] = made(opened.asked, '/persistentvolumeclaims') as { spec: { storageClassName?: string } }[]
  assert.equal(claim?.spec.storageClassName, 'fast')
})

test('what a pod writes outside of its volumes is limited by its template, of which the node reserves a tenth', async (t) => {
  const { cluster: context, asked } = await openStandIn(t, (_, response) =>
    reply(response, 201, storedPod(spec.name, 'uid-1')),
  )
  await createPod(context, { ...spec, layerSize: 2_000_000_000 })
  await createPod(context, spec)
  const [limited, free] = (made(asked, '/pods') as V1Pod[]).map((pod) => pod.spec?.containers[0]?.resources)
  const name = 'ephemeral-storage'
  assert.deepEqual([limited?.limits?.[name], limited?.requests?.[name]], ['2000000000', '200000000'])
  assert.deepEqual([free?.limits?.[name], free?.requests?.[name]], [undefined, undefined])
})

test('a template without the field leaves all of it to the cluster', async (t) => {
  const { cluster: context, asked } = await openStandIn(t, (_, response) =>
    reply(response, 201, storedPod(spec.name, 'uid-1')),
  )
  await createPod(context, { ...spec, gpus: 1 })
  const [pod] = made(asked, '/pods') as V1Pod[]
  for (const field of ['nodeSelector', 'tolerations', 'imagePullSecrets'] as const)
    assert.ok(!(field in (pod?.spec ?? {})), field)
  assert.equal(pod?.spec?.containers[0]?.resources?.limits?.['nvidia.com/gpu'], '1')
})

test('an account at a registry is a Secret that is there before the pod, and is replaced when its password changes', async (t) => {
  let isThere = false
  const { cluster: context, asked } = await openStandIn(t, ({ method, path }, response) => {
    if (method === 'PUT' && !isThere) return reply(response, 404, status(404, 'NotFound'))
    if (path.endsWith('/secrets')) isThere = true
    return reply(response, 201, storedPod(spec.name, 'uid-1'))
  })
  const account = (password: string) => ({ credentials: () => ({ username: 'puller', password }) })
  await createPod(context, spec, account('hunter-1'))
  // The environments of pods are other Secrets.
  const ofPodOrAccount = asked.filter((one) => one.path.endsWith('/pods') || isAccount(one))
  const order = ofPodOrAccount.map(({ method, path }) => `${method} ${path.split('/').slice(5, 6).join()}`)
  assert.deepEqual(order.slice(0, 3), ['PUT secrets', 'POST secrets', 'POST pods'])
  const [stored] = made(asked, '/secrets') as { type: string; stringData: Record<string, string> }[]
  const { metadata } = stored as unknown as { metadata: { name: string } }
  assert.equal(stored?.type, 'kubernetes.io/dockerconfigjson')
  assert.deepEqual(JSON.parse(stored?.stringData['.dockerconfigjson'] ?? ''), {
    auths: {
      'registry.example.org': {
        username: 'puller',
        password: 'hunter-1',
        auth: Buffer.from('puller:hunter-1').toString('base64'),
      },
    },
  })
  const [pod] = made(asked, '/pods') as V1Pod[]
  assert.deepEqual(pod?.spec?.imagePullSecrets, [{ name: metadata.name }])
  assert.ok(!JSON.stringify(pod).includes('hunter-1'), 'no password in a pod')

  await createPod(context, spec, account('hunter-2'))
  const replaced = asked.findLast((one) => one.method === 'PUT' && isAccount(one))
  assert.ok(replaced?.path.endsWith(`/secrets/${metadata.name}`))
  assert.match(JSON.stringify(replaced?.body), /hunter-2/)
})

// It stayed in the namespace, with a password, after its template was gone.
test('an account at a registry goes with the last pod that has it, and not while another pod is being created', async (t) => {
  const mayBeMade = Promise.withResolvers<void>()
  const { cluster: context, asked } = await openStandIn(t, async ({ method, path, body }, response) => {
    const { name } = (body as { metadata: { name: string } }).metadata
    if (method === 'POST' && path.endsWith('/pods') && name === 'slow') await mayBeMade.promise
    return reply(response, 201, storedPod(name, `uid-of-${name}`))
  })
  const credentials = () => ({ username: 'puller', password: 'hunter-1' })
  const create = (name: string) => createPod(context, { ...spec, name }, { credentials })
  const owners = () =>
    asked
      .filter((one) => one.method === 'PUT' && isAccount(one))
      .map(({ body }) => (body as { metadata: { ownerReferences: { uid: string }[] } }).metadata.ownerReferences)
      .map((references) => references.map(({ uid }) => uid))
  const slow = create('slow')
  await eventually(() => assert.equal(owners().length, 1))
  await create('quick')
  assert.deepEqual(owners(), [[], []])
  mayBeMade.resolve()
  await slow
  await eventually(() => assert.deepEqual(owners().slice(2), [['uid-of-quick', 'uid-of-slow']]))
  context.index.noteGone('uid-of-quick')
  await create('third')
  await eventually(() => assert.deepEqual(owners().slice(3), [[], ['uid-of-slow', 'uid-of-third']]))
})
