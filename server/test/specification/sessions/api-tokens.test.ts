import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { AuditEntry } from '@berth/api/schemas/administration/audit.ts'
import {
  assertOk,
  assertRefused,
  blockUser,
  demote,
  deleteUser,
  instant,
  promote,
  unblockUser,
  until,
} from '../../support/api-calls.ts'
import { startBerth, type Person, type Reply } from '../../support/berth.ts'
import { withTime } from '../../support/clock.ts'
import { openStream } from '../../support/event-stream.ts'
import { noCreateRuntime } from '../../support/engine/faulty-runtimes.ts'

const berth = await startBerth({ after }, { wrapRuntime: noCreateRuntime })
const boss = await berth.signUpWithoutContainer('boss@x.org')
const ann = await berth.signUpWithoutContainer('ann@x.org')

const request = { name: 'nightly script', scopes: ['containers:read'], expires_in: 3_600 }
const create = (who: Person, more: object = {}): Promise<Reply> =>
  who.call('POST', '/api/user/tokens', { body: { ...request, ...more } })
async function tokenOf(who: Person, more: object = {}): Promise<{ token: string; id: number }> {
  const reply = await create(who, more)
  assertOk(reply)
  return reply.body
}
const list = async (who: Person) => (await who.call('GET', '/api/user/tokens')).body.tokens
const me = async (token: string) => (await berth.call('GET', '/api/user/me', { token })).status
const auditOf = async (who: Person): Promise<AuditEntry[]> =>
  (await boss.call('GET', `/api/admin/audit?action=token.&target=user:${who.id}`)).body.entries

test('a token is shown once, has 256 random bits, and only its SHA-256 is stored', async () => {
  const reply = await create(ann, { scopes: ['containers:write', 'containers:read', 'containers:read'] })
  assertOk(reply)
  const { token, ...entry } = reply.body
  assert.match(token, /^berth_[\w-]{43}$/)
  assert.deepEqual(Object.keys(entry).sort(), ['created_at', 'expires_at', 'id', 'last_used', 'name', 'scopes'])
  assert.deepEqual(entry.scopes, ['containers:write', 'containers:read'], 'as they were sent, each once')
  assert.match(entry.created_at, instant)
  assert.equal(Date.parse(entry.expires_at) - Date.parse(entry.created_at), 3_600_000)
  assert.equal(entry.last_used, null)
  const [listed] = await list(ann)
  assert.deepEqual(listed, entry)
  const rows = await berth.database.db.selectFrom('api_tokens').selectAll().execute()
  assert.ok(!JSON.stringify(rows).includes(token.slice(6)))
  assert.equal(rows.find(({ id }) => id === entry.id)?.token_hash.length, 64)
  assert.equal(await me(token), 200)
})

test('name, scopes and expires_in are required and checked: 400 otherwise', async () => {
  const bad = [
    { name: undefined },
    { name: '' },
    { name: '   ' },
    { name: 'x'.repeat(101) },
    { name: 'a\nb' },
    // Shown as the end of another name.
    { name: 'a\u202egpj' },
    { name: 7 },
    { scopes: undefined },
    { scopes: [] },
    { scopes: 'containers:read' },
    { scopes: ['containers:all'] },
    { scopes: ['containers:read', 'CONTAINERS:WRITE'] },
    { expires_in: undefined },
    { expires_in: 0 },
    { expires_in: -1 },
    { expires_in: 31_536_001 },
    { expires_in: 1.5 },
    { expires_in: '3600' },
    { expires_in: null },
  ]
  for (const each of bad) assertRefused(await create(ann, each), 400)
  const empty = await ann.call('POST', '/api/user/tokens')
  assertRefused(empty, 400)
  assert.equal(empty.body.error, 'The request has no body. Send JSON with name, scopes, expires_in.')
  assertOk(await create(ann, { name: '😀'.repeat(100), expires_in: 31_536_000 }))
})

test("an administrator's scope is 403 for all other users, also beside others", async () => {
  for (const scope of ['admin:read', 'admin:write'])
    assertRefused(await create(ann, { scopes: ['containers:read', scope] }), 403)
  assertOk(await create(boss, { scopes: ['admin:write'] }))
})

test("the list shows one's own tokens alone, and another user's cannot be removed", async () => {
  const bob = await berth.signUpWithoutContainer('bob@x.org')
  const { id, token } = await tokenOf(bob)
  assert.deepEqual(
    (await list(bob)).map((each: { id: number }) => each.id),
    [id],
  )
  assert.ok(!(await list(ann)).some((each: { id: number }) => each.id === id))
  assertRefused(await ann.call('DELETE', `/api/user/tokens/${id}`), 404)
  for (const other of ['0', '999999999', 'x', '1e3', `${'9'.repeat(16)}`])
    assertRefused(await bob.call('DELETE', `/api/user/tokens/${other}`), 404)
  assert.equal(await me(token), 200)
})

test('a removed token counts no more from that moment, and its streams end', async () => {
  const { id, token } = await tokenOf(ann)
  const stream = await openStream(berth, token)
  const removed = await ann.call('DELETE', `/api/user/tokens/${id}`)
  assertOk(removed)
  assert.deepEqual(Object.keys(removed.body), ['message'])
  assertRefused(await berth.call('GET', '/api/user/me', { token }), 401)
  await stream.ended
  assertRefused(await ann.call('DELETE', `/api/user/tokens/${id}`), 404)
})

test('a token that has expired is 401, stays on the list for 30 days, and is gone after that', async () => {
  const eve = await berth.signUpWithoutContainer('eve@x.org')
  const { token } = await tokenOf(eve, { expires_in: 60 })
  await withTime(async (pass) => {
    pass(59_000)
    assert.equal(await me(token), 200)
    pass(2_000)
    assert.equal(await me(token), 401)
    assert.equal((await list(eve)).length, 1)
  })
})

test('last_used is written once a minute, and the list says it', async () => {
  const flo = await berth.signUpWithoutContainer('flo@x.org')
  const { token } = await tokenOf(flo)
  const lastUsed = async () => (await list(flo))[0].last_used as string
  assert.equal(await me(token), 200)
  const first = await lastUsed()
  assert.match(first, instant)
  for (let each = 0; each < 5; each++) assert.equal(await me(token), 200)
  assert.equal(await lastUsed(), first)
  await withTime(async (pass) => {
    pass(61_000)
    assert.equal(await me(token), 200)
    await until(async () => (await lastUsed()) > first)
  })
})

test('creation, first use, use after a week without, and removal are in the audit log, the token in none', async () => {
  const gil = await berth.signUpWithoutContainer('gil@x.org')
  const { id, token } = await tokenOf(gil, { expires_in: 31_536_000 })
  await Promise.all([me(token), me(token), me(token)])
  await withTime(async (pass) => {
    pass(6 * 86_400_000)
    assert.equal(await me(token), 200)
  })
  assertOk(await gil.call('DELETE', `/api/user/tokens/${id}`))
  const entries = await auditOf(gil)
  assert.deepEqual(entries.map(({ action }) => action).toReversed(), ['token.create', 'token.use', 'token.remove'])
  for (const { actor, target, detail } of entries) {
    assert.deepEqual(actor, { id: gil.id, email: 'gil@x.org' })
    assert.equal(target, `user:${gil.id}`)
    assert.equal(detail['token'], id)
    assert.equal(detail['name'], 'nightly script')
    assert.deepEqual(detail['scopes'], ['containers:read'])
  }
  assert.ok(!JSON.stringify(entries).includes('berth_'))
})

test('a block ends all tokens of an account for good, and none can be made meanwhile', async () => {
  const hal = await berth.signUpWithoutContainer('hal@x.org')
  const { token } = await tokenOf(hal, { scopes: ['containers:write'] })
  const stream = await openStream(berth, token)
  assertOk(await blockUser(boss, hal.id))
  assert.equal(await me(token), 401)
  await stream.ended
  assertRefused(await create(hal), 403)
  assertOk(await unblockUser(boss, hal.id))
  assert.equal(await me(token), 401)
  assert.deepEqual(await list(hal), [])
})

test('a deletion ends all tokens of an account', async () => {
  const ida = await berth.signUpWithoutContainer('ida@x.org')
  const { token } = await tokenOf(ida)
  assertOk(await deleteUser(boss, ida.id))
  assertRefused(await berth.call('GET', '/api/user/me', { token }), 401)
})

test("a demotion ends the tokens with an administrator's scope for good, and no others", async () => {
  const jon = await berth.signUpWithoutContainer('jon@x.org')
  assertOk(await promote(boss, jon.id))
  const [admin, plain, both] = await Promise.all([
    tokenOf(jon, { scopes: ['admin:read'] }),
    tokenOf(jon),
    tokenOf(jon, { scopes: ['containers:read', 'admin:read'] }),
  ])
  assertOk(await berth.call('GET', '/api/admin/users', { token: admin.token }))
  const stream = await openStream(berth, both.token)
  assertOk(await demote(boss, jon.id))
  for (const { token } of [admin, both]) assertRefused(await berth.call('GET', '/api/admin/users', { token }), 401)
  await stream.ended
  assert.equal(await me(plain.token), 200)
  assertOk(await promote(boss, jon.id))
  assertRefused(await berth.call('GET', '/api/admin/users', { token: admin.token }), 401)
})

test('of demotions and new tokens at the same time, no token of a former administrator is left', async () => {
  const kim = await berth.signUpWithoutContainer('kim@x.org')
  for (let round = 0; round < 5; round++) {
    assertOk(await promote(boss, kim.id))
    const wanted = { scopes: ['admin:write'] }
    await Promise.all([create(kim, wanted), demote(boss, kim.id), create(kim, wanted), create(kim, wanted)])
    const rows = await berth.database.db.selectFrom('api_tokens').select('id').where('user_id', '=', kim.id).execute()
    assert.deepEqual(rows, [])
  }
})

test('in a takeover no token can be made or removed', async () => {
  const lea = await berth.signUpWithoutContainer('lea@x.org')
  const { id } = await tokenOf(lea)
  const taken = await boss.call('POST', `/api/admin/users/${lea.id}/takeover`, { body: { reason: 'to look into it' } })
  assertOk(taken)
  const token = taken.body.access_token
  assertRefused(await berth.call('POST', '/api/user/tokens', { token, body: request }), 403)
  assertRefused(await berth.call('DELETE', `/api/user/tokens/${id}`, { token }), 403)
  assertOk(await berth.call('GET', '/api/user/tokens', { token }))
})

test('an API token cannot make tokens, sign out, take over, or obtain a sign-in link', async () => {
  const { token } = await tokenOf(boss, { scopes: ['admin:write', 'containers:write'] })
  const withToken = (body?: object) => ({ token, ...(body ? { body } : {}) })
  assertRefused(await berth.call('POST', '/api/user/tokens', withToken(request)), 403)
  assertRefused(await berth.call('POST', '/api/auth/logout', withToken()), 403)
  assertRefused(await berth.call('POST', `/api/admin/users/${ann.id}/takeover`, withToken({ reason: 'because' })), 403)
  assertRefused(
    await berth.call('POST', '/api/admin/invitations', withToken({ emails: ['new@x.org'], send: false })),
    403,
  )
  assertOk(await berth.call('POST', '/api/admin/invitations', withToken({ emails: ['new@x.org'] })))
})

test("what an administrator's token does is in the audit log as the administrator's", async () => {
  const { token } = await tokenOf(boss, { scopes: ['admin:write'] })
  assertOk(await berth.call('POST', `/api/admin/users/${ann.id}/promote`, { token }))
  assertOk(await berth.call('POST', `/api/admin/users/${ann.id}/demote`, { token }))
  const { entries } = (await boss.call('GET', `/api/admin/audit?target=user:${ann.id}&action=user.demote`)).body
  assert.equal(entries[0].actor.id, boss.id)
})

test('administrators see the tokens of all users or of one, page by page, and remove any', async () => {
  const [max, nia] = [await berth.signUpWithoutContainer('max@x.org'), await berth.signUpWithoutContainer('nia@x.org')]
  const [first, second] = [await tokenOf(max), await tokenOf(max, { name: 'second' })]
  await tokenOf(nia)
  for (const user of [String(max.id), 'max@x.org', ' Max@X.org']) {
    const { tokens, next_cursor } = (await boss.call('GET', `/api/admin/tokens?user=${encodeURIComponent(user)}`)).body
    assert.deepEqual(
      tokens.map(({ id }: { id: number }) => id),
      [second.id, first.id],
    )
    assert.deepEqual(tokens[0].user, { id: max.id, email: 'max@x.org' })
    assert.equal(tokens[0].token, undefined)
    assert.equal(next_cursor, null)
  }
  const seen: number[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const page: Reply = await boss.call('GET', `/api/admin/tokens?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`)
    assertOk(page)
    seen.push(...page.body.tokens.map(({ id }: { id: number }) => id))
    cursor = page.body.next_cursor
  }
  assert.deepEqual(
    seen,
    [...new Set(seen)].toSorted((one, other) => other - one),
  )
  assert.ok(seen.length > 5)
  assert.deepEqual((await boss.call('GET', '/api/admin/tokens?user=nobody@x.org')).body.tokens, [])
  for (const query of ['limit=0', 'limit=1001', 'cursor=x', 'user=']) {
    assertRefused(await boss.call('GET', `/api/admin/tokens?${query}`), 400)
  }
  assertOk(await boss.call('DELETE', `/api/admin/tokens/${first.id}`))
  assert.equal(await me(first.token), 401)
  assert.equal(await me(second.token), 200)
  assertRefused(await boss.call('DELETE', `/api/admin/tokens/${first.id}`), 404)
  const removals = (await auditOf(max)).filter(({ action }) => action === 'token.remove')
  assert.deepEqual(
    removals.map(({ actor, detail }) => [actor.id, detail['token']]),
    [[boss.id, first.id]],
  )
})

test('an account has at most 100 tokens: 409 then', async () => {
  const ole = await berth.signUpWithoutContainer('ole@x.org')
  const row = { user_id: ole.id, name: 'x', scopes: 'containers:read', created_at: 1, expires_at: 2, last_used: null }
  const rows = Array.from({ length: 100 }, (_, at) => ({ ...row, token_hash: `hash ${at}` }))
  await berth.database.db.insertInto('api_tokens').values(rows).execute()
  assertRefused(await create(ole), 409)
  assert.equal((await list(ole)).length, 100)
})
