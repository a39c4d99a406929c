import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { suite, test, type TestContext } from 'node:test'
import type { V1Pod } from '@kubernetes/client-node'
import { tryIsolation } from '#/engines/kubernetes/isolation-trial.ts'
import { readTemplate } from '#/templates/read-templates.ts'
import type { Template } from '#/templates/template.ts'
import { openStandIn, reply } from '../support/cluster/stand-in-api.ts'

/** The trial of NetworkPolicies, with faults of time; `npm run test:cluster` runs it on a real cluster. */

/** The programs of the two pods listen at these addresses. */
const addresses = { open: '127.0.0.2', closed: '127.0.0.3' } as const
type Kind = keyof typeof addresses
/** Of the documentation range: no address of this machine. */
const otherMachine = '192.0.2.1'
/** How long a trial waits for a policy, in ms. */
const enforcement = 6_000

interface Network {
  /** How long after its start a program listens, in ms. */
  readonly listensAfter?: Partial<Record<Kind, number>>
  /** From when on, in ms after it listens, and for how long connections to the closed pod are refused. */
  readonly closes?: { readonly after: number; readonly for: number }
  /** Of the node with the pods. */
  readonly node?: string
  readonly waitsFor?: number
}

/** A cluster with the pods of a trial, whose kubelet says of each whether its program listens. @returns the trial */
async function openNetwork(t: TestContext, network: Network, fields = {}) {
  const { listensAfter = {}, closes, node = otherMachine, waitsFor = enforcement } = network
  const port = await freePort()
  const [pods, ready] = [new Map<string, Kind>(), new Set<string>()]
  const start = async (name: string, kind: Kind) => {
    pods.set(name, kind)
    await delay(listensAfter[kind] ?? 0)
    let server = await listen(addresses[kind], port)
    t.after(() => server.close())
    ready.add(name)
    if (kind === 'open' || !closes) return
    await delay(closes.after)
    server.close()
    await delay(closes.for)
    server = await listen(addresses[kind], port)
  }
  const { cluster, asked } = await openStandIn(
    t,
    ({ method, path, body }, response) => {
      const name = path.split('/').at(-1) ?? ''
      if (method === 'GET' && name === 'pods') return reply(response, 200, { metadata: {}, items: [] })
      if (method === 'GET') return reply(response, 200, pod(name, pods.get(name) ?? 'open', ready.has(name), node))
      if (method !== 'POST') return reply(response, 200, {})
      const { metadata } = body as { metadata: { name: string; labels: Record<string, string> } }
      void start(metadata.name, metadata.labels['berth.trial'] as Kind)
      return reply(response, 201, { metadata: { name: metadata.name, uid: metadata.name } })
    },
    { enforcement: waitsFor },
  )
  const { template } = readTemplate('dev', { image: 'web:1', port, ...fields }) as { template: Template }
  return { port, asked, trial: () => tryIsolation(cluster, template, AbortSignal.timeout(60_000)) }
}

const pod = (name: string, kind: Kind, isReady: boolean, hostIP: string) => ({
  metadata: { name, uid: name },
  status: {
    phase: 'Running',
    hostIP,
    podIP: addresses[kind],
    conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }],
    containerStatuses: [{ state: { running: {} } }],
  },
})

const delay = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms).unref())

async function listen(host: string, port: number): Promise<Server> {
  const server = createServer((socket) => socket.destroy()).listen(port, host)
  server.unref()
  await once(server, 'listening')
  return server
}

async function freePort(): Promise<number> {
  const server = await listen('127.0.0.1', 0)
  const { port } = server.address() as { port: number }
  server.close()
  return port
}

suite('the trial of NetworkPolicies', { concurrency: true }, () => {
  test('a program that listens late in the pod that should be closed is not taken for a policy', async (t) => {
    const { trial } = await openNetwork(t, { listensAfter: { closed: 3_000 } })
    const report = await trial()
    assert.ok(!report.areSet)
    assert.match(report.reason, /was reached/)
  })

  // A template with a home made every trial fail, and so no start of such an installation had a result.
  test('a template is tried with an empty folder as its home, on the nodes that it names, and without what is for users', async (t) => {
    const { trial, asked, port } = await openNetwork(
      t,
      { closes: { after: 0, for: 60_000 } },
      {
        home: '/data',
        gpus: 1,
        mounts: [{ source: { volume: 'shared' }, target: '/shared' }],
        kubernetes: { node_selector: { disk: 'ssd' }, pull_secrets: ['registry'] },
      },
    )
    assert.deepEqual(await trial(), { areSet: true })
    const [made] = asked.filter(({ method }) => method === 'POST').map(({ body }) => body as V1Pod)
    const { containers, volumes, nodeSelector, imagePullSecrets } = made?.spec ?? { containers: [] }
    assert.deepEqual(volumes, [{ name: 'home', emptyDir: {} }])
    assert.deepEqual(containers[0]?.volumeMounts, [{ name: 'home', mountPath: '/data' }])
    assert.deepEqual(containers[0]?.env, [{ name: 'PORT', value: String(port) }])
    assert.deepEqual(Object.keys(containers[0]?.resources?.limits ?? {}), ['cpu', 'memory'])
    assert.deepEqual([nodeSelector, imagePullSecrets], [{ disk: 'ssd' }, [{ name: 'registry' }]])
  })

  test('a pod that is closed for a moment is not taken for a policy', async (t) => {
    const { trial } = await openNetwork(t, { closes: { after: 500, for: 1_200 } })
    assert.equal((await trial()).areSet, false)
  })

  test('a network plugin that needs some seconds for a new pod enforces policies', async (t) => {
    const { trial } = await openNetwork(t, { closes: { after: 2_500, for: 60_000 }, waitsFor: 12_000 })
    assert.deepEqual(await trial(), { areSet: true })
  })

  test('on the node of the pod, which policies always let through, it stays unknown', async (t) => {
    const { trial } = await openNetwork(t, { node: '127.0.0.1' })
    await assert.rejects(trial(), /on the node of the pod/)
  })
})
