import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ask, assertOk, instant, recordOf, seenBy } from '../../support/api-calls.ts'
import { startBerth } from '../../support/berth.ts'
import { testImage } from '../../support/engine/engine.ts'
import { extent } from '#test/support/extent.ts'

/** What the chapter "Resources and their fields" says of the records and their constraints; values are in other chapters. */

const berth = await startBerth({ after })
const { db } = berth.database
const admin = await berth.administrator()
const ann = await berth.signUp('ann@x.org')

test('two users never share an e-mail or a slug', async () => {
  const user = { state: 'registered', is_admin: 0, is_blocked: 0, created_at: 1 } as const
  for (const clash of [
    { email: 'ann@x.org', slug: 'other' },
    { email: 'other@x.org', slug: 'ann' },
  ])
    await assert.rejects(() =>
      db
        .insertInto('users')
        .values({ ...user, ...clash, last_used: null })
        .execute(),
    )
})

test('the state of a user is one of registered, verified, active', async () => {
  assertOk(await ask(berth, 'signup', 'new@x.org'))
  assertOk(await ann.call('POST', '/api/container/restart'))
  const { users } = (await admin.call('GET', '/api/admin/users')).body
  assert.deepEqual(
    users.map(({ state }: { state: string }) => state),
    ['verified', 'active', 'registered'],
  )
})

test('the user has no username, no password and no single-container fields', async () => {
  const { id } = await seenBy(admin, ann.id)
  const [row] = await db.selectFrom('users').selectAll().where('id', '=', id).execute()
  const columns = ['created_at', 'email', 'extra_disk', 'id', 'is_admin', 'is_blocked', 'last_used', 'slug', 'state']
  assert.deepEqual(Object.keys(row ?? {}).sort(), columns)
})

test('last_used and created_at of a user are ISO 8601 on the wire', async () => {
  const { last_used, created_at } = await seenBy(admin, ann.id)
  for (const each of [last_used, created_at]) assert.match(each, instant)
})

test('the pair of user and container type is unique', async () => {
  const { user_id, container_type } = await recordOf(admin, ann.id)
  const [row] = await db.selectFrom('user_containers').selectAll().where('user_id', '=', user_id).execute()
  assert.ok(row)
  const { id: _, ...copy } = row
  assert.equal(copy.container_type, container_type)
  await assert.rejects(() => db.insertInto('user_containers').values(copy).execute())
})

test('template_image is the image reference of the template', async () => {
  assert.equal((await recordOf(admin, ann.id)).template_image, await testImage())
})

test('a new container record is not blocked, and names neither administrator nor time', async () => {
  const { is_blocked, blocked_at, blocked_by } = await recordOf(admin, ann.id)
  assert.deepEqual([is_blocked, blocked_at, blocked_by], [false, null, null])
})

test('any configured key is a valid container type, with a path that spells it', async (t) => {
  const image = await testImage()
  const all = ['a/b', 'ünï', '%', '__proto__', 'My Lab', 'UPPER', 'x'.repeat(100), 'a-b']
  const types = all.slice(0, extent(4, 8))
  const fields = JSON.stringify({ display_name: 'Any', description: 'any', image, port: 8080, memory: '32m' })
  const CONTAINER_TEMPLATES = `{${types.map((type) => `${JSON.stringify(type)}: ${fields}`).join(',')}}`
  const odd = await startBerth(t, { env: { CONTAINER_TEMPLATES, BASE_DOMAIN: 'berth.example' } })
  const person = await odd.signUp('ann@x.org')
  const ids = new Set<string>()
  for (const type of types) {
    const reply = await person.call('POST', `/api/container/launch/${encodeURIComponent(type)}`)
    assert.equal(reply.status, 200, `${type}: ${reply.text}`)
    assert.equal(reply.body.service_url, `http://spawner.berth.example/ann-${encodeURIComponent(type)}`)
    ids.add(reply.body.container_id)
  }
  assert.equal(ids.size, types.length)
})

test('a type that was taken out of the configuration cannot be launched or listed; the administrator still sees it', async (t) => {
  const first = await startBerth(t)
  const boss = await first.administrator()
  assertOk(await boss.call('POST', '/api/container/launch/prod'))
  await first.close()
  const template = { display_name: 'X', description: 'x', image: await testImage(), port: 8080 }
  const env = { CONTAINER_TEMPLATES: JSON.stringify({ dev: template }) }
  const second = await startBerth(t, { dataDir: first.dataDir, installation: first.installation, env })
  const call = (method: string, path: string) => second.call(method, path, { token: boss.token })
  assert.equal((await call('POST', '/api/container/launch/prod')).status, 400)
  assert.equal((await call('GET', '/api/user/containers')).body.containers.length, 1)
  const [user] = (await call('GET', '/api/admin/users')).body.users
  assert.deepEqual(
    user.containers.map(({ container_type }: { container_type: string }) => container_type),
    ['dev', 'prod'],
  )
})
