import assert from 'node:assert/strict'
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, suite, test } from 'node:test'
import { promisify } from 'node:util'
import type { RuntimeContainer } from '#/engines/runtime.ts'
import { askCluster, clusterImage, makeNamespace, removeNamespaces } from '../support/cluster/cluster-api.ts'
import { openCluster } from '../support/cluster/cluster-rig.ts'
import { isolates, labelNamespace } from '../support/cluster/policies.ts'
import { prober, tries } from '../support/engine/prober.ts'
import { eventually, read } from '../support/engine/runtimes.ts'

/**
 * Part of `npm run test:cluster` where the network plugin enforces NetworkPolicies (`BERTH_TEST_ISOLATES=yes`), on two nodes that
 * are made as tools/cluster makes them: what programs in containers reach under the policies of deploy/kubernetes, tried from inside.
 */

const isOwn = process.env.BERTH_TEST_CLUSTER_IS_OWN !== undefined
const skip = !isolates ? 'the network of this cluster enforces no policies' : !isOwn && 'the cluster belongs to others'
const run = promisify(execFile)

/** In the network namespace of the control plane, which routes what leaves the nodes. */
const outer = { internet: '192.0.2.1', metadata: '169.254.169.254' }
const apiServer = '10.250.255.2:6443'
const kubelet = (node: number) => `10.250.${node}.2:10250`
const words = `secret ${randomBytes(8).toString('hex')}`
/** What those say that speak TLS alone. */
const wantsTls = /HTTPS server|Bad Request/

type Reached = Pick<RuntimeContainer, 'address' | 'port'>

suite('from inside a container, with policies that are enforced', { skip }, () => {
  const strangers = `test-${randomBytes(4).toString('hex')}`
  const endings: (() => unknown)[] = []
  let rig: Awaited<ReturnType<typeof openCluster>>
  let ann: RuntimeContainer, beside: RuntimeContainer, elsewhere: RuntimeContainer
  /** A pod of another program, whom no policy concerns. */
  let stranger: Reached
  /** As clusters have them; it serves on ports 53 and 8080. */
  let nameServer: Reached

  before(async () => {
    rig = await openCluster()
    endings.push(() => rig.close(), await makeNamespace(strangers), await openOuter())
    const on = (name: string, node: string) =>
      rig.run(name, { ...prober(name), cluster: { ...nowhere, nodeSelector: { 'kubernetes.io/hostname': node } } })
    ann = await on('ann', 'kn1')
    beside = await on('beside', 'kn1')
    elsewhere = await on('elsewhere', 'kn2')
    await labelNamespace('kube-system')
    stranger = await runPod(strangers, 'stranger', {}, prober('stranger').command)
    nameServer = await runPod('kube-system', 'name-server', { 'k8s-app': 'kube-dns' }, [
      '/bin/sh',
      '-c',
      `echo I am a name server > /tmp/index.html; httpd -p 53 -h /tmp; exec httpd -f -p 8080 -h /tmp`,
    ])
    endings.push(() => askCluster('DELETE', '/api/v1/namespaces/kube-system/pods/name-server?gracePeriodSeconds=1'))
  })

  after(async () => {
    for (const ending of endings) await ending()
    await removeNamespaces(strangers)
  })

  test('Berth reaches every container', async () => {
    for (const app of [ann, beside, elsewhere]) assert.match(await read(app), /^I am /)
  })

  test('no other container is reached, neither on the same node nor on another', async () => {
    for (const to of [beside, elsewhere]) {
      assertRefused(await tries(ann, `${to.address}:8080`), to.name)
      assertRefused(await tries(to, `${ann.address}:8080`), `from ${to.name}`)
    }
  })

  test('pods of others are not reached, and do not reach a container', async () => {
    assertRefused(await tries(ann, `${stranger.address}:8080`), 'the stranger')
    for (const to of [ann, elsewhere]) assertRefused(await tries(stranger, `${to.address}:8080`), to.name)
  })

  test('the API server, machines of the cluster and the metadata address are reached by a pod of others alone', async () => {
    const metadata = `${outer.metadata}:80`
    assert.match(await tries(stranger, metadata), new RegExp(words))
    assertRefused(await tries(ann, metadata), metadata)
    for (const address of [apiServer, kubelet(1), kubelet(2)]) {
      assert.match(await tries(stranger, address), wantsTls, address)
      // Plugins may let a pod reach its own node.
      if (address !== kubelet(1)) assertRefused(await tries(ann, address), address)
    }
  })

  test('the internet is reached', async () => {
    for (const app of [ann, elsewhere]) assert.match(await tries(app, `${outer.internet}:80`), new RegExp(words))
  })

  test('name servers of the cluster are reached at their port alone', async () => {
    assert.equal(await read(nameServer), 'I am a name server\n')
    for (const app of [ann, elsewhere]) {
      assert.match(await tries(app, `${nameServer.address}:53`), /I am a name server/)
      assertRefused(await tries(app, `${nameServer.address}:8080`), 'another port')
    }
  })
})

const nowhere = {
  nodeSelector: {},
  tolerations: [],
  storageClass: null,
  pullSecrets: [],
  gpuResource: 'nvidia.com/gpu',
}

function assertRefused(text: string, what: string): void {
  assert.doesNotMatch(text, /I am|secret|HTTP/, what)
  assert.match(text, /exit code [1-9]/, what)
}

/** A pod without anything of Berth. @returns where its program listens */
async function runPod(
  namespace: string,
  name: string,
  labels: Readonly<Record<string, string>>,
  command: readonly string[] | null,
): Promise<Reached> {
  const pods = `/api/v1/namespaces/${namespace}/pods`
  const image = await clusterImage()
  // Root may listen at port 53.
  const container = { name: 'app', image, imagePullPolicy: 'Never', args: command, securityContext: { runAsUser: 0 } }
  const spec = { restartPolicy: 'Never', terminationGracePeriodSeconds: 1, containers: [container] }
  // The service account of a namespace is made a moment after it.
  await eventually(() => askCluster('POST', pods, { metadata: { name, labels }, spec }))
  return eventually(async () => {
    const { status } = await askCluster<{ status: { phase: string; podIP?: string } }>('GET', `${pods}/${name}`)
    assert.ok(status.phase === 'Running' && status.podIP)
    return { address: status.podIP, port: 8080 }
  }, 60_000)
}

/** An address of the internet, and the one at which clouds have their metadata; both answer with the secret words. */
async function openOuter(): Promise<() => Promise<void>> {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-outer-'))
  writeFileSync(path.join(folder, 'index.html'), words)
  for (const address of Object.values(outer))
    await run('ip', ['-n', 'kc', 'address', 'add', `${address}/32`, 'dev', 'lo'])
  const servers: ChildProcess[] = Object.values(outer).map((address) =>
    spawn('ip', ['netns', 'exec', 'kc', 'busybox', 'httpd', '-f', '-p', `${address}:80`, '-h', folder], {
      stdio: 'ignore',
    }),
  )
  return async () => {
    for (const server of servers) server.kill('SIGKILL')
    for (const address of Object.values(outer))
      await run('ip', ['-n', 'kc', 'address', 'del', `${address}/32`, 'dev', 'lo'])
    rmSync(folder, { recursive: true })
  }
}
