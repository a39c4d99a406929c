import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { auditDetail } from '../../support/audit-detail.ts'
import {
  ask,
  assertOk,
  assertRefused,
  blockContainer,
  blockUser,
  engineState,
  instant,
} from '../../support/api-calls.ts'
import { logIn, recordOf, seenBy, tokenBy, unblockContainer, unblockUser, verify } from '../../support/api-calls.ts'
import { startBerth, type Person } from '../../support/berth.ts'

const berth = await startBerth({ after }, { env: { ADMIN_EMAILS: 'deputy@x.org' } })
const admin = await berth.administrator()

async function personWithBoth(name: string): Promise<Person> {
  const person = await berth.signUp(`${name}@x.org`)
  assertOk(await person.call('POST', '/api/container/launch/prod'))
  return person
}

test('blocking a user blocks the user and every container of theirs, and stops the containers', async () => {
  const ann = await personWithBoth('ann')
  const reply = await blockUser(admin, ann.id)
  assertOk(reply)
  assert.deepEqual(Object.keys(reply.body).sort(), ['message', 'user'])
  assert.equal(reply.body.user.is_blocked, true)
  assert.equal(reply.body.user.containers.length, 2)
  for (const { is_blocked, blocked_at, blocked_by, container_id } of reply.body.user.containers) {
    assert.deepEqual([is_blocked, blocked_by], [true, admin.id])
    assert.match(blocked_at, instant)
    assert.equal(await engineState(berth, container_id), 'exited')
  }
})

test('blocking a user leaves the containers of others alone', async () => {
  const [ben, cat] = [await berth.signUpWithoutContainer('ben@x.org'), await berth.signUp('cat@x.org')]
  assertOk(await blockUser(admin, ben.id))
  assert.equal((await recordOf(admin, cat.id)).is_blocked, false)
  assert.equal(await engineState(berth, cat.auth.user.container_id ?? ''), 'running')
})

test('blocked users are refused with 403 at login, at signup of their address, and at login verification', async () => {
  const dan = await berth.signUpWithoutContainer('dan@x.org')
  const token = await tokenBy(berth, 'login', 'dan@x.org')
  assertOk(await blockUser(admin, dan.id))
  assertRefused(await ask(berth, 'login', 'dan@x.org'), 403)
  assertRefused(await ask(berth, 'signup', 'dan@x.org'), 403)
  assertRefused(await verify(berth, 'login', token), 403)
})

test('with a live token a blocked user may read, and launches nothing: 400 for an unknown type, 403 for every other', async () => {
  const hugo = await berth.signUpWithoutContainer('hugo@x.org')
  assertOk(await blockUser(admin, hugo.id))
  for (const path of ['user/me', 'user/containers', 'container/status'])
    assertOk(await hugo.call('GET', `/api/${path}`))
  for (const what of ['launch/dev', 'launch/prod', 'restart', 'stop/dev', 'keep/dev'])
    assertRefused(await hugo.call('POST', `/api/container/${what}`), 403, ['blocked_at'])
  assert.match((await hugo.call('POST', '/api/container/launch/dev')).body.blocked_at, instant)
  assertRefused(await hugo.call('POST', '/api/container/launch/nonsense'), 400)
  assertRefused(await hugo.call('GET', '/api/container/logs/nonsense'), 400)
  assertRefused(await hugo.call('GET', '/api/container/logs/dev'), 403)
})

test('a user block is written to the audit log with the containers it took along', async () => {
  const eve = await berth.signUpWithoutContainer('eve@x.org')
  assertOk(await blockUser(admin, eve.id))
  const log = berth.database.db.selectFrom('audit_log').selectAll()
  const entry = await log.where('target', '=', `user:${eve.id}`).executeTakeFirstOrThrow()
  assert.deepEqual([entry.action, entry.actor_id], ['user.block', admin.id])
  assert.deepEqual(await auditDetail(berth.database.db, entry), {
    containers: [(await recordOf(admin, eve.id)).id],
    before: { is_blocked: false },
    after: { is_blocked: true },
    address: '127.0.0.1',
  })
})

test('blocking a blocked user again is written down when it blocks a container that was unblocked alone', async () => {
  const una = await berth.signUpWithoutContainer('una@x.org')
  assertOk(await blockUser(admin, una.id))
  const { id } = await recordOf(admin, una.id)
  assertOk(await unblockContainer(admin, id))
  assertOk(await blockUser(admin, una.id))
  assert.equal((await recordOf(admin, una.id)).is_blocked, true)
  const log = berth.database.db.selectFrom('audit_log').selectAll()
  const entries = await log.where('target', '=', `user:${una.id}`).execute()
  assert.deepEqual(
    entries.map(({ detail }) => JSON.parse(detail).containers),
    [[id], [id]],
  )
})

test('unblocking a user releases the containers that the cascade blocked, and only these; they can log in again', async () => {
  const fay = await personWithBoth('fay')
  const single = await recordOf(admin, fay.id, 'prod')
  assertOk(await blockContainer(admin, single.id))
  const { blocked_at } = await recordOf(admin, fay.id, 'prod')
  assertOk(await blockUser(admin, fay.id))
  assert.equal((await recordOf(admin, fay.id, 'prod')).blocked_at, blocked_at, 'the first block keeps its date')
  const reply = await unblockUser(admin, fay.id)
  assertOk(reply)
  assert.equal(reply.body.user.is_blocked, false)
  assert.equal((await recordOf(admin, fay.id, 'dev')).is_blocked, false)
  assert.equal((await recordOf(admin, fay.id, 'prod')).is_blocked, true)
  assertOk(await logIn(berth, 'fay@x.org'))
})

test('blocking and unblocking a user twice is 200, and one change each in the audit log', async () => {
  const gus = await berth.signUpWithoutContainer('gus@x.org')
  const first = await blockUser(admin, gus.id)
  const again = await blockUser(admin, gus.id)
  assertOk(again)
  assert.deepEqual(again.body.user, first.body.user)
  for (let time = 1; time <= 2; time++) assertOk(await unblockUser(admin, gus.id))
  const log = berth.database.db.selectFrom('audit_log').select('action').where('target', '=', `user:${gus.id}`)
  const actions = (await log.orderBy('id').execute()).map(({ action }) => action)
  assert.deepEqual(actions, ['user.block', 'user.unblock'])
})

test('a user who does not exist is 404', async () => {
  assertRefused(await blockUser(admin, 999_999), 404)
  assertRefused(await unblockUser(admin, 999_999), 404)
})

test('an administrator cannot block himself: 409', async () => {
  assertRefused(await blockUser(admin, admin.id), 409)
  assert.equal((await seenBy(admin, admin.id)).is_blocked, false)
})

test('of two administrators who block each other at once one stays', async () => {
  const deputy = await berth.signUpWithoutContainer('deputy@x.org')
  const replies = await Promise.all([blockUser(admin, deputy.id), blockUser(deputy, admin.id)])
  assert.deepEqual(replies.filter(({ status }) => status === 200).length, 1)
  const left = berth.database.db.selectFrom('users').select('id').where('is_admin', '=', 1).where('is_blocked', '=', 0)
  assert.equal((await left.execute()).length, 1)
})
