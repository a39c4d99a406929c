import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { ListedContainer } from '@berth/api/schemas/administration/admin.ts'
import { assertOk, assertRefused, blockUser, recordOf, until } from '../../support/api-calls.ts'
import { startBerth, testTemplates } from '../../support/berth.ts'
import { askEngine } from '../../support/engine/engine.ts'
import { unreachableRuntime, type Fault } from '../../support/engine/faulty-runtimes.ts'

const deafness: Fault = { active: false }
const good = JSON.parse(await testTemplates()) as { dev: object }
const templates = { ...good, quits: { ...good.dev, command: ['/bin/sh', '-c', 'exit 3'] } }
const berth = await startBerth(
  { after },
  {
    env: { CONTAINER_TEMPLATES: JSON.stringify(templates), ADMIN_EMAILS: 'deputy@x.org' },
    wrapRuntime: (runtime) => unreachableRuntime(runtime, deafness),
  },
)
const admin = await berth.signUp('boss@x.org')
const [ann, ben, cat] = await Promise.all(['ann', 'ben', 'cat'].map((name) => berth.signUp(`${name}@x.org`)))
const deputy = await berth.signUp('deputy@x.org')
assert.ok(ann && ben && cat)
assertOk(await blockUser(admin, cat.id))

const users = (query: string) => admin.call('GET', `/api/admin/users?${query}`)
const containers = (query: string) => admin.call('GET', `/api/admin/containers?${query}`)
const count = async (list: 'users' | 'containers', query: string): Promise<number> => {
  const reply = await admin.call('GET', `/api/admin/${list}/count?${query}`)
  assertOk(reply)
  assert.deepEqual(Object.keys(reply.body), ['count'])
  return reply.body.count
}
const emails = (rows: readonly { email: string }[]) => rows.map(({ email }) => email)

test('users are filtered by state, right and block, all at once, and counted likewise', async () => {
  assertOk(await berth.call('POST', '/api/auth/signup', { body: { email: 'nobody@x.org' } }))
  const found = async (query: string) => {
    const { body } = await users(query)
    assert.equal(await count('users', query), body.users.length, query)
    return emails(body.users).sort()
  }
  assert.deepEqual(await found('state=registered'), ['nobody@x.org'])
  assert.deepEqual(await found('is_admin=true'), ['boss@x.org', 'deputy@x.org'])
  assert.deepEqual(await found('is_blocked=true'), ['cat@x.org'])
  assert.deepEqual(await found('is_blocked=false&is_admin=false&q=X.ORG&state=verified'), ['ann@x.org', 'ben@x.org'])
  assert.deepEqual(await found('q=nowhere'), [])
  assert.equal((await found('')).length, 6)
})

test('the cursor of an order leads on in it, and is 400 in any other', async () => {
  for (const list of [users, containers])
    for (const sort of ['-id', 'email', '-last_used', 'created_at']) {
      const first = await list(`sort=${sort}&limit=1`)
      assertOk(first)
      const cursor: string = first.body.next_cursor
      assertOk(await list(`sort=${sort}&limit=1&cursor=${cursor}`))
      for (const other of ['id', 'last_used', '-email'])
        assertRefused(await list(`sort=${other}&cursor=${cursor}`), 400)
      assertRefused(await list(`sort=${sort}&cursor=1`), 400)
      assertRefused(await list(`sort=${sort}&cursor=bm9uc2Vuc2U`), 400)
    }
  const { body } = await users('limit=1')
  assert.equal(body.next_cursor, String(admin.id))
  assert.deepEqual((await users(`limit=1&sort=id&cursor=${body.next_cursor}`)).body.users[0].id > admin.id, true)
})

test('an order or a filter that is none is 400', async () => {
  for (const query of [
    'sort=slug',
    'sort=--id',
    'state=gone',
    'is_admin=1',
    'is_blocked=',
    'cursor=%00',
    'sort=id&sort=id',
  ])
    assertRefused(await users(query), 400)
  for (const query of ['sort=status', 'status=blocked', 'is_blocked=yes', 'limit=0', 'limit=1001'])
    assertRefused(await containers(query), 400)
  assertRefused(await admin.call('GET', '/api/admin/containers/count?status=none'), 400)
})

test('each container is listed with its record, its owner and whether it is blocked', async () => {
  const { body } = await containers('q=ann')
  const { email, slug, status, ...record } = body.containers[0] as ListedContainer
  assert.deepEqual([body.containers.length, email, slug, status], [1, 'ann@x.org', 'ann', 'running'])
  assert.deepEqual(record, await recordOf(admin, ann.id))
  assert.deepEqual(emails((await containers('is_blocked=true')).body.containers), ['cat@x.org'])
  assert.deepEqual(emails((await containers('container_type=dev&sort=-email&limit=2')).body.containers), [
    'deputy@x.org',
    'cat@x.org',
  ])
  assert.equal(await count('containers', 'container_type=dev&is_blocked=false'), 4)
})

test('the status says what runs, what is stopped, what is gone, and what failed; one can be asked for', async () => {
  const withStatus = async (status: string) => {
    const { body } = await containers(`status=${status}&sort=email`)
    assert.equal(await count('containers', `status=${status}`), body.containers.length)
    return emails(body.containers)
  }
  const [idOfBen, idOfDeputy] = [ben.auth.user.container_id, deputy.auth.user.container_id]
  await askEngine('POST', `/containers/${idOfBen}/stop`, { query: { t: '0' } })
  await askEngine('DELETE', `/containers/${idOfDeputy}`, { query: { force: 'true' } })
  assertRefused(await ann.call('POST', '/api/container/launch/quits'), 500, [
    'reason',
    'exit_code',
    'is_out_of_memory',
    'last_lines',
  ])
  await until(async () => (await withStatus('stopped')).length === 2 && (await withStatus('missing')).length === 1)
  assert.deepEqual(await withStatus('stopped'), ['ben@x.org', 'cat@x.org'])
  assert.deepEqual(await withStatus('missing'), ['deputy@x.org'])
  assert.deepEqual(await withStatus('failed'), ['ann@x.org'])
  assert.deepEqual(await withStatus('running'), ['ann@x.org', 'boss@x.org'])
  assert.deepEqual(await withStatus('unknown'), [])
})

test('while the engine does not answer, nothing is said of its containers but that it is not known', async () => {
  deafness.active = true
  try {
    await until(async () => (await containers('status=unknown')).body.containers.length >= 5)
    assert.equal(await count('containers', 'status=running'), 0)
    assert.equal(await count('users', ''), 6)
  } finally {
    deafness.active = false
  }
})
