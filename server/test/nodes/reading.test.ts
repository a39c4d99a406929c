// Part of npm run test:more: several nodes; leader.test.ts and follower.test.ts have what one of them does.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { endpoints, type Endpoint } from '@berth/api/endpoints.ts'
import { anyNodeNames } from '#/http/reader-handlers.ts'
import { extent, timeLimit } from '../support/extent.ts'
import { waitFor } from '../support/program.ts'
import { severalNodes, type Node } from '../support/several-nodes.ts'
import { startPostgres } from '../support/store/postgres.ts'

/** What a follower answers by itself: two nodes of both processes each, on PostgreSQL, with the engine of this machine. */

const endings: (() => Promise<unknown>)[] = []
const lifetime = { after: (ending: () => Promise<unknown>) => void endings.unshift(ending) }
let scene: Awaited<ReturnType<typeof startScene>>
before(async () => (scene = await startScene()))
after(async () => {
  for (const ending of endings) await ending()
})

const post = { method: 'POST' }
const json = { 'content-type': 'application/json' }
const me = '/api/user/me'
/** The only group that may launch `prod`. */
const course = 'course'

/** Two nodes, of which the second one answers by itself; Ann is in the group. */
async function startScene() {
  const postgres = await startPostgres()
  lifetime.after(() => postgres.stop())
  const nodes = await severalNodes(lifetime, postgres, { prod: { groups: [course] } }, { SHARING: 'people' })
  const leader = await nodes.start()
  const follower = await nodes.start()
  const boss = await nodes.signUp(leader, 'boss@x.org')
  const ann = await nodes.signUp(leader, 'ann@x.org')
  const { user } = await leader.ask<{ user: { id: number } }>(me, ann)
  const body = JSON.stringify({ name: course })
  const { group } = await leader.ask<{ group: { id: number } }>('/api/admin/groups', boss, {
    ...post,
    headers: json,
    body,
  })
  const emails = JSON.stringify({ emails: ['ann@x.org'], role: 'member' })
  await leader.ask(`/api/groups/${group.id}/members`, boss, { ...post, headers: json, body: emails })
  await waitFor('the reader', async () => (await readsDuring(leader, follower, () => follower.ask(me, ann))) === 1)
  return { nodes, leader, follower, boss, ann, annId: user.id, groupId: group.id }
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

test('a follower answers each of these rows by itself, as the leader does', async () => {
  const { leader, follower, boss, ann } = scene
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
  const reads = await readsDuring(leader, follower, async () => {
    for (const name of anyNodeNames) await follower.ask(endpoints[name].path, boss)
  })
  assert.equal(reads, anyNodeNames.length)
})

test('a follower answers pages of users who are signed in, scripts and styles, as the leader does', async () => {
  const { leader, follower, boss } = scene
  const navigation = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', 'sec-fetch-site': 'none' }
  const headers = { authorization: `Bearer ${boss}`, accept: 'text/html', ...navigation }
  /** Without what is another one in each answer. */
  const documentOf = async (node: Node) => {
    const answer = await node.fetch('/', undefined, { headers })
    assert.equal(answer.status, 200)
    const text = await answer.text()
    const nonce = /nonce-([\w+/=]+)/.exec(answer.headers.get('content-security-policy') ?? '')?.[1] ?? 'none'
    return text
      .replaceAll(nonce, 'nonce')
      .replace(/"now":"[^"]+"/, '')
      .replace(/"token_lifetime":\d+/, '')
  }
  assert.equal(await documentOf(follower), await documentOf(leader))
  const [script] = /\/assets\/[\w-]+\.js/.exec(await documentOf(leader)) ?? []
  const contentOf = async (node: Node) => (await node.fetch(script ?? '/none')).text()
  const reads = await readsDuring(leader, follower, async () => {
    await documentOf(follower)
    assert.equal(await contentOf(follower), await contentOf(leader))
    // Of a visitor who is not signed in.
    assert.equal((await follower.fetch('/', undefined, { headers: { accept: 'text/html' } })).status, 200)
  })
  assert.equal(reads, 2)
})

test('what is refused, asked with an API token, or sent in another way is answered by the leader', async () => {
  const { leader, follower, boss, ann } = scene
  const { token } = await follower.ask<{ token: string }>('/api/user/tokens', ann, {
    ...post,
    headers: json,
    body: JSON.stringify({ name: 'a program', scopes: ['containers:read'], expires_in: 3_600 }),
  })
  const reads = await readsDuring(leader, follower, async () => {
    assert.equal(await statusAt(follower, me, token), 200)
    assert.equal(await statusAt(follower, me, `${ann}x`), 401)
    assert.equal(await statusAt(follower, '/api/admin/users', ann), 403)
    assert.equal(await statusAt(follower, '/api/admin/users?limit=many', boss), 400)
    const head = await follower.fetch(me, undefined, { method: 'HEAD', headers: { authorization: `Bearer ${ann}` } })
    assert.deepEqual([head.status, await head.text()], [200, ''])
  })
  assert.equal(reads, 0)
})

test('what the leader has answered is in the next answer of the follower', async () => {
  const { leader, follower, boss, ann, annId, groupId } = scene
  const rounds = extent(25, 300)
  const over = new AbortController()
  // Requests that are under way when a change is made.
  const crowd = Array.from({ length: 4 }, async () => {
    while (!over.signal.aborted) await statusAt(follower, me, ann)
  })
  const typesOfAnn = async () => {
    const { containers } = await follower.ask<{ containers: { type: string }[] }>('/api/user/containers', ann)
    return containers.map(({ type }) => type)
  }
  const reads = await readsDuring(leader, follower, async () => {
    for (let round = 0; round < rounds; round++) {
      await leader.ask(`/api/admin/users/${annId}/block`, boss, post)
      assert.equal(await statusAt(follower, '/api/groups', ann), 403, `blocked, round ${round}`)
      await leader.ask(`/api/admin/users/${annId}/unblock`, boss, post)
      assert.equal(await statusAt(follower, '/api/groups', ann), 200, `unblocked, round ${round}`)
      const name = `group ${round}`
      await changeGroup(leader, boss, groupId, { name })
      const { groups } = await follower.ask<{ groups: { name: string }[] }>('/api/admin/groups', boss)
      assert.deepEqual(groups[0]?.name, name)
      assert.deepEqual(await typesOfAnn(), ['dev'], `the type is of another group, round ${round}`)
      await changeGroup(leader, boss, groupId, { name: course })
      assert.deepEqual(await typesOfAnn(), ['dev', 'prod'], `the type is of this group, round ${round}`)
    }
  })
  over.abort()
  await Promise.all(crowd)
  assert.ok(reads >= 4 * rounds, `only ${reads} requests were answered by the follower`)
})

test('a share that the leader has answered, or ended, is so in the next list of the follower', async () => {
  const { leader, follower, boss, ann } = scene
  const shares = '/api/container/shares/dev'
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString()
  const body = JSON.stringify({ emails: ['boss@x.org'], may: 'look', expires_at: expiresAt })
  const ownersOf = async (node: Node) => {
    const { containers } = await node.ask<{ containers: { owner: string }[] }>('/api/user/shared', boss)
    return containers.map(({ owner }) => owner)
  }
  const reads = await readsDuring(leader, follower, async () => {
    for (let round = 0; round < extent(5, 50); round++) {
      await leader.ask(shares, ann, { ...post, headers: json, body })
      assert.deepEqual(await ownersOf(follower), ['ann@x.org'])
      const [share] = (await leader.ask<{ shares: { id: number }[] }>(shares, ann)).shares
      await leader.ask(`${shares}/${share?.id}`, ann, { method: 'DELETE' })
      assert.deepEqual(await ownersOf(follower), [])
    }
  })
  assert.equal(reads, extent(5, 50) * 2)
})

test('containers are counted by the follower, and by the leader when their status is asked for', async () => {
  const { leader, follower, boss } = scene
  const countAt = async (node: Node, query: string) =>
    (await node.ask<{ count: number }>(`/api/admin/containers/count${query}`, boss)).count
  const reads = await readsDuring(leader, follower, async () => {
    for (const query of ['', '?q=ann', '?container_type=dev', '?status=running'])
      assert.equal(await countAt(follower, query), await countAt(leader, query), query)
  })
  assert.equal(reads, 3)
})

test('a session that the leader has ended opens nothing at the follower', async () => {
  const { nodes, leader, follower } = scene
  for (let round = 0; round < extent(3, 20); round++) {
    const token = await nodes.signUp(leader, `leaver${round}@x.org`)
    assert.equal(await statusAt(follower, me, token), 200)
    await leader.ask('/api/auth/logout', token, post)
    assert.equal(await statusAt(follower, me, token), 401)
  }
})

test('a follower goes on to answer while its leader is frozen, until it leads', async () => {
  const { leader, follower, ann } = scene
  process.kill(leader.api(), 'SIGSTOP')
  const began = performance.now()
  for (let asked = 0; performance.now() - began < 2_000; asked++)
    assert.equal(await statusAt(follower, me, ann), 200, `request ${asked}`)
  assert.doesNotMatch(follower.output(), /this node leads from now on/, 'it has answered as a follower')
  await follower.said(/this node leads from now on/)
  assert.equal(await statusAt(follower, me, ann), 200)
  await waitFor('readiness', async () => (await follower.fetch('/readyz')).status === 200, timeLimit(15_000))
  process.kill(leader.api(), 'SIGCONT')
})
