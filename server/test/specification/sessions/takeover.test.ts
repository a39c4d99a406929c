import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { decodeJwt } from 'jose'
import { assertOk, assertRefused, blockUser, tokenBy, unblockUser, until } from '../../support/api-calls.ts'
import { startBerth, type Person, type Reply } from '../../support/berth.ts'
import { openStream } from '../../support/event-stream.ts'
import { noCreateRuntime } from '../../support/engine/faulty-runtimes.ts'

const berth = await startBerth(
  { after },
  { wrapRuntime: noCreateRuntime, env: { ADMIN_EMAILS: 'second@x.org,third@x.org,fourth@x.org' } },
)
const admin = await berth.administrator()
const ann = await berth.signUpWithoutContainer('ann@x.org')

const takeOver = (by: Person, id: number | string, body: unknown = { reason: 'Ann asked for help' }): Promise<Reply> =>
  by.call('POST', `/api/admin/users/${id}/takeover`, { body })
/** A session in which the administrator acts for Ann. */
async function takenOver(by = admin, of = ann): Promise<Pick<Person, 'token' | 'call'>> {
  const reply = await takeOver(by, of.id)
  assertOk(reply)
  const token: string = reply.body.access_token
  return { token, call: (method, path, options) => berth.call(method, path, { token, ...options }) }
}
const sessionsOf = async (person: Pick<Person, 'call'>) =>
  (await person.call('GET', '/api/user/sessions')).body.sessions as Reply['body'][]
const takeoversIn = (rows: Reply['body'][]) => rows.filter(({ taken_over_by }) => taken_over_by !== null)

test('a takeover answers as signing in does, for at most 15 minutes, and says in the token who acts', async () => {
  const reply = await takeOver(admin, ann.id)
  assertOk(reply)
  assert.deepEqual(Object.keys(reply.body), Object.keys(ann.auth))
  assert.deepEqual(reply.body.user, ann.auth.user)
  assert.equal(reply.body.expires_in, 900)
  const { sub, act, iat = 0, exp } = decodeJwt(reply.body.access_token)
  assert.deepEqual([sub, act, exp], [String(ann.id), { sub: String(admin.id) }, iat + 900])
})

test('a takeover sets no cookie', async () => {
  assert.deepEqual((await takeOver(admin, ann.id)).headers.getSetCookie(), [])
})

test('it lasts no longer than an ordinary token', async (t) => {
  const short = await startBerth(t, { wrapRuntime: noCreateRuntime, env: { JWT_ACCESS_TOKEN_EXPIRES: '60' } })
  const [boss, cat] = [await short.administrator(), await short.signUpWithoutContainer('cat@x.org')]
  assert.equal((await takeOver(boss, cat.id)).body.expires_in, 60)
})

test('without a reason it is 400, for an unknown user 404, for oneself 409, and for who is no administrator 403', async () => {
  for (const body of [null, {}, { reason: '' }, { reason: '   ' }, { reason: 'x'.repeat(501) }, { reason: 7 }])
    assertRefused(await takeOver(admin, ann.id, body), 400)
  for (const reason of ['a\u0000b', 'a\u202eb']) assertRefused(await takeOver(admin, ann.id, { reason }), 400)
  for (const id of [999_999, '1e3', 'ann']) assertRefused(await takeOver(admin, id), 404)
  assertRefused(await takeOver(admin, admin.id), 409)
  assertRefused(await takeOver(ann, admin.id), 403)
})

test('it reads and works as the owner, and what it does not administer it cannot end either', async () => {
  const owner = await berth.signUpWithoutContainer('owner@x.org')
  const session = await takenOver(admin, owner)
  assert.equal((await session.call('GET', '/api/user/me')).body.user.id, owner.id)
  const [{ id }] = await sessionsOf(owner)
  assertRefused(await session.call('DELETE', `/api/user/sessions/${id}`), 403)
  assertRefused(await session.call('POST', '/api/user/sessions/end-others'), 403)
  assertOk(await owner.call('GET', '/api/user/me'))
})

test('the session of an administrator that was taken over administers nothing, and no app learns otherwise', async () => {
  const second = await berth.signUpWithoutContainer('second@x.org')
  const session = await takenOver(admin, second)
  assertRefused(await session.call('GET', '/api/admin/users'), 403)
  assertRefused(await session.call('POST', `/api/admin/users/${ann.id}/block`), 403)
  assertRefused(await session.call('POST', `/api/admin/users/${ann.id}/takeover`, { body: { reason: 'x' } }), 403)
  assert.equal(decodeJwt(session.token)['is_admin'], false)
})

test('the owner hears of it at once, and sees for 30 days who it was, why, from where, and when it ended', async () => {
  const bea = await berth.signUpWithoutContainer('bea@x.org')
  const stream = await openStream(berth, bea.token)
  const session = await takenOver(admin, bea)
  await until(async () => stream.events.some(({ name }) => name === 'takeover'))
  const told = stream.events.find(({ name }) => name === 'takeover')?.data ?? {}
  assert.deepEqual([told['by'], told['reason']], ['boss@x.org', 'Ann asked for help'])
  stream.close()

  const [open] = takeoversIn(await sessionsOf(bea))
  assert.deepEqual(
    [open.taken_over_by, open.reason, open.address, open.ended_at, open.expires_at],
    ['boss@x.org', 'Ann asked for help', '127.0.0.1', null, told['until']],
  )
  assertOk(await session.call('POST', '/api/auth/logout'))
  const [over] = takeoversIn(await sessionsOf(bea))
  assert.ok(over.ended_at)
})

test('the owner may end it', async () => {
  const cid = await berth.signUpWithoutContainer('cid@x.org')
  const session = await takenOver(admin, cid)
  const [{ id }] = takeoversIn(await sessionsOf(cid))
  assertOk(await cid.call('DELETE', `/api/user/sessions/${id}`))
  assertRefused(await session.call('GET', '/api/user/me'), 401)
})

test('it may sign itself out, which leaves the administrator signed in as themselves', async () => {
  const session = await takenOver()
  const reply = await session.call('POST', '/api/auth/logout')
  assertOk(reply)
  assert.deepEqual(reply.headers.getSetCookie(), [])
  assertRefused(await session.call('GET', '/api/user/me'), 401)
  assertOk(await ann.call('GET', '/api/user/me'))
})

test('it is in the audit log, once, with the reason', async () => {
  const dot = await berth.signUpWithoutContainer('dot@x.org')
  await takenOver(admin, dot)
  const rows = await berth.database.db
    .selectFrom('audit_log')
    .selectAll()
    .where('target', '=', `user:${dot.id}`)
    .where('action', '=', 'user.takeover')
    .execute()
  assert.equal(rows.length, 1)
  const { actor_id: by, detail } = rows[0] ?? { actor_id: 0, detail: '{}' }
  assert.deepEqual([by, JSON.parse(detail).reason], [admin.id, 'Ann asked for help'])
})

// Only `end-takeover` was noted: who signed out instead left no trace of when they had stopped.
test('however it is ended, the audit log says so once, and by whom', async () => {
  const endsOf = async ({ id }: Person) => {
    const path = `/api/admin/audit?action=user.end-takeover&target=user:${id}`
    const { entries } = (await admin.call('GET', path)).body
    return entries.map(({ actor, detail }: Reply['body']) => [actor.email, detail.acting ?? null, detail.address])
  }
  const eli = await berth.signUpWithoutContainer('eli@x.org')
  const address = '127.0.0.1'
  const byAdmin = ['boss@x.org', null, address]
  const byOwner = ['eli@x.org', 'boss@x.org', address]

  const first = await takenOver(admin, eli)
  await Promise.all([1, 2, 3].map(() => first.call('POST', '/api/auth/logout')))
  assert.deepEqual(await endsOf(eli), [byAdmin])

  await takenOver(admin, eli)
  const [{ id }] = takeoversIn(await sessionsOf(eli))
  await Promise.all([1, 2, 3].map(() => eli.call('DELETE', `/api/user/sessions/${id}`)))
  assert.deepEqual(await endsOf(eli), [byOwner, byAdmin])

  await takenOver(admin, eli)
  await takenOver(admin, eli)
  assert.equal((await eli.call('POST', '/api/user/sessions/end-others')).body.ended, 2)
  assertOk(await eli.call('POST', '/api/user/sessions/end-others'))
  assert.deepEqual(await endsOf(eli), [byOwner, byOwner, byOwner, byAdmin])

  const { body } = await takeOver(admin, eli.id)
  const link = await tokenBy(berth, 'login', 'eli@x.org')
  const headers = { cookie: `spawner_token=${body.access_token}` }
  assertOk(await berth.call('GET', `/api/auth/verify-login?token=${link}`, { headers }))
  assert.deepEqual((await endsOf(eli))[0], byAdmin)
  assert.equal((await endsOf(eli)).length, 5)

  // Signing oneself out is no end of a takeover.
  assertOk(await eli.call('POST', '/api/auth/logout'))
  assert.equal((await endsOf(eli)).length, 5)
})

test('when the administrator is blocked, demoted or deleted, their takeovers end at once, at the gateway, too', async () => {
  const ends = {
    'second@x.org': (id: number) => blockUser(admin, id),
    'third@x.org': (id: number) => admin.call('POST', `/api/admin/users/${id}/demote`),
    'fourth@x.org': (id: number) => admin.call('DELETE', `/api/admin/users/${id}`),
  }
  for (const [email, end] of Object.entries(ends)) {
    const person = await berth.signUpWithoutContainer(email).catch(async () => {
      const link = await berth.call('POST', '/api/auth/login', { body: { email } })
      assertOk(link)
      const { body } = await berth.call('GET', `/api/auth/verify-login?token=${berth.mail.tokenFor(email)}`)
      const token: string = body.access_token
      return { id: body.user.id, token, call: (m, p, o) => berth.call(m, p, { token, ...o }) } as Person
    })
    const session = await takenOver(person)
    assert.notEqual((await session.call('GET', '/ann-dev/')).status, 401)
    assertOk(await end(person.id))
    assertRefused(await session.call('GET', '/api/user/me'), 401)
    assert.equal((await session.call('GET', '/ann-dev/')).status, 401, email)
  }
})

test('when the owner is blocked, takeovers of them end for good, at the gateway, too, and the preview counts them', async () => {
  const hal = await berth.signUpWithoutContainer('hal@x.org')
  const [first, second] = [await takenOver(admin, hal), await takenOver(admin, hal)]
  assert.equal((await admin.call('GET', `/api/admin/users/${hal.id}/block-preview`)).body.sessions, 2)
  assertOk(await blockUser(admin, hal.id))
  for (const unblock of [async () => undefined, async () => assertOk(await unblockUser(admin, hal.id))]) {
    await unblock()
    for (const session of [first, second]) {
      assertRefused(await session.call('GET', '/api/user/me'), 401)
      assert.equal((await session.call('GET', `/${hal.slug}-dev/`)).status, 401)
    }
  }
  const ends = takeoversIn(await sessionsOf(hal)).map(({ ended_at }) => typeof ended_at)
  assert.deepEqual(ends, ['string', 'string'])
})

test("an administrator's own token opens no container of a user; the token of a takeover opens the owner's only", async () => {
  const eve = await berth.signUpWithoutContainer('eve@x.org')
  assert.equal((await admin.call('GET', '/ann-dev/')).status, 403)
  const session = await takenOver()
  assert.notEqual((await session.call('GET', '/ann-dev/')).status, 403)
  assert.equal((await session.call('GET', '/boss-dev/')).status, 403)
  assert.equal((await session.call('GET', `/${eve.slug}-dev/`)).status, 403)
})

test('the operator may, who has no account: the token and the list say so', async () => {
  const fay = await berth.signUpWithoutContainer('fay@x.org')
  const reply = await berth.operate('POST', `/api/admin/users/${fay.id}/takeover`, { body: { reason: 'mail is down' } })
  assertOk(reply)
  const token: string = reply.body.access_token
  assert.deepEqual(decodeJwt(token)['act'], { sub: 'operator' })
  assertOk(await berth.call('GET', '/api/user/me', { token }))
  const [seen] = takeoversIn(await sessionsOf(fay))
  assert.deepEqual([seen.taken_over_by, seen.reason], ['operator root', 'mail is down'])
})
