import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  ask,
  assertOk,
  assertRefused,
  blockContainer,
  blockUser,
  deleteUser,
  mailsTo,
  onEngine,
} from '../../support/api-calls.ts'
import { recordOf, seenBy, tokenBy, verify } from '../../support/api-calls.ts'
import { startBerth, type Person } from '../../support/berth.ts'
import { openStream } from '../../support/event-stream.ts'
import { homesOf, markedTemplates, markOf } from '../../support/engine/homes.ts'

const env = { CONTAINER_TEMPLATES: await markedTemplates(), ADMIN_EMAILS: 'deputy@x.org,second@x.org,third@x.org' }
const berth = await startBerth({ after }, { env })
const admin = await berth.administrator()

async function personWithBoth(name: string): Promise<Person> {
  const person = await berth.signUp(`${name}@x.org`)
  assertOk(await person.call('POST', '/api/container/launch/prod'))
  return person
}

test('deleting a user removes the account, its records and its containers; its homes stay', async () => {
  const ann = await personWithBoth('ann')
  const homes = await homesOf(berth, ann.id)
  const reply = await deleteUser(admin, ann.id)
  assertOk(reply)
  assert.deepEqual(Object.keys(reply.body), ['message'])
  assert.equal(await seenBy(admin, ann.id), undefined)
  assert.deepEqual(await onEngine(berth, ann.id), [])
  assert.equal(homes.length, 2)
  assert.deepEqual(await homesOf(berth, ann.id), homes)
  assertRefused(await deleteUser(admin, ann.id), 404)
})

test('with purge=true no home of theirs is kept, and those of others are', async () => {
  const [ben, bea] = [await personWithBoth('ben'), await berth.signUp('bea@x.org')]
  assertOk(await deleteUser(admin, ben.id, '?purge=true'))
  assert.deepEqual(await homesOf(berth, ben.id), [])
  assert.equal((await homesOf(berth, bea.id)).length, 1)
})

test('the token of a deleted user answers 404, passes no request through the gateway, and no open page gets events', async () => {
  const cat = await berth.signUp('cat@x.org')
  const page = await openStream(berth, cat.token)
  await markOf(cat)
  assertOk(await deleteUser(admin, cat.id))
  for (const [method, path] of [
    ['GET', '/api/user/me'],
    ['GET', '/api/user/containers'],
    ['GET', '/api/container/status'],
    ['POST', '/api/container/restart'],
    ['POST', '/api/container/launch/dev'],
    ['POST', '/api/container/launch/unknown'],
  ] as const)
    assertRefused(await cat.call(method, path), 404)
  assertRefused(await cat.call('GET', '/api/admin/users'), 403)
  assertRefused(await cat.call('GET', '/cat-dev/home.txt'), 401)
  await page.ended
  assertOk(await cat.call('POST', '/api/auth/logout'))
})

test('links of a deleted user are void, and their address is as unknown as any other', async () => {
  await berth.signUpWithoutContainer('dan@x.org')
  const token = await tokenBy(berth, 'login', 'dan@x.org')
  assertOk(await deleteUser(admin, (await userBy('dan@x.org')).id))
  assertRefused(await verify(berth, 'login', token), 400)
  const mails = mailsTo(berth, 'dan@x.org')
  assertOk(await ask(berth, 'login', 'dan@x.org'))
  assert.equal(mailsTo(berth, 'dan@x.org'), mails)
})

test('a user who signs up again with the same address is a new one: another id, another slug, an empty home', async () => {
  const old = await berth.signUp('eve@x.org')
  const mark = await markOf(old)
  assertOk(await deleteUser(admin, old.id))
  const anew = await berth.signUp('eve@x.org')
  assert.ok(anew.id > old.id)
  assert.match(anew.slug, /^eve[a-z0-9]{4}$/)
  assert.notEqual(await markOf(anew), mark)
  assert.equal((await homesOf(berth, old.id)).length, 1)
  assertRefused(await old.call('GET', '/api/user/me'), 404)
})

test('a user who is blocked, or never verified their address, can be deleted', async () => {
  const fay = await berth.signUp('fay@x.org')
  assertOk(await blockUser(admin, fay.id))
  assertOk(await deleteUser(admin, fay.id))
  assert.deepEqual(await onEngine(berth, fay.id), [])
  assertOk(await ask(berth, 'signup', 'gus@x.org'))
  assertOk(await deleteUser(admin, (await userBy('gus@x.org')).id))
  assertRefused(await verify(berth, 'signup', berth.mail.tokenFor('gus@x.org')), 400)
})

test('a deletion is written to the audit log, where it outlives whom it was about', async () => {
  const hal = await berth.signUpWithoutContainer('hal@x.org')
  const { id } = await recordOf(admin, hal.id)
  assertOk(await deleteUser(admin, hal.id, '?purge=true'))
  const log = berth.database.db.selectFrom('audit_log').selectAll()
  const entry = await log.where('target', '=', `user:${hal.id}`).executeTakeFirstOrThrow()
  assert.deepEqual([entry.action, entry.actor_id], ['user.delete', admin.id])
  const detail = JSON.parse(entry.detail)
  assert.deepEqual([detail.slug, detail.purge, detail.containers.includes(id)], ['hal', true, true])
  const { state, is_admin, is_blocked } = detail.before
  assert.deepEqual([state, is_admin, is_blocked], ['verified', false, false])
  // What the retention of personal data deletes lies beside the log.
  assert.equal(/hal@x\.org|127\.0\.0\.1/.test(entry.detail), false)
  const [listed] = (await admin.call('GET', `/api/admin/audit?target=user:${hal.id}`)).body.entries
  assert.equal(listed.detail.before.email, 'hal@x.org')
  assert.equal(listed.detail.address, '127.0.0.1')
})

test('a block outlives the administrator who made it, and blocked_by becomes null', async () => {
  const [third, ivy] = [
    await berth.signUpWithoutContainer('third@x.org'),
    await berth.signUpWithoutContainer('ivy@x.org'),
  ]
  assertOk(await blockContainer(third, (await recordOf(admin, ivy.id)).id))
  assertOk(await deleteUser(admin, third.id))
  const { is_blocked, blocked_by, blocked_at } = await recordOf(admin, ivy.id)
  assert.deepEqual([is_blocked, blocked_by, typeof blocked_at], [true, null, 'string'])
})

test('an administrator cannot delete himself: 409; and what is no user is 404', async () => {
  assertRefused(await deleteUser(admin, admin.id), 409)
  for (const unknown of ['999999', 'x', '1'.repeat(16)])
    assertRefused(await admin.call('DELETE', `/api/admin/users/${unknown}`), 404)
  assertRefused(await deleteUser(admin, admin.id, '?purge=maybe'), 400)
  assertOk(await admin.call('GET', '/api/user/me'))
})

test('of two administrators who delete each other at once one stays, also when there is a third', async () => {
  const [deputy, second] = [
    await berth.signUpWithoutContainer('deputy@x.org'),
    await berth.signUpWithoutContainer('second@x.org'),
  ]
  const deleteEachOther = (one: Person, other: Person) =>
    Promise.all([deleteUser(one, other.id), deleteUser(other, one.id)])
  const admins = berth.database.db.selectFrom('users').select('id').where('is_admin', '=', 1)
  const replies = await deleteEachOther(deputy, second)
  assert.equal(replies.filter(({ status }) => status === 200).length, 1)
  const left = (await seenBy(admin, deputy.id)) ? deputy : second
  const last = await deleteEachOther(admin, left)
  assert.equal(last.filter(({ status }) => status === 200).length, 1)
  assert.equal((await admins.execute()).length, 1)
})

async function userBy(email: string): Promise<{ id: number }> {
  const listed = await admin.call('GET', `/api/admin/users?q=${encodeURIComponent(email)}`)
  return listed.body.users[0]
}
