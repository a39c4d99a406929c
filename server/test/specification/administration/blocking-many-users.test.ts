import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { BlockPreview, BulkUsersResponse } from '@berth/api/schemas/administration/admin.ts'
import { sql } from 'kysely'
import { assertOk, assertRefused, blockContainer, blockUser, engineState, promote } from '../../support/api-calls.ts'
import { recordOf, seenBy, tokenBy, unblockUser, verify } from '../../support/api-calls.ts'
import { startBerth, type Person } from '../../support/berth.ts'
import { unreachableRuntime, type Fault } from '../../support/engine/faulty-runtimes.ts'

const deafness: Fault = { active: false }
const berth = await startBerth({ after }, { wrapRuntime: (runtime) => unreachableRuntime(runtime, deafness) })
const admin = await berth.administrator()
const names = ['ann', 'ben', 'cat', 'dan']
const [ann, ben, cat, dan] = (await Promise.all(names.map((name) => berth.signUp(`${name}@x.org`)))) as [
  Person,
  Person,
  Person,
  Person,
]

const inBulk = (verb: 'block' | 'unblock', ids: unknown, who = admin) =>
  who.call('POST', `/api/admin/users/bulk-${verb}`, { body: { user_ids: ids } })
const preview = (id: number) => admin.call('GET', `/api/admin/users/${id}/block-preview`)
const ids = ({ users }: BulkUsersResponse) => users.map(({ id }) => id)
const entriesOf = async (id: number) => {
  const { body } = await admin.call('GET', `/api/admin/audit?target=user:${id}&action=user.`)
  return (body.entries as { action: string; detail: object }[]).map(({ action, detail }) => ({ action, ...detail }))
}
const runs = async (person: Person) =>
  (await engineState(berth, (await recordOf(admin, person.id)).container_id ?? '')) === 'running'

test('several users are blocked at once, each once, although some ids are of no user; their containers stop', async () => {
  const reply = await inBulk('block', [ben.id, 999_999, ann.id, ben.id])
  assertOk(reply)
  assert.deepEqual(Object.keys(reply.body).sort(), ['message', 'not_found', 'refused', 'users'])
  assert.equal(reply.body.message, '2 users blocked.')
  assert.deepEqual([ids(reply.body), reply.body.not_found, reply.body.refused], [[ann.id, ben.id], [999_999], []])
  for (const person of [ann, ben]) {
    assert.deepEqual(
      reply.body.users.find(({ id }: { id: number }) => id === person.id),
      await seenBy(admin, person.id),
    )
    assert.equal((await recordOf(admin, person.id)).is_blocked, true)
    assert.equal(await runs(person), false)
  }
  assert.equal(await runs(cat), true)
})

test('the audit log says of each of many what it says of one', async () => {
  assertOk(await blockUser(admin, cat.id))
  const alone = await entriesOf(cat.id)
  for (const person of [ann, ben]) {
    const containers = [(await recordOf(admin, person.id)).id]
    assert.deepEqual(await entriesOf(person.id), [{ ...alone[0], containers }])
  }
})

test('those who are blocked already are no change; unblocking many releases what the cascade blocked', async () => {
  const single = await recordOf(admin, dan.id)
  assertOk(await blockContainer(admin, single.id))
  const blocked = await inBulk('block', [ann.id, dan.id])
  assert.equal(blocked.body.message, '2 users blocked.')
  assert.equal((await entriesOf(ann.id)).length, 1)
  const reply = await inBulk('unblock', [ann.id, ben.id, cat.id, dan.id, 999_999])
  assertOk(reply)
  assert.deepEqual(
    [reply.body.message, reply.body.not_found, reply.body.refused],
    ['4 users unblocked.', [999_999], []],
  )
  assert.ok(reply.body.users.every(({ is_blocked }: { is_blocked: boolean }) => !is_blocked))
  assert.equal((await recordOf(admin, ann.id)).is_blocked, false)
  assert.equal((await recordOf(admin, dan.id)).is_blocked, true, 'it was blocked by itself')
  const actions = (await entriesOf(ann.id)).map(({ action }) => action)
  assert.deepEqual(actions, ['user.unblock', 'user.block'])
})

test('whom a rule protects is refused with the sentence of a single block, and all others are done', async () => {
  const alone = await blockUser(admin, admin.id)
  assertRefused(alone, 409)
  const reply = await inBulk('block', [admin.id, ann.id])
  assertOk(reply)
  assert.deepEqual(ids(reply.body), [ann.id])
  assert.deepEqual(reply.body.refused, [{ id: admin.id, error: alone.body.error }])
  assertOk(await unblockUser(admin, ann.id))
})

test('of a list with all administrators one stays, also for the operator', async () => {
  assertOk(await promote(admin, ann.id))
  const { status, body } = await berth.operate('POST', '/api/admin/users/bulk-block', {
    body: { user_ids: [admin.id, ann.id, ben.id] },
  })
  assert.equal(status, 200)
  assert.deepEqual(ids(body), [admin.id, ben.id])
  assert.equal(body.refused.length, 1)
  assert.equal(body.refused[0].id, ann.id)
  assert.match(body.refused[0].error, /last administrator/)
  assertOk(await inBulk('unblock', [admin.id, ben.id], ann))
  assertOk(await admin.call('POST', `/api/admin/users/${ann.id}/demote`))
})

test('an invalid or too long list is 400, and a user who is no administrator gets 403', async () => {
  for (const list of [[], ['1'], [1.5], undefined, Array.from({ length: 1_001 }, (_, id) => id + 1)])
    for (const verb of ['block', 'unblock'] as const) assertRefused(await inBulk(verb, list), 400)
  assertRefused(await inBulk('block', [ben.id], cat), 403)
  assert.match((await admin.call('POST', '/api/admin/users/bulk-block')).body.error, /"user_ids"/)
})

test('a thousand at once are blocked and unblocked, each written down', async () => {
  const people = Array.from({ length: 999 }, (_, each) => ({
    email: `crowd${each}@x.org`,
    slug: `crowd${each}`,
    state: 'active' as const,
    is_admin: 0,
    is_blocked: 0,
    created_at: 0,
  }))
  const { db } = berth.database
  await db.insertInto('users').values(people).execute()
  const crowd = (await db.selectFrom('users').select('id').where('slug', 'like', 'crowd%').execute()).map(
    ({ id }) => id,
  )
  const reply = await inBulk('block', [...crowd, ben.id])
  assertOk(reply)
  assert.equal(reply.body.users.length, 1_000)
  const entries = await db.selectFrom('audit_log').select('id').where('target', '=', `user:${crowd[500]}`).execute()
  assert.equal(entries.length, 1)
  assertOk(await inBulk('unblock', [...crowd, ben.id]))
  await db.deleteFrom('users').where('id', 'in', crowd).execute()
})

test('when one of many cannot be stored, none is blocked', async () => {
  const { db } = berth.database
  const target = sql.lit(`user:${cat.id}`)
  await sql`create trigger no_entry before insert on audit_log when new.target = ${target}
    begin select raise(abort, 'no'); end`.execute(db)
  assert.equal((await inBulk('block', [ben.id, cat.id, dan.id])).status, 500)
  await sql`drop trigger no_entry`.execute(db)
  for (const person of [ben, cat, dan]) assert.equal((await seenBy(admin, person.id)).is_blocked, false)
})

test('what is foretold of a block is what it does', async () => {
  assertOk(await promote(admin, ben.id))
  assertOk(await ben.call('POST', '/api/container/launch/dev'))
  assertOk(await ben.call('POST', '/api/container/launch/prod'))
  const single = await recordOf(admin, ben.id, 'prod')
  assertOk(await blockContainer(admin, single.id))
  // The first session was ended by the blocks above.
  const { body: auth } = await verify(berth, 'login', await tokenBy(berth, 'login', 'ben@x.org'))
  const begin = { body: { reason: 'a test' }, token: auth.access_token }
  const takeovers = await Promise.all(
    [cat, dan].map(({ id }) => berth.call('POST', `/api/admin/users/${id}/takeover`, begin)),
  )
  const foretold = await preview(ben.id)
  assertOk(foretold)
  const dev = await recordOf(admin, ben.id, 'dev')
  assert.deepEqual(foretold.body as BlockPreview, {
    sessions: 2,
    containers: [
      { id: dev.id, container_type: 'dev', is_running: true, is_blocked: false },
      { id: single.id, container_type: 'prod', is_running: false, is_blocked: true },
    ],
  })
  assert.deepEqual((await preview(ben.id)).body, foretold.body, 'looking changes nothing')

  assertOk(await blockUser(admin, ben.id))
  for (const { body } of takeovers)
    assertRefused(await berth.call('GET', '/api/user/me', { token: body.access_token }), 401)
  assertOk(await ben.call('GET', '/api/user/me'))
  assert.equal(await engineState(berth, dev.container_id ?? ''), 'exited')
  assert.deepEqual((await preview(ben.id)).body, {
    sessions: 0,
    containers: foretold.body.containers.map((each: object) => ({ ...each, is_running: false })),
  })
  assertOk(await unblockUser(admin, ben.id))
  assert.equal((await recordOf(admin, ben.id, 'prod')).is_blocked, true)
  assert.equal((await recordOf(admin, ben.id, 'dev')).is_blocked, false)
})

test('the preview refuses what the block would refuse, and an unknown user is 404', async () => {
  assert.equal((await preview(admin.id)).body.error, (await blockUser(admin, admin.id)).body.error)
  assertRefused(await preview(admin.id), 409)
  assertRefused(await preview(999_999), 404)
  assertRefused(await admin.call('GET', '/api/admin/users/ann/block-preview'), 404)
})

test('an engine that does not answer does not keep a block of many from counting', async () => {
  deafness.active = true
  try {
    const reply = await inBulk('block', [cat.id, dan.id])
    assertOk(reply)
    assertRefused(await cat.call('POST', '/api/container/launch/dev'), 403, ['blocked_at'])
  } finally {
    deafness.active = false
  }
})
