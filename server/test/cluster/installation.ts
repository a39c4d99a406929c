import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, suite, test, type TestContext } from 'node:test'
import { askCluster, clusterImage, kubeconfig, makeNamespace } from '../support/cluster/cluster-api.ts'
import { eventually } from '../support/engine/runtimes.ts'
import { runProgram, signIn, type Program } from '../support/program.ts'

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

/** A signed-in person, with the status of each type and the text of a page. */
async function person(berth: Program, email: string) {
  const token = await signIn(berth, email)
  const json = async (path: string, method = 'GET') => {
    const response = await berth.fetch(path, token, { method })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  const me = (await json('/api/user/me')).body as { user?: { slug: string }; slug?: string }
  const slug = me.user?.slug ?? me.slug ?? ''
  const entries = async () => {
    const { containers } = (await json('/api/user/containers')).body as {
      containers: { type: string; status: string; container_id: string | null }[]
    }
    return containers
  }
  return {
    json,
    slug,
    entry: async (type: string) => (await entries()).find((each) => each.type === type),
    page: async (type: string, file = '') => {
      const response = await berth.fetch(`/${slug}-${type}/${file}`, token, { signal: AbortSignal.timeout(90_000) })
      return { status: response.status, text: await response.text() }
    },
  }
}

const podsOf = async (slug: string) => {
  const { items } = await askCluster<{
    items: { metadata: { name: string; uid: string; annotations?: Record<string, string> } }[]
  }>('GET', `/api/v1/namespaces/${namespace}/pods`)
  return items.map(({ metadata }) => metadata).filter(({ annotations }) => annotations?.['berth.slug'] === slug)
}

suite('Berth on a cluster', () => {
  after(removeNamespace)

  test('a user signs up, launches, opens the page, stops, and finds the home at the next visit', async (t) => {
    const berth = start(t)
    const ann = await person(berth, 'ann@x.org')
    const launched = await ann.json('/api/container/launch/dev', 'POST')
    assert.equal(launched.status, 200, JSON.stringify(launched.body))
    const [pod] = await podsOf(ann.slug)
    assert.equal((await ann.entry('dev'))?.container_id, pod?.uid)
    assert.equal((await ann.entry('dev'))?.status, 'running')
    const note = await eventually(async () => {
      const { status, text } = await ann.page('dev', 'note')
      assert.equal(status, 200, text)
      return text
    })

    const stopped = await ann.json('/api/container/stop/dev', 'POST')
    assert.equal(stopped.status, 200, JSON.stringify(stopped.body))
    assert.deepEqual(await podsOf(ann.slug), [])
    assert.equal((await ann.entry('dev'))?.status, 'exited')

    await eventually(async () => assert.deepEqual(await ann.page('dev', 'note'), { status: 200, text: note }), 60_000)
    assert.equal((await podsOf(ann.slug)).length, 1)
    assert.equal((await ann.entry('dev'))?.status, 'running')
    await eventually(() => assert.match(berth.output(), /has idle_pause, and this engine pauses nothing/))
  })

  test('a pod that is deleted by others comes back at the next visit, with its home', async (t) => {
    const berth = start(t)
    const bob = await person(berth, 'bob@x.org')
    assert.equal((await bob.json('/api/container/launch/dev', 'POST')).status, 200)
    const note = await eventually(async () => {
      const { status, text } = await bob.page('dev', 'note')
      assert.equal(status, 200, text)
      return text
    })
    const [pod] = await podsOf(bob.slug)
    await askCluster('DELETE', `/api/v1/namespaces/${namespace}/pods/${pod?.name}?gracePeriodSeconds=1`)
    await eventually(async () => assert.deepEqual(await podsOf(bob.slug), []), 30_000)
    await eventually(async () => assert.equal((await bob.entry('dev'))?.status, 'exited'))
    await eventually(async () => assert.deepEqual(await bob.page('dev', 'note'), { status: 200, text: note }), 60_000)
    assert.notEqual((await podsOf(bob.slug))[0]?.uid, pod?.uid)
  })

  test('a container without traffic is stopped after idle_pause', async (t) => {
    const berth = start(t)
    const cat = await person(berth, 'cat@x.org')
    assert.equal((await cat.json('/api/container/launch/brief', 'POST')).status, 200)
    await eventually(async () => {
      const left = await podsOf(cat.slug)
      assert.ok(!left.some(({ annotations }) => annotations?.['berth.type'] === 'brief'))
    }, 40_000)
    assert.equal((await cat.entry('brief'))?.status, 'exited')
  })

  test('an image that cannot be had fails the launch in words, and leaves no pod', async (t) => {
    const berth = start(t)
    const dan = await person(berth, 'dan@x.org')
    const launched = await dan.json('/api/container/launch/missing', 'POST')
    assert.equal(launched.status, 500)
    assert.match(String(launched.body.error), /image/i)
    await eventually(async () => {
      const left = await podsOf(dan.slug)
      assert.ok(!left.some(({ annotations }) => annotations?.['berth.type'] === 'missing'))
    })
  })

  test('Berth that starts again adopts what runs', async (t) => {
    const first = start(t)
    const eve = await person(first, 'eve@x.org')
    assert.equal((await eve.json('/api/container/launch/dev', 'POST')).status, 200)
    const [pod] = await podsOf(eve.slug)
    process.kill(first.api(), 'SIGKILL')
    await eventually(async () => assert.equal((await eve.page('dev', 'note')).status, 200), 60_000)
    await eventually(async () => assert.equal((await eve.entry('dev'))?.status, 'running'), 30_000)
    assert.equal((await podsOf(eve.slug))[0]?.uid, pod?.uid)
  })
})
