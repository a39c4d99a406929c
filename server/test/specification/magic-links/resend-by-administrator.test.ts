import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { insertUser } from '#/store/users.ts'
import { ask, assertOk, assertRefused, blockUser, mailsTo, verify } from '../../support/api-calls.ts'
import { startBerth } from '../../support/berth.ts'
import { noCreateRuntime } from '../../support/engine/faulty-runtimes.ts'
import { refusingMailer } from '../../support/mail/faulty-mail-server.ts'

const berth = await startBerth({ after }, { wrapRuntime: noCreateRuntime })
const admin = await berth.administrator()
const resend = (id: number | string) => admin.call('POST', `/api/admin/users/${id}/resend-verification`)

async function registered(email: string): Promise<number> {
  assertOk(await ask(berth, 'signup', email))
  const users = berth.database.db.selectFrom('users').select('id').where('email', '=', email)
  return (await users.executeTakeFirstOrThrow()).id
}

test('an administrator has another signup link mailed to who never verified; the mail says who, and it is written down', async () => {
  const id = await registered('lost@x.org')
  const reply = await resend(id)
  assertOk(reply)
  assert.deepEqual(Object.keys(reply.body), ['message'])
  assert.equal(mailsTo(berth, 'lost@x.org'), 2)
  assert.match(berth.mail.newestTo('lost@x.org').text ?? '', /boss@x\.org had this link sent/)
  assertOk(await verify(berth, 'signup', berth.mail.tokenFor('lost@x.org')))
  const { body } = await admin.call('GET', `/api/admin/audit?target=user:${id}`)
  const [{ action, actor, detail }, ...more] = body.entries
  assert.deepEqual([action, actor, more.length], ['user.resend-verification', { id: admin.id, email: 'boss@x.org' }, 0])
  assert.deepEqual(detail, { address: '127.0.0.1' })
})

test('who is verified or blocked is 409, who does not exist 404, and nothing is mailed or written down', async () => {
  const [verified, blocked] = [await berth.signUpWithoutContainer('verified@x.org'), await registered('blocked@x.org')]
  assertOk(await blockUser(admin, blocked))
  const entries = async () => (await admin.call('GET', '/api/admin/audit')).body.entries.length
  const before = await entries()
  for (const id of [verified.id, blocked, admin.id]) assertRefused(await resend(id), 409)
  for (const id of [999_999, 'x', '1e3']) assertRefused(await resend(id), 404)
  assert.deepEqual([mailsTo(berth, 'verified@x.org'), mailsTo(berth, 'blocked@x.org')], [1, 1])
  assert.equal(await entries(), before)
})

test("the address's limit counts: 429, and no entry in the audit log", async () => {
  const id = await registered('often@x.org')
  for (let time = 1; time <= 2; time++) assertOk(await resend(id))
  const refused = await resend(id)
  assertRefused(refused, 429)
  assert.ok(Number(refused.headers.get('retry-after')) > 0)
  assert.equal(mailsTo(berth, 'often@x.org'), 3)
  assert.equal((await admin.call('GET', `/api/admin/audit?target=user:${id}`)).body.entries.length, 2)
})

test('a mail that is not accepted is 500, leaves no link, takes no place of the hour, and is written down', async (t) => {
  const { operate, database } = await startBerth(t, { wrapRuntime: noCreateRuntime, mailer: refusingMailer })
  const { id } = await insertUser(database.db, { email: 'ann@x.org', slug: 'ann', isAdmin: false, now: new Date() })
  assertRefused(await operate('POST', `/api/admin/users/${id}/resend-verification`), 500)
  for (const table of ['magic_links', 'link_requests'] as const)
    assert.deepEqual(await database.db.selectFrom(table).selectAll().execute(), [])
  const { body } = await operate('GET', '/api/admin/audit')
  assert.deepEqual(
    body.entries.map(({ action, actor }: { action: string; actor: object }) => ({ action, actor })),
    ['user.resend-verification-failed', 'user.resend-verification'].map((action) => ({
      action,
      actor: { id: null, email: 'operator root' },
    })),
  )
})
