import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { askEngine } from '../support/engine/engine.ts'
import { onlyLong, timeLimit } from '../support/extent.ts'
import { waitFor } from '../support/program.ts'
import { severalNodes, statusOf, type Node, type Nodes } from '../support/several-nodes.ts'
import { startPostgres, type Postgres } from '../support/store/postgres.ts'

/** Two nodes of both processes each, on PostgreSQL, with the engine of this machine. */

let postgres: Postgres
before(async () => (postgres = await startPostgres()))
after(() => postgres.stop())

const post = { method: 'POST' }
const isServed = async (node: Node, token: string) => (await node.fetch('/ann-dev/', token)).status === 200

interface Scene {
  readonly nodes: Nodes
  readonly leader: Node
  readonly follower: Node
  readonly boss: string
  readonly ann: string
}

/** Ann has signed up at the follower, and her container runs. */
async function startScene(t: Parameters<typeof severalNodes>[0]): Promise<Scene> {
  const nodes = await severalNodes(t, postgres)
  const leader = await nodes.start()
  const follower = await nodes.start()
  const boss = await nodes.signUp(leader, 'boss@x.org')
  const ann = await nodes.signUp(follower, 'ann@x.org', leader)
  for (const node of [leader, follower])
    await waitFor(`Ann's container at ${node.address}`, () => isServed(node, ann), 60_000)
  return { nodes, leader, follower, boss, ann }
}

test('any of two nodes answers, a block counts at both, and a killed leader is replaced in 10 s', async (t) => {
  const { leader, follower, boss, ann } = await startScene(t)

  const [first, second] = await statusOf(follower, boss)
  const leads = [first, second].find((each) => each?.leads_since !== null)
  assert.equal(leads?.address, leader.address)
  assert.deepEqual([first?.is_current, second?.is_current], [true, true])
  const metrics = await (await follower.fetch('/metrics')).text()
  assert.match(metrics, new RegExp(`berth_node_leads\\{node="${follower.address}"\\} 0`))
  assert.match(metrics, new RegExp(`berth_gateway_requests_total\\{node="${follower.address}"\\} [1-9]`))

  const id = await containerOfAnn(leader, boss)
  await follower.ask(`/api/admin/containers/${id}/block`, boss, post)
  assert.deepEqual(
    await Promise.all([leader, follower].map(async (each) => (await each.fetch('/ann-dev/', ann)).status)),
    [403, 403],
  )
  await leader.ask(`/api/admin/containers/${id}/unblock`, boss, post)
  await follower.ask('/api/container/launch/dev', ann, post)
  assert.ok(await isServed(leader, ann))

  const began = performance.now()
  await leader.killAll()
  assert.ok(await isServed(follower, ann), 'the gateway of the other node goes on')
  await waitFor(
    'another leader',
    async () => (await follower.fetch('/api/user/me', ann)).status === 200,
    timeLimit(10_000),
  )
  t.diagnostic(`the API is back ${Math.round(performance.now() - began)} ms after the end of the leader`)
  assert.ok(await isServed(follower, ann))
  await waitFor('readiness', async () => (await follower.fetch('/readyz')).status === 200)
})

test('a leader that was frozen gives no orders when it wakes, and follows', onlyLong, async (t) => {
  const { leader, follower, boss, ann } = await startScene(t)
  const api = leader.api()
  process.kill(api, 'SIGSTOP')
  // It waits in the socket of the frozen process.
  const launch = leader.fetch('/api/container/launch/prod', ann, post).catch(() => undefined)
  await waitFor(
    'another leader',
    async () => (await follower.fetch('/api/user/me', ann)).status === 200,
    timeLimit(10_000),
  )
  assert.ok(await isServed(follower, ann))
  await waitFor(
    'the refusal of a gateway that lost touch',
    async () => (await leader.fetch('/ann-dev/', ann)).status === 503,
    15_000,
  )
  await sleep(12_000)
  const before = await namesOf()
  process.kill(api, 'SIGCONT')
  await leader.said(/this node leads no more/)
  await launch
  assert.deepEqual(await namesOf(), before)
  await waitFor('both nodes', async () => (await statusOf(follower, boss)).every((each) => each.is_current), 20_000)
  assert.ok(await isServed(leader, ann))
  assert.equal((await statusOf(leader, boss)).find((each) => each.leads_since !== null)?.address, follower.address)
})

test(
  'a leader that is stopped hands over at once; a follower that is killed holds up a block for a while',
  onlyLong,
  async (t) => {
    const { nodes, leader, follower, boss, ann } = await startScene(t)
    leader.process.kill('SIGTERM')
    assert.equal(await leader.ended(), 0)
    await waitFor(
      'another leader',
      async () => (await follower.fetch('/api/user/me', ann)).status === 200,
      timeLimit(5_000),
    )
    const other = await nodes.start()
    assert.ok(await isServed(other, ann))
    await waitFor(
      'the second node',
      async () => (await statusOf(other, boss)).filter((each) => each.is_current).length === 2,
    )
    await other.killAll()
    const id = await containerOfAnn(follower, boss)
    const began = performance.now()
    await follower.ask(`/api/admin/containers/${id}/block`, boss, post)
    assert.ok(performance.now() - began > 5_000, 'the gateway that is not reached may serve for ten seconds')
  },
)

test('while the database does not answer no node leads, and all is back with it', onlyLong, async (t) => {
  const { leader, follower, ann } = await startScene(t)
  postgres.freeze()
  await leader.said(/this node leads no more/)
  for (const node of [leader, follower])
    await waitFor('the refusal', async () => (await node.fetch('/ann-dev/', ann)).status === 503, 20_000)
  assert.equal((await follower.fetch('/readyz')).status, 503)
  postgres.thaw()
  for (const node of [leader, follower]) await waitFor('the container', () => isServed(node, ann), 30_000)
})

async function containerOfAnn(node: Node, boss: string): Promise<number> {
  const { users } = await node.ask<{ users: { containers: { id: number }[] }[] }>('/api/admin/users?q=ann', boss)
  return users[0]!.containers[0]!.id
}

/** Containers of these nodes, in the engine. */
async function namesOf(): Promise<string[]> {
  const all = await askEngine<{ Names: string[] }[]>('GET', '/containers/json', { query: { all: 'true' } })
  return all
    .flatMap(({ Names }) => Names)
    .filter((name) => name.includes('-ann-'))
    .sort()
}
