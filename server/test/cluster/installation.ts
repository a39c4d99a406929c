import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, suite, test, type TestContext } from 'node:test'
import { askCluster, clusterImage, kubeconfig, makeNamespace } from '../support/cluster/cluster-api.ts'
import { signUpOnCluster } from '../support/cluster/cluster-person.ts'
import { eventually } from '../support/engine/runtimes.ts'
import { runProgram, type Program } from '../support/program.ts'

/** Part of `npm run test:cluster`: Berth as an operator runs it, with `ENGINE=kubernetes`. */

const namespace = `test-${randomBytes(4).toString('hex')}`
const removeNamespace = await makeNamespace(namespace)
const image = await clusterImage()

const template = { description: '', image, port: 8080, memory: '64m' }
const templates = {
  dev: {
    ...template,
    display_name: 'Development',
    home: '/data',
    command: ['/bin/sh', '-c', 'cd /data; [ -f note ] || date > note; exec httpd -f -p 8080'],
  },
  brief: { ...template, display_name: 'Brief', home: null, idle_pause: 2 },
  huge: { ...template, display_name: 'Huge', memory: 2 ** 45, home: null },
  missing: { ...template, display_name: 'Missing', image: '127.0.0.1:1/berth/nothing:1', home: null },
}

function start(t: TestContext): Program {
  return runProgram(t, {
    ENGINE: 'kubernetes',
    KUBECONFIG: kubeconfig,
    KUBERNETES_NAMESPACE: namespace,
    CONTAINER_TEMPLATES: JSON.stringify(templates),
  })
}

suite('Berth on a cluster', () => {
  after(removeNamespace)

  test('a user signs up, launches, opens the page, stops, and finds the home at the next visit', async (t) => {
    const berth = start(t)
    const ann = await signUpOnCluster(berth, namespace, 'ann@x.org')
    const launched = await ann.json('/api/container/launch/dev', 'POST')
    assert.equal(launched.status, 200, JSON.stringify(launched.body))
    const [pod] = await ann.pods('dev')
    assert.equal((await ann.entry('dev'))?.container_id, pod?.uid)
    assert.equal((await ann.entry('dev'))?.status, 'running')
    const note = await eventually(async () => {
      const { status, text } = await ann.page('dev', 'note')
      assert.equal(status, 200, text)
      return text
    })

    const stopped = await ann.json('/api/container/stop/dev', 'POST')
    assert.equal(stopped.status, 200, JSON.stringify(stopped.body))
    assert.deepEqual(await ann.pods('dev'), [])
    assert.equal((await ann.entry('dev'))?.status, 'exited')

    assert.equal(
      (await ann.page('dev', 'note')).status,
      503,
      'no request of an open tab starts what was stopped by request',
    )
    assert.equal((await ann.json('/api/container/launch/dev', 'POST')).status, 200)
    await eventually(async () => assert.deepEqual(await ann.page('dev', 'note'), { status: 200, text: note }), 60_000)
    assert.equal((await ann.pods('dev')).length, 1)
    assert.equal((await ann.entry('dev'))?.status, 'running')
    await eventually(() => assert.match(berth.output(), /has idle_pause, and this engine pauses nothing/))
  })

  test('a pod that is deleted by others comes back at the next visit, with its home', async (t) => {
    const berth = start(t)
    const bob = await signUpOnCluster(berth, namespace, 'bob@x.org')
    assert.equal((await bob.json('/api/container/launch/dev', 'POST')).status, 200)
    const note = await eventually(async () => {
      const { status, text } = await bob.page('dev', 'note')
      assert.equal(status, 200, text)
      return text
    })
    const [pod] = await bob.pods('dev')
    await askCluster('DELETE', `/api/v1/namespaces/${namespace}/pods/${pod?.name}?gracePeriodSeconds=1`)
    await eventually(async () => assert.deepEqual(await bob.pods('dev'), []), 30_000)
    await eventually(async () => assert.equal((await bob.entry('dev'))?.status, 'exited'))
    await eventually(async () => {
      const told = await bob.told('dev')
      assert.equal(told?.status, 'evicted')
      assert.match(told.message ?? '', /^The cluster ended your container/)
    })
    await eventually(async () => assert.deepEqual(await bob.page('dev', 'note'), { status: 200, text: note }), 60_000)
    assert.notEqual((await bob.pods('dev'))[0]?.uid, pod?.uid)
  })

  test('a container without traffic is stopped after idle_pause', async (t) => {
    const berth = start(t)
    const cat = await signUpOnCluster(berth, namespace, 'cat@x.org')
    assert.equal((await cat.json('/api/container/launch/brief', 'POST')).status, 200)
    await eventually(async () => {
      assert.deepEqual(await cat.pods('brief'), [])
    }, 40_000)
    assert.equal((await cat.entry('brief'))?.status, 'exited')
  })

  test('an image that cannot be had fails the launch in words, and leaves no pod', async (t) => {
    const berth = start(t)
    const dan = await signUpOnCluster(berth, namespace, 'dan@x.org')
    const launched = await dan.json('/api/container/launch/missing', 'POST')
    assert.equal(launched.status, 500)
    assert.match(String(launched.body.error), /image/i)
    await eventually(async () => {
      assert.deepEqual(await dan.pods('missing'), [])
    })
  })

  test('a launch that waits for a node with room can be stopped, and leaves no pod', async (t) => {
    const berth = start(t)
    const fay = await signUpOnCluster(berth, namespace, 'fay@x.org')
    const launching = fay.json('/api/container/launch/huge', 'POST')
    await eventually(async () => assert.equal((await fay.pods('huge')).length, 1))
    const stopped = await fay.json('/api/container/stop/huge', 'POST')
    assert.equal(stopped.status, 200, JSON.stringify(stopped.body))
    assert.equal((await launching).body.reason, 'stopped')
    await eventually(async () => assert.deepEqual(await fay.pods('huge'), []))
  })

  test('Berth that starts again adopts what runs', async (t) => {
    const first = start(t)
    const eve = await signUpOnCluster(first, namespace, 'eve@x.org')
    assert.equal((await eve.json('/api/container/launch/dev', 'POST')).status, 200)
    const [pod] = await eve.pods('dev')
    process.kill(first.api(), 'SIGKILL')
    await eventually(async () => assert.equal((await eve.page('dev', 'note')).status, 200), 60_000)
    await eventually(async () => assert.equal((await eve.entry('dev'))?.status, 'running'), 30_000)
    assert.equal((await eve.pods('dev'))[0]?.uid, pod?.uid)
  })
})
