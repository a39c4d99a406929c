import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  ask,
  assertOk,
  assertRefused,
  blockUser,
  deleteUser,
  demote,
  promote,
  seenBy,
} from '../../support/api-calls.ts'
import { unblockUser } from '../../support/api-calls.ts'
import { startBerth, type Person } from '../../support/berth.ts'
import { noCreateRuntime } from '../../support/engine/faulty-runtimes.ts'

const berth = await startBerth({ after }, { wrapRuntime: noCreateRuntime })
const admin = await berth.administrator()

async function auditOf(id: number) {
  const { body } = await admin.call('GET', `/api/admin/audit?target=user:${id}`)
  return body.entries.toReversed()
}

test('promote makes an administrator, demote an ordinary user again, at their very next request and with the token they have', async () => {
  const ann = await berth.signUpWithoutContainer('ann@x.org')
  assertRefused(await ann.call('GET', '/api/admin/users'), 403)
  const promoted = await promote(admin, ann.id)
  assertOk(promoted)
  assert.deepEqual(Object.keys(promoted.body).sort(), ['message', 'user'])
  assert.deepEqual(promoted.body.user, await seenBy(admin, ann.id))
  assert.equal(promoted.body.user.is_admin, true)
  assertOk(await ann.call('GET', '/api/admin/users'))
  assert.equal((await ann.call('GET', '/api/user/me')).body.user.is_admin, true)
  const demoted = await demote(admin, ann.id)
  assertOk(demoted)
  assert.equal(demoted.body.user.is_admin, false)
  assertRefused(await ann.call('GET', '/api/admin/users'), 403)
})

test('repeated, both are 200, change nothing, and are no second entry in the audit log', async () => {
  const ben = await berth.signUpWithoutContainer('ben@x.org')
  assertOk(await demote(admin, ben.id))
  for (let time = 1; time <= 2; time++) assertOk(await promote(admin, ben.id))
  for (let time = 1; time <= 2; time++) assertOk(await demote(admin, ben.id))
  const changes = (await auditOf(ben.id)).map(({ action, actor, detail }: never) => ({ action, actor, detail }))
  const entry = (action: string, before: boolean) => ({
    action,
    actor: { id: admin.id, email: 'boss@x.org' },
    detail: { before: { is_admin: before }, after: { is_admin: !before }, address: '127.0.0.1' },
  })
  assert.deepEqual(changes, [entry('user.promote', false), entry('user.demote', true)])
})

test('who is blocked may be made an administrator, and administers once they are unblocked', async () => {
  const cat = await berth.signUpWithoutContainer('cat@x.org')
  assertOk(await blockUser(admin, cat.id))
  assertOk(await promote(admin, cat.id))
  assertRefused(await cat.call('GET', '/api/admin/users'), 403)
  assertOk(await unblockUser(admin, cat.id))
  assertOk(await cat.call('GET', '/api/admin/users'))
  assertOk(await demote(admin, cat.id))
})

test('an administrator cannot demote himself: 409', async () => {
  assertRefused(await demote(admin, admin.id), 409)
  assertOk(await admin.call('GET', '/api/admin/users'))
})

test('a user who does not exist is 404', async () => {
  for (const id of ['999999', 'x', '0', '9'.repeat(16)])
    for (const verb of ['promote', 'demote'])
      assertRefused(await admin.call('POST', `/api/admin/users/${id}/${verb}`), 404)
})

/**
 * Who may take what from whom. In each case there are the administrators named, all verified but `new`, and no others
 * in charge.
 */
type Who = 'anna' | 'bert' | 'new' | 'operator'
interface Case {
  readonly is: string
  /** Besides anna, who is always one. */
  readonly admins: readonly Who[]
  readonly blocked?: readonly Who[]
  readonly actor: 'anna' | 'operator'
  readonly target: Exclude<Who, 'operator'>
  readonly status: 200 | 409
}
const cases: readonly Case[] = [
  { is: 'an administrator another one', admins: ['bert'], actor: 'anna', target: 'bert', status: 200 },
  { is: 'an administrator a user who is none', admins: [], actor: 'anna', target: 'bert', status: 200 },
  { is: 'an administrator himself', admins: ['bert'], actor: 'anna', target: 'anna', status: 409 },
  { is: 'the last administrator himself', admins: [], actor: 'anna', target: 'anna', status: 409 },
  {
    is: 'an administrator a blocked one',
    admins: ['bert'],
    blocked: ['bert'],
    actor: 'anna',
    target: 'bert',
    status: 200,
  },
  { is: 'the operator one of two', admins: ['bert'], actor: 'operator', target: 'anna', status: 200 },
  { is: 'the operator a user who is none', admins: [], actor: 'operator', target: 'bert', status: 200 },
  { is: 'the operator the last one', admins: [], actor: 'operator', target: 'anna', status: 409 },
  {
    is: 'the operator the last one who is not blocked',
    admins: ['bert'],
    blocked: ['bert'],
    actor: 'operator',
    target: 'anna',
    status: 409,
  },
  {
    is: 'the operator a blocked one beside the last',
    admins: ['bert'],
    blocked: ['bert'],
    actor: 'operator',
    target: 'bert',
    status: 200,
  },
  {
    is: 'the operator the last one who ever signed in',
    admins: ['new'],
    actor: 'operator',
    target: 'anna',
    status: 409,
  },
]

const actions = {
  block: ['POST', (id: number) => `/api/admin/users/${id}/block`],
  demote: ['POST', (id: number) => `/api/admin/users/${id}/demote`],
  delete: ['DELETE', (id: number) => `/api/admin/users/${id}`],
} as const

for (const [verb, [method, path]] of Object.entries(actions))
  test(`${verb}: no administrator removes themselves, and one always remains`, async () => {
    const { db } = berth.database
    const people = { anna: await newPerson(), bert: await newPerson() }
    assertOk(await ask(berth, 'signup', `new-${verb}@x.org`))
    const added = await db
      .selectFrom('users')
      .selectAll()
      .where('email', '=', `new-${verb}@x.org`)
      .executeTakeFirstOrThrow()
    const ids = { anna: people.anna.id, bert: people.bert.id, new: added.id }
    const before = await db.selectFrom('users').selectAll().execute()
    for (const { is, admins, blocked = [], actor, target, status } of cases) {
      await db.updateTable('users').set({ is_admin: 0, is_blocked: 0 }).execute()
      for (const who of ['anna', 'bert', 'new'] as const) {
        // Deleted in the case before: back, with the same id as their token says.
        if (!(await db.selectFrom('users').where('id', '=', ids[who]).select('id').executeTakeFirst()))
          await db
            .insertInto('users')
            .values(before.filter(({ id }) => id === ids[who]))
            .execute()
        const state = {
          is_admin: Number(who === 'anna' || admins.includes(who)),
          is_blocked: Number(blocked.includes(who)),
        }
        await db.updateTable('users').set(state).where('id', '=', ids[who]).execute()
      }
      const call = actor === 'operator' ? berth.operate : people.anna.call
      const reply = await call(method, path(ids[target]))
      assert.equal(reply.status, status, `${is}: ${reply.text}`)
      const inCharge = db.selectFrom('users').select('id').where('is_admin', '=', 1).where('is_blocked', '=', 0)
      assert.ok((await inCharge.where('state', '!=', 'registered').execute()).length > 0, is)
    }
    await db.updateTable('users').set({ is_admin: 1, is_blocked: 0 }).where('id', '=', admin.id).execute()
  })

test('the operator promotes and demotes without an account, and the audit log has their name', async () => {
  const dan = await berth.signUpWithoutContainer('dan@x.org')
  assertOk(await berth.operate('POST', `/api/admin/users/${dan.id}/promote`))
  const [entry] = await auditOf(dan.id)
  assert.deepEqual([entry.action, entry.actor], ['user.promote', { id: null, email: 'operator root' }])
  assert.equal(entry.detail.address, 'command line')
  assertOk(await demote(admin, dan.id))
})

test('of two administrators who demote each other, or one demotes and one deletes or blocks, at once one stays', async () => {
  for (const other of [demote, deleteUser, blockUser]) {
    const [one, two] = [await newPerson(), await newPerson()]
    for (const { id } of [one, two]) assertOk(await promote(admin, id))
    const replies = await Promise.all([demote(one, two.id), other(two, one.id)])
    assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 403], replies.map(({ text }) => text).join(' '))
    for (const { id } of [one, two]) if (await seenBy(admin, id)) assertOk(await demote(admin, id))
  }
})

let count = 0
const newPerson = (): Promise<Person> => berth.signUpWithoutContainer(`person${++count}@x.org`)
