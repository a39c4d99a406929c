import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { clusterImage, loadImage } from '../support/cluster/cluster-api.ts'
import { kustomized } from '../support/cluster/deployment.ts'
import {
  deployNodes,
  hostAddress,
  kubectl,
  openWebSocket,
  readyNodes,
  untilReady,
} from '../support/cluster/node-pods.ts'
import { eventually } from '../support/engine/runtimes.ts'
import { exposePort } from '../support/expose-port.ts'
import { startMailServer } from '../support/mail/mail-server.ts'
import { shellApp } from '../support/shell-app.ts'
import { startPostgres } from '../support/store/postgres.ts'

/**
 * Part of `npm run test:cluster`: the files of deploy/kubernetes-nodes as they are, with nodes as pods. It needs the image of a release
 * in Docker, which `npm run test:cluster` makes; and for an upgrade a second one of a patch release (`BERTH_TEST_RELEASES=one,other`
 * names them). There is no kube-proxy: this test is the load balancer, by the endpoints of the Service, with one retry.
 */

const isOwn = process.env.BERTH_TEST_CLUSTER_IS_OWN !== undefined
const releases = process.env.BERTH_TEST_RELEASES?.split(',') ?? []
const [release = ''] = releases
const skip = await reasonToSkip()

async function reasonToSkip(): Promise<string | false> {
  if (!isOwn) return 'the cluster belongs to others'
  if (release === '') return 'there is no image of a release'
  // That of Debian 12 reads no `patches`.
  return (
    (await kustomized('kubernetes-nodes').catch(() => undefined)) === undefined &&
    'there is no kubectl that reads the files'
  )
}

/** Says whose it is, and echoes on a WebSocket. */
const app = shellApp('$BERTH_EMAIL')

/** What happened to requests through the load balancer. */
interface Load {
  sent: number
  /** After the retry. */
  readonly failed: string[]
  retried: number
  /** Longest of all, in ms. */
  slowest: number
}

/** One after the other until it is aborted. */
async function load(signal: AbortSignal, target: string, token: string): Promise<Load> {
  const load: Load = { sent: 0, failed: [], retried: 0, slowest: 0 }
  for (; !signal.aborted; await sleep(50)) {
    load.sent++
    const began = performance.now()
    const first = await request(target, token)
    const answer = first === 200 ? first : (load.retried++, await request(target, token))
    load.slowest = Math.max(load.slowest, performance.now() - began)
    if (answer !== 200) load.failed.push(`${first}, then ${answer}`)
  }
  return load
}

let turn = 0
async function request(target: string, token: string): Promise<number | string> {
  const nodes = await readyNodes()
  const node = nodes[turn++ % Math.max(1, nodes.length)]
  if (node === undefined) return 'no node is ready'
  try {
    const headers = { authorization: `Bearer ${token}`, connection: 'close' }
    const answer = await fetch(`http://${node}:8080${target}`, { headers, signal: AbortSignal.timeout(20_000) })
    await answer.arrayBuffer()
    return answer.status
  } catch (error) {
    return String((error as Error).cause ?? error)
  }
}

const ends: (() => Promise<void>)[] = []
const lifetime = { after: (work: () => Promise<void>) => void ends.unshift(work) }

suite('Berth nodes as pods', { skip }, () => {
  let token = ''
  let container = ''

  before(async () => {
    for (const each of releases) await loadImage(each)
    const [postgres, mail] = await Promise.all([startPostgres(hostAddress), startMailServer()])
    lifetime.after(() => postgres.stop())
    lifetime.after(() => mail.close())
    const smtp = await exposePort(lifetime, hostAddress, Number(new URL(mail.url).port))
    const template = {
      display_name: 'Development',
      description: '',
      image: await clusterImage(),
      port: 8080,
      memory: '64m',
      home: null,
      command: ['/bin/sh', '-c', app],
    }
    const settings = { CONTAINER_TEMPLATES: JSON.stringify({ dev: template }), SMTP_TLS: 'opportunistic' }
    const secrets = { DATABASE_URL: postgres.url, NODE_SECRET: 'n'.repeat(40), SMTP_URL: `smtp://${smtp}` }
    await deployNodes(lifetime, release, settings, secrets)
    await untilReady(2)
    const [first = '', second = ''] = await readyNodes()
    const ask = async (node: string, target: string, init: RequestInit = {}) => {
      const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) }
      const answer = await fetch(`http://${node}:8080${target}`, { headers, ...init })
      const text = await answer.text()
      assert.equal(answer.status, 200, `${target}: ${text}`)
      return JSON.parse(text) as { access_token: string; user: { slug: string } }
    }
    await ask(first, '/api/auth/signup', { method: 'POST', body: JSON.stringify({ email: 'ann@x.org' }) })
    await eventually(async () => assert.ok(mail.received.length > 0))
    token = (await ask(second, `/api/auth/verify-signup?token=${mail.tokenFor('ann@x.org')}`)).access_token
    await ask(second, '/api/container/launch/dev', { method: 'POST' })
    container = `/${(await ask(first, '/api/user/me')).user.slug}-dev/`
  })
  after(async () => {
    for (const end of ends) await end()
  })

  test('both nodes serve the container, and say which of them leads', async () => {
    for (const node of await readyNodes()) {
      await eventually(async () => {
        const answer = await fetch(`http://${node}:8080${container}`, { headers: { authorization: `Bearer ${token}` } })
        assert.equal(await answer.text(), 'ann@x.org')
      }, 60_000)
      const metrics = await (
        await fetch(`http://${node}:8080/api/admin/system`, { headers: { authorization: `Bearer ${token}` } })
      ).json()
      const { nodes } = metrics as { nodes: { address: string; leads_since: string | null }[] }
      assert.deepEqual(
        nodes.map(({ address }) => address).sort(),
        (await readyNodes()).map((ip) => `${ip}:7070`).sort(),
      )
      assert.equal(nodes.filter(({ leads_since }) => leads_since !== null).length, 1)
    }
  })

  for (const [what, words] of [
    ['a restart of all nodes, one after the other', ['rollout', 'restart', 'deployment/berth']],
    ['an upgrade to a patch release', ['set', 'image', 'deployment/berth', `berth=${releases[1] ?? ''}`]],
  ] as const)
    test(
      `${what} loses no request; each WebSocket ends once, with the node that goes, and is told to connect anew`,
      { skip: words[0] === 'set' && releases.length < 2 && 'Docker has no second release' },
      async (t) => {
        const before = await readyNodes()
        const sockets = await Promise.all(before.map((node) => openWebSocket(node, container, token)))
        t.after(() => sockets.forEach((each) => each.close()))
        const stop = new AbortController()
        const loads = Promise.all([container, '/api/user/me'].map((target) => load(stop.signal, target, token)))
        await kubectl(...words)
        await kubectl('rollout', 'status', 'deployment/berth', '--timeout=240s')
        await eventually(async () => assert.ok((await readyNodes()).every((node) => !before.includes(node))), 90_000)
        await eventually(async () => assert.ok(sockets.every((each) => each.end() !== undefined)), 90_000)
        await untilReady(2)
        stop.abort()
        const [pages, api] = await loads
        t.diagnostic(JSON.stringify({ pages, api }))
        assert.deepEqual(pages?.failed, [])
        assert.deepEqual(api?.failed, [])
        assert.deepEqual(
          sockets.map((each) => each.end()),
          sockets.map(() => 1012),
        )
      },
    )

  test('a node more takes part, and one less takes its own WebSockets alone with it', async (t) => {
    await kubectl('scale', 'deployment/berth', '--replicas=3')
    await untilReady(3)
    const sockets = await Promise.all((await readyNodes()).map((node) => openWebSocket(node, container, token)))
    t.after(() => sockets.forEach((each) => each.close()))
    const stop = new AbortController()
    const loads = Promise.all([container, '/api/user/me'].map((target) => load(stop.signal, target, token)))
    await kubectl('scale', 'deployment/berth', '--replicas=2')
    await eventually(async () => assert.equal(sockets.filter((each) => each.end() !== undefined).length, 1), 90_000)
    stop.abort()
    const [pages, api] = await loads
    t.diagnostic(JSON.stringify({ pages, api }))
    assert.deepEqual([pages?.failed, api?.failed], [[], []])
    const staying = await readyNodes()
    for (const socket of sockets) assert.equal(socket.end(), staying.includes(socket.node) ? undefined : 1012)
  })
})
