import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { endpoints, type Endpoint } from '@berth/api/endpoints.ts'
import { anyNodeNames } from '#/wiring/reader/reader-handlers.ts'
import { timeLimit } from '../support/extent.ts'
import { waitFor } from '../support/program.ts'
import { severalNodes, type Node, type Nodes } from '../support/several-nodes.ts'
import { startPostgres, type Postgres } from '../support/store/postgres.ts'

/** What a follower answers by itself: two nodes of both processes each, on PostgreSQL, with the engine of this machine. */

let postgres: Postgres
before(async () => (postgres = await startPostgres()))
after(() => postgres.stop())

const post = { method: 'POST' }
const json = { 'content-type': 'application/json' }
const me = '/api/user/me'

interface Scene {
  readonly nodes: Nodes
  readonly leader: Node
  readonly follower: Node
  readonly boss: string
  readonly ann: string
  readonly annId: number
}

/** Two nodes, of which the second one answers by itself. */
async function startScene(t: Parameters<typeof severalNodes>[0]): Promise<Scene> {
  const nodes = await severalNodes(t, postgres)
  const leader = await nodes.start()
  const follower = await nodes.start()
  const boss = await nodes.signUp(leader, 'boss@x.org')
  const ann = await nodes.signUp(leader, 'ann@x.org')
  await waitFor('the reader', async () => (await readsDuring(leader, follower, () => follower.ask(me, ann))) === 1)
  const { user } = await leader.ask<{ user: { id: number } }>(me, ann)
  return { nodes, leader, follower, boss, ann, annId: user.id }
}

/** How many requests the follower has answered by itself. The numbers are up to a second old. */
async function readsOf(leader: Node, { address }: Node): Promise<number> {
  await sleep(1_100)
  const text = await (await leader.fetch('/metrics')).text()
  return Number(new RegExp(`^berth_reads_total\\{node="${address}"\\} (\\d+)$`, 'm').exec(text)?.[1] ?? 0)
}

async function readsDuring(leader: Node, follower: Node, work: () => Promise<unknown>): Promise<number> {
  const earlier = await readsOf(leader, follower)
  await work()
  return (await readsOf(leader, follower)) - earlier
}

const statusAt = async (node: Node, target: string, token: string) =>
  (await node.fetch(target, undefined, { headers: { authorization: `Bearer ${token}` } })).status

const changeGroup = (node: Node, boss: string, id: number, change: object) =>
  node.ask(`/api/admin/groups/${id}`, boss, { method: 'PATCH', headers: json, body: JSON.stringify(change) })

test('every row that any node answers is a GET without a path parameter that answers JSON and needs no session of its own', () => {
  assert.ok(anyNodeNames.length >= 10)
  for (const name of anyNodeNames) {
    const { method, path, stream, file, redirects, needsSession, endsTakeover, access }: Endpoint = endpoints[name]
    assert.equal(method, 'GET', name)
    assert.doesNotMatch(path, /\{/, name)
    assert.deepEqual([stream, file, redirects, needsSession, endsTakeover], Array(5).fill(undefined), name)
    assert.notEqual(access, 'operator', name)
  }
})

test('a follower answers each of these rows by itself, as the leader does', async (t) => {
  const { leader, follower, boss, ann } = await startScene(t)
  for (const name of anyNodeNames) {
    const { path }: Endpoint = endpoints[name]
    for (const token of [boss, ann]) {
      const headers = { authorization: `Bearer ${token}` }
      const [at, from] = await Promise.all(
        [leader, follower].map(async (node) => {
          const answer = await node.fetch(path, undefined, { headers })
          const names = [...answer.headers.keys()].toSorted()
          return { status: answer.status, names, body: await answer.text() }
        }),
      )
      assert.deepEqual(from, at, name)
    }
  }
  for (const name of anyNodeNames) {
    const { path }: Endpoint = endpoints[name]
    assert.equal(await readsDuring(leader, follower, () => follower.ask(path, boss)), 1, name)
  }
})

test('what the leader has answered is in the next answer of the follower', { timeout: 120_000 }, async (t) => {
  const { leader, follower, boss, ann, annId } = await startScene(t)
  const { group } = await leader.ask<{ group: { id: number } }>('/api/admin/groups', boss, {
    ...post,
    headers: json,
    body: JSON.stringify({ name: 'first' }),
  })
  const over = new AbortController()
  // Requests that are under way when a change is made.
  const crowd = Array.from({ length: 4 }, async () => {
    while (!over.signal.aborted) await follower.fetch(me, undefined, { headers: { authorization: `Bearer ${ann}` } })
  })
  const reads = await readsDuring(leader, follower, async () => {
    for (let round = 0; round < 200; round++) {
      await leader.ask(`/api/admin/users/${annId}/block`, boss, post)
      assert.equal(await statusAt(follower, '/api/groups', ann), 403, `blocked, round ${round}`)
      await leader.ask(`/api/admin/users/${annId}/unblock`, boss, post)
      assert.equal(await statusAt(follower, '/api/groups', ann), 200, `unblocked, round ${round}`)
      const name = `group ${round}`
      await changeGroup(leader, boss, group.id, { name })
      const { groups } = await follower.ask<{ groups: { name: string }[] }>('/api/admin/groups', boss)
      assert.deepEqual(groups[0]?.name, name)
    }
  })
  over.abort()
  await Promise.all(crowd)
  assert.ok(reads > 400, `only ${reads} requests were answered by the follower`)
})

test('a token that the leader has revoked opens nothing at the follower', async (t) => {
  const { nodes, leader, follower } = await startScene(t)
  for (let round = 0; round < 20; round++) {
    const token = await nodes.signUp(leader, `leaver${round}@x.org`)
    assert.equal(await statusAt(follower, me, token), 200)
    await leader.ask('/api/auth/logout', token, post)
    assert.equal(await statusAt(follower, me, token), 401)
  }
})

test('a follower whose leader is frozen answers by itself for ten seconds at most, and by the next leader after that', async (t) => {
  const { leader, follower, ann } = await startScene(t)
  const third = await (async () => leader)()
  process.kill(third.api(), 'SIGSTOP')
  const began = performance.now()
  while (performance.now() - began < 3_000) assert.equal(await statusAt(follower, me, ann), 200)
  await waitFor('the follower to lead', async () => (await follower.fetch('/readyz')).status === 200, timeLimit(15_000))
  assert.equal(await statusAt(follower, me, ann), 200)
  process.kill(third.api(), 'SIGCONT')
})
