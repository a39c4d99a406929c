import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import path from 'node:path'
import { after, suite, test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { clusterImage, kubeconfig, makeNamespace } from '../support/cluster/cluster-api.ts'
import { signUpOnCluster } from '../support/cluster/cluster-person.ts'
import { eventually } from '../support/engine/runtimes.ts'
import { runProgram, type Program } from '../support/program.ts'

/** Part of `npm run test:cluster`: parts of the cluster fail while Berth runs; only on the cluster that this machine made. */

const namespace = `test-${randomBytes(4).toString('hex')}`
const skip = process.env.BERTH_TEST_CLUSTER_IS_OWN === undefined && 'the cluster belongs to others'
const fault = async (...words: string[]) =>
  void (await promisify(execFile)(path.resolve(import.meta.dirname, '../../../tools/cluster/fault.sh'), words))

const template = { description: '', image: skip ? 'none' : await clusterImage(), port: 8080, memory: '64m' }
const command = ['/bin/sh', '-c', 'cd /data; [ -f note ] || date +%s > note; exec httpd -f -p 8080']
const templates = { dev: { ...template, display_name: 'Development', home: '/data', command } }

const start = (t: TestContext): Program =>
  runProgram(t, {
    ENGINE: 'kubernetes',
    KUBECONFIG: kubeconfig,
    KUBERNETES_NAMESPACE: namespace,
    CONTAINER_TEMPLATES: JSON.stringify(templates),
  })

/** A user with a container that answers, and what it answers. */
async function launched(berth: Program, email: string) {
  const person = await signUpOnCluster(berth, namespace, email)
  const { status, body } = await person.json('/api/container/launch/dev', 'POST')
  assert.equal(status, 200, JSON.stringify(body))
  const read = async () => {
    const page = await person.page('dev', 'note')
    assert.equal(page.status, 200, page.text.slice(0, 200))
    return page.text
  }
  return { ...person, read, note: await eventually(read) }
}

suite('a cluster that fails', { skip }, async () => {
  const removeNamespace = skip ? undefined : await makeNamespace(namespace)
  after(() => removeNamespace?.())

  test('while the API server is down for a minute nothing is forgotten, and the same pod answers afterwards', async (t) => {
    const berth = start(t)
    const ann = await launched(berth, 'ann@x.org')
    const [pod] = await ann.pods('dev')
    await fault('stop-api')
    t.after(() => fault('start-api'))
    await eventually(async () => assert.equal((await ann.entry('dev'))?.status, 'error'), 30_000)
    const end = performance.now() + 60_000
    while (performance.now() < end) {
      const { status } = await ann.page('dev', 'note')
      assert.ok([200, 503].includes(status), String(status))
      assert.equal((await ann.entry('dev'))?.status, 'error')
      await sleep(5_000)
    }
    assert.equal((await ann.json('/api/container/launch/dev', 'POST')).status, 500)
    await fault('start-api')
    await eventually(async () => assert.equal(await ann.read(), ann.note), 60_000)
    assert.deepEqual(
      (await ann.pods('dev')).map(({ uid }) => uid),
      [pod?.uid],
    )
    assert.equal((await ann.entry('dev'))?.status, 'running')
  })

  test('a pod answers while its kubelet is dead; once its node counts as lost it is not replaced before that confirms its end', async (t) => {
    const berth = start(t)
    const bob = await launched(berth, 'bob@x.org')
    const [pod] = await bob.pods('dev')
    await fault('stop-kubelet', pod?.node ?? '')
    t.after(() => fault('start-kubelet', pod?.node ?? ''))
    assert.equal(await bob.read(), bob.note)
    await eventually(async () => assert.equal((await bob.entry('dev'))?.status, 'removing'), 90_000)
    const asked = performance.now()
    const refused = await bob.json('/api/container/launch/dev', 'POST')
    assert.deepEqual([refused.status, refused.body.reason], [500, 'node-lost'])
    assert.match(String(refused.body.error), /^The machine that your container ran on does not answer/)
    assert.ok(performance.now() - asked < 90_000)
    assert.equal((await bob.told('dev'))?.status, 'node-lost')
    assert.deepEqual(
      (await bob.pods('dev')).map(({ uid }) => uid),
      [pod?.uid],
    )
    await fault('start-kubelet', pod?.node ?? '')
    await eventually(async () => assert.equal(await bob.read(), bob.note), 120_000)
    const now = await bob.pods('dev')
    assert.equal(now.length, 1)
    assert.notEqual(now[0]?.uid, pod?.uid)
  })
})
