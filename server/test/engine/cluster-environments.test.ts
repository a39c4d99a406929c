import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { test, type TestContext } from 'node:test'
import { createPod } from '#/engines/kubernetes/container-create.ts'
import { awaitStart } from '#/engines/kubernetes/container-lifecycle.ts'
import { openStandIn, reply, status, storedPod, type Asked } from '../support/cluster/stand-in-api.ts'
import { eventually, ofKind, plainSpec } from '../support/engine/runtimes.ts'

/** The order of a pod and the Secret with its environment, and who owns it; `npm run test:cluster` uses a real cluster. */

interface Secret {
  readonly metadata: { readonly name: string; readonly ownerReferences?: readonly { kind: string; uid: string }[] }
  readonly stringData?: Readonly<Record<string, string>>
}
interface Faults {
  /** Answer of a request of an environment or a pod: status and reason; undefined: it is done. */
  refuse?: (asked: Asked) => [number, string] | undefined
}

const spec = { ...plainSpec, image: 'registry.example.org/web:1', env: { KEY: 'value' } }
const nameOf = (asked: Asked) => (asked.body as Secret).metadata.name
const isAnchor = (asked: Asked) => nameOf(asked) === 'berth-abcde-environments'

/**
 * A cluster that stores Secrets, and removes at once what is given to a pod that never was, as its garbage collector does.
 * The first pod has been created, so that there is an anchor.
 */
async function openCluster(t: TestContext, faults: Faults = {}) {
  const secrets = new Map<string, Secret & { uid: string }>()
  let anchors = 0
  const { cluster, asked } = await openStandIn(t, (one, response) => {
    const { method, path } = one
    const refused = faults.refuse?.(one)
    if (refused) return reply(response, refused[0], status(...refused))
    if (method === 'DELETE') return reply(response, 200, {})
    if (method === 'GET') return reply(response, 200, kubelet(path.split('/').at(-1) ?? ''))
    if (path.endsWith('/pods')) return reply(response, 201, storedPod(nameOf(one), `uid-of-${nameOf(one)}`))
    const [name, secret] = [nameOf(one), one.body as Secret]
    if (method === 'POST' && secrets.has(name)) return reply(response, 409, status(409, 'AlreadyExists'))
    if (method === 'PUT' && !secrets.has(name)) return reply(response, 404, status(404, 'NotFound'))
    const uid = secrets.get(name)?.uid ?? `secret-${++anchors}`
    const isGone = secret.metadata.ownerReferences?.some((owner) => owner.uid.startsWith('00000000-'))
    if (isGone) secrets.delete(name)
    else secrets.set(name, { ...secret, uid })
    return reply(response, method === 'POST' ? 201 : 200, { ...secret, metadata: { ...secret.metadata, uid } })
  })
  /** The pod as its kubelet has it: it runs as soon as its environment is there. */
  const kubelet = (pod: string) => {
    const secret = [...secrets.keys()].find((name) => name.startsWith(`${pod}-`))
    const message = `secret "${pod}-1234abcd" not found`
    const waiting = { state: { waiting: { reason: 'CreateContainerConfigError', message } } }
    const stored = storedPod(pod, `uid-of-${pod}`, { running: secret !== undefined })
    return secret ? stored : { ...stored, status: { phase: 'Pending', containerStatuses: [waiting] } }
  }
  const create = (name: string, signal?: AbortSignal) =>
    createPod(cluster, { ...spec, name: `berth-abcde-${name}` }, signal && { signal })
  const ownersOf = (pod: string) =>
    [...secrets.values()]
      .filter(({ metadata }) => metadata.name.startsWith(`berth-abcde-${pod}-`))
      .map(({ metadata }) => metadata.ownerReferences?.map(({ kind, uid }) => `${kind} ${uid}`).join())
  await create('first')
  if (!faults.refuse) await eventually(() => assert.ok(cluster.anchor.owner(cluster)))
  asked.length = 0
  return { cluster, asked, secrets, create, ownersOf }
}

const order = (asked: readonly Asked[]) =>
  asked.map((one) => `${one.method} ${one.path.includes('/secrets') ? 'secret' : 'pod'}`)

// Fifty launches at once: the kubelet of one asked for the Secret before it was there, and again only 8 s later.
test('the environment is there before its pod, which owns it in the end', async (t) => {
  const { asked, create, ownersOf } = await openCluster(t)
  await create('dev')
  assert.deepEqual(order(asked), ['POST secret', 'POST pod', 'PUT secret'])
  const [made, pod, owned] = asked.map(({ body }) => body as Secret)
  assert.equal(made?.stringData?.KEY, 'value')
  assert.equal(made?.metadata.ownerReferences?.[0]?.kind, 'Secret')
  assert.ok(JSON.stringify(pod).includes(`"${made?.metadata.name}"`), 'the pod reads it')
  // It is immutable: the API server refuses other data, and also none.
  assert.deepEqual(owned?.stringData, made?.stringData)
  assert.deepEqual(ownersOf('dev'), ['Pod uid-of-berth-abcde-dev'])
})

test('each run has an environment of its own name, so the end of the last one does not take it along', async (t) => {
  const { asked, create } = await openCluster(t)
  await create('dev')
  await create('dev')
  const names = asked.filter(({ method, path }) => method === 'POST' && path.endsWith('/secrets')).map(nameOf)
  assert.equal(new Set(names).size, 2)
})

test('without an anchor the environment comes after its pod, and the anchor is made for the next', async (t) => {
  const { asked, secrets, create, ownersOf, cluster } = await openCluster(t)
  cluster.anchor.lost(cluster.anchor.owner(cluster) ?? assert.fail())
  await create('dev')
  assert.deepEqual(order(asked.filter((one) => !isAnchor(one))), ['POST pod', 'POST secret'])
  assert.deepEqual(ownersOf('dev'), ['Pod uid-of-berth-abcde-dev'])
  await eventually(() => assert.ok(cluster.anchor.owner(cluster)))
  assert.equal(cluster.anchor.owner(cluster)?.uid, secrets.get('berth-abcde-environments')?.uid)
})

test('what a crash left between an environment and its pod goes with the anchor of that process', async (t) => {
  const faults: Faults = {}
  const { cluster, asked, secrets, create } = await openCluster(t, faults)
  const before = cluster.anchor.owner(cluster)
  const other = Object.assign(Object.create(Object.getPrototypeOf(cluster) as object), cluster) as typeof cluster
  Object.assign(other, { anchor: new (cluster.anchor.constructor as new () => typeof cluster.anchor)() })
  await createPod(other, { ...spec, name: 'berth-abcde-later' })
  await eventually(() => assert.ok(other.anchor.owner(other)))
  assert.notEqual(other.anchor.owner(other)?.uid, before?.uid)
  const released = asked.find((one) => one.method === 'PUT' && isAnchor(one))?.body as Secret
  assert.match(released.metadata.ownerReferences?.[0]?.uid ?? '', /^00000000-/)
  assert.equal(secrets.get('berth-abcde-environments')?.stringData, undefined, 'it holds nothing')
  // The process before goes on with an anchor that is gone: the cluster removes what it owns, and the pod gets it anew.
  faults.refuse = (one) => {
    if (one.method !== 'PUT' || isAnchor(one) || !secrets.delete(nameOf(one))) return undefined
    return [404, 'NotFound']
  }
  asked.length = 0
  await create('dev')
  assert.deepEqual(order(asked), ['POST secret', 'POST pod', 'PUT secret', 'POST secret'])
  assert.equal((asked.at(-1)?.body as Secret).metadata.ownerReferences?.[0]?.uid, 'uid-of-berth-abcde-dev')
})

test('after a pod that was refused its environment is removed, and so is one whose creation was cut short', async (t) => {
  const faults: Faults = {}
  const { asked, create, ownersOf } = await openCluster(t, faults)
  faults.refuse = ({ path }) => (path.endsWith('/pods') ? [403, 'exceeded quota: few'] : undefined)
  await assert.rejects(create('dev'), ofKind('full'))
  await eventually(() => assert.deepEqual(order(asked), ['POST secret', 'POST pod', 'PUT secret']))
  await eventually(() => assert.deepEqual(ownersOf('dev'), []))
  faults.refuse = ({ path, method }) => (path.endsWith('/secrets') && method === 'POST' ? [500, 'Internal'] : undefined)
  asked.length = 0
  await assert.rejects(create('dev'), ofKind('unreachable'))
  await eventually(() => assert.deepEqual(order(asked), ['POST secret', 'PUT secret']))
})

test('a cluster that lets no owner be changed gets each environment after its pod', async (t) => {
  const { cluster, asked, create, ownersOf } = await openCluster(t, {
    refuse: ({ method }) => (method === 'PUT' ? [403, 'Forbidden'] : undefined),
  })
  await eventually(() => assert.equal(asked.length, 0))
  await sleep(100)
  await create('dev')
  assert.equal(cluster.anchor.owner(cluster), undefined)
  assert.deepEqual(order(asked.filter((one) => !isAnchor(one))), ['POST pod', 'POST secret'])
  assert.deepEqual(ownersOf('dev'), ['Pod uid-of-berth-abcde-dev'])
})

// Every launch until the next restart had its environment after its pod, and waited for the kubelet.
test('a quota of Secrets that refuses the anchor is none of owners: the next creation makes one', async (t) => {
  let refusals = 0
  const { cluster, create, ownersOf } = await openCluster(t, {
    refuse: (one) =>
      one.method === 'POST' && one.path.endsWith('/secrets') && isAnchor(one) && refusals++ === 0
        ? [403, 'secrets is forbidden: exceeded quota: few']
        : undefined,
  })
  await eventually(() => assert.equal(refusals, 1))
  // The answer is on its way.
  await sleep(100)
  await eventually(() => assert.ok(cluster.anchor.owner(cluster)))
  await create('dev')
  assert.deepEqual(ownersOf('dev'), ['Pod uid-of-berth-abcde-dev'])
})

test('an API server that takes the pod and is busy then is asked again to make the pod the owner', async (t) => {
  const faults: Faults = {}
  const { create, ownersOf } = await openCluster(t, faults)
  let refusals = 0
  faults.refuse = ({ method }) => (method === 'PUT' && refusals++ < 2 ? [429, 'TooManyRequests'] : undefined)
  await create('dev')
  assert.equal(refusals, 3)
  assert.deepEqual(ownersOf('dev'), ['Pod uid-of-berth-abcde-dev'])
})

// A garbage collector that had read the Secret before its owner changed removed it with the anchor: the launch failed after a minute.
test('an environment that goes before its kubelet has asked for it is stored again, and its pod starts', async (t) => {
  const { cluster, asked, secrets, create, ownersOf } = await openCluster(t)
  const { id } = await create('dev')
  const [made] = asked.map(({ body }) => body as Secret)
  for (const name of secrets.keys()) if (name.startsWith('berth-abcde-dev-')) secrets.delete(name)
  await awaitStart(cluster, id)
  assert.deepEqual(ownersOf('dev'), [`Pod ${id}`])
  const again = secrets.get(made?.metadata.name ?? '')
  assert.deepEqual(again?.stringData, made?.stringData)
  assert.equal(cluster.anchor.owner(cluster), undefined, 'the next environment does without the anchor that went')
})
