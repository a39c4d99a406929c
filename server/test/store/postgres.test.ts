import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { verifyAuditLog } from '#/store/verify-audit-log.ts'
import { ask, assertOk, blockUser, deleteUser, demote, mailsTo, onEngine, promote } from '../support/api-calls.ts'
import { recordOf, unblockUser, verify } from '../support/api-calls.ts'
import { startBerth, type Person } from '../support/berth.ts'
import { startPostgres } from '../support/store/postgres.ts'
import { onlyLong } from '#test/support/extent.ts'

/** A whole Berth on PostgreSQL, where transactions do overlap: what SQLite's single writer gives for nothing is proved here. */
const postgres = await startPostgres()
const berth = await startBerth({ after }, { env: { DATABASE_URL: postgres.url } })
after(() => berth.close().then(() => postgres.stop()))

test('of twenty first sign-ups at once exactly one becomes administrator', async () => {
  const emails = Array.from({ length: 20 }, (_, index) => `first${index}@x.org`)
  const replies = await Promise.all(emails.map((email) => ask(berth, 'signup', email)))
  replies.forEach(assertOk)
  const admins = await berth.database.db.selectFrom('users').select('id').where('is_admin', '=', 1).execute()
  assert.equal(admins.length, 1)
})

test('of twenty logins for one address at once three are mailed and the others are 429', onlyLong, async () => {
  const ann = await berth.signUp('ann@x.org')
  assert.ok(ann.token)
  const before = mailsTo(berth, 'ann@x.org')
  const replies = await Promise.all(Array.from({ length: 20 }, () => ask(berth, 'login', 'ann@x.org')))
  const mailed = mailsTo(berth, 'ann@x.org') - before
  // The signup link took one of the three places.
  assert.equal(mailed, 2)
  assert.equal(replies.filter(({ status }) => status === 200).length, 2)
  assert.equal(replies.filter(({ status }) => status === 429).length, 18)
})

test('of ten uses of one link at once one signs in', async () => {
  assertOk(await ask(berth, 'signup', 'ben@x.org'))
  const token = berth.mail.tokenFor('ben@x.org')
  const replies = await Promise.all(Array.from({ length: 10 }, () => verify(berth, 'signup', token)))
  assert.deepEqual(replies.map(({ status }) => status).sort(), [200, ...Array<number>(9).fill(400)])
})

test(
  'what many administrators do at once to each other and to the same people all succeeds, in one whole audit log',
  onlyLong,
  async () => {
    const people = await Promise.all(['one', 'two', 'six', 'ten'].map((name) => berth.signUp(`${name}@x.org`)))
    const ids = people.map(({ id }) => id)
    const records = await berth.database.db
      .selectFrom('user_containers')
      .select('id')
      .where('user_id', 'in', ids)
      .execute()
    const admins = await Promise.all(['a', 'b', 'c'].map((name) => newAdmin(`admin-${name}@x.org`)))
    const bulk = (verb: string, list: number[]) => (admin: Person) =>
      admin.call('POST', `/api/admin/containers/bulk-${verb}`, { body: { container_ids: list } })
    const forward = records.map(({ id }) => id)
    const deeds = [bulk('block', forward), bulk('unblock', forward.toReversed())].concat(
      people.flatMap(({ id }) =>
        [blockUser, promote, unblockUser, demote].map((deed) => (admin: Person) => deed(admin, id)),
      ),
    )
    // Each begins with another one; all of them at once would only wait in one long line.
    const work = admins.map(async (admin, at) => {
      for (const deed of [...deeds.slice(at * 5), ...deeds.slice(0, at * 5)]) assertOk(await deed(admin))
    })
    await Promise.all([...work, ...admins.map(async (admin) => assertOk(await bulk('block', forward)(admin)))])
    const verdict = await verifyAuditLog(berth.database.db)
    assert.equal(verdict.firstBroken, null)
    assert.ok(verdict.entries > 10, `${verdict.entries}`)
  },
)

test('launch, list, block, delete and sign out work as on SQLite', async () => {
  const { id } = await berth.database.db
    .selectFrom('users')
    .select('id')
    .where('is_admin', '=', 1)
    .executeTakeFirstOrThrow()
  const { email } = await berth.database.db
    .selectFrom('users')
    .select('email')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  assertOk(await verify(berth, 'signup', berth.mail.tokenFor(email)))
  assertOk(await ask(berth, 'login', email))
  const signedIn = await verify(berth, 'login', berth.mail.tokenFor(email))
  const token = signedIn.body.access_token as string
  const admin = {
    token,
    id,
    slug: signedIn.body.user.slug,
    auth: signedIn.body,
    call: (...[m, p, o]: Parameters<typeof berth.call>) => berth.call(m, p, { token, ...o }),
  }
  const eve = await berth.signUp('eve@x.org')
  assertOk(await eve.call('POST', '/api/container/launch/prod'))
  const listed = await eve.call('GET', '/api/user/containers')
  assert.deepEqual(
    listed.body.containers.map(({ status }: { status: string }) => status),
    ['running', 'running'],
  )
  assertOk(await admin.call('POST', `/api/admin/users/${eve.id}/block`))
  assert.equal((await eve.call('POST', '/api/container/launch/prod')).status, 403)
  assert.equal((await recordOf(admin, eve.id, 'prod')).is_blocked, true)
  const deletions = await Promise.all(Array.from({ length: 10 }, () => deleteUser(admin, eve.id)))
  assert.deepEqual(deletions.map(({ status }) => status).sort(), [200, ...Array<number>(9).fill(404)])
  assert.deepEqual(await onEngine(berth, eve.id), [])
  assertOk(await admin.call('POST', '/api/auth/logout'))
  assert.equal((await admin.call('GET', '/api/user/me')).status, 401)
})

test('of administrators who demote, block and delete each other at once one stays in charge', onlyLong, async () => {
  const admins = await Promise.all(['x', 'y', 'z'].map((name) => newAdmin(`ring-${name}@x.org`)))
  await berth.database.db
    .updateTable('users')
    .set({ is_admin: 0 })
    .where(
      'id',
      'not in',
      admins.map(({ id }) => id),
    )
    .execute()
  const deeds = [demote, blockUser, deleteUser]
  const replies = await Promise.all(admins.map((admin, at) => deeds[at]?.(admin, admins[(at + 1) % 3]?.id ?? 0)))
  const left = berth.database.db.selectFrom('users').select('id').where('is_admin', '=', 1).where('is_blocked', '=', 0)
  const statuses = replies.map((reply) => reply?.status)
  assert.ok((await left.execute()).length > 0, statuses.join())
  assert.deepEqual(
    [...new Set(statuses)].filter((status) => status !== 200 && status !== 403),
    [],
  )
})

test('an address or a search with a NUL, which PostgreSQL cannot hold, finds no user', async () => {
  const admin = await newAdmin('searching@x.org')
  for (const path of ['login', 'resend-verification'])
    assertOk(await berth.call('POST', `/api/auth/${path}`, { body: { email: 'ann\0@x.org' } }))
  const users = await admin.call('GET', '/api/admin/users?q=%00')
  assertOk(users)
  assert.deepEqual(users.body.users, [])
  const audit = await admin.call('GET', '/api/admin/audit?actor=searching%00')
  assertOk(audit)
  assert.deepEqual(audit.body.entries, [])
})

/** Made one in the store itself, because the order of the first sign-ups is not known here. */
async function newAdmin(email: string): Promise<Person> {
  const person = await berth.signUpWithoutContainer(email)
  await berth.database.db.updateTable('users').set({ is_admin: 1 }).where('id', '=', person.id).execute()
  return person
}
