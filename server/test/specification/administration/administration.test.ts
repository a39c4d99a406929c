import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ask, assertOk, assertRefused, blockUser, instant, seenBy } from '../../support/api-calls.ts'
import { startBerth } from '../../support/berth.ts'
import { noCreateRuntime } from '../../support/engine/faulty-runtimes.ts'

const berth = await startBerth({ after }, { wrapRuntime: noCreateRuntime })
const admin = await berth.administrator()
const people = []
for (const name of ['ann', 'ben', 'cat']) people.push(await berth.signUp(`${name}@x.org`))
const [ann, ben] = people
assert.ok(ann && ben)

const users = (query = '') => admin.call('GET', `/api/admin/users${query}`)

test('the list has every user with exactly the specified fields', async () => {
  const reply = await users()
  assertOk(reply)
  const emails = reply.body.users.map(({ email }: { email: string }) => email)
  assert.deepEqual(emails.slice(0, 4), ['boss@x.org', 'ann@x.org', 'ben@x.org', 'cat@x.org'])
  const { created_at, containers, ...rest } = await seenBy(admin, ann.id)
  assert.match(created_at, instant)
  assert.equal(containers.length, 1)
  assert.deepEqual(rest, {
    id: ann.id,
    email: 'ann@x.org',
    slug: 'ann',
    state: 'verified',
    is_admin: false,
    is_blocked: false,
    last_used: null,
  })
})

test('each user carries their container list with an is_blocked value per container', async () => {
  const { containers } = await seenBy(admin, ann.id)
  const { id, created_at, template_image, ...rest } = containers[0]
  assert.ok(Number.isInteger(id))
  assert.match(created_at, instant)
  assert.match(template_image, /\w/)
  assert.deepEqual(rest, {
    user_id: ann.id,
    container_type: 'dev',
    container_id: null,
    container_port: null,
    last_used: null,
    is_blocked: false,
    blocked_at: null,
    blocked_by: null,
  })
})

test('the list never shows a token, a link or a hash of one', async () => {
  assertOk(await ask(berth, 'login', 'ann@x.org'))
  const { text } = await users()
  assert.doesNotMatch(text, /token|jti|hash/)
  assert.ok(!text.includes(berth.mail.tokenFor('ann@x.org')))
})

test('limit and cursor lead through all users, page by page, each once', async () => {
  const seen: number[] = []
  let cursor: string | null = ''
  do {
    const { body } = await users(`?limit=2${cursor && `&cursor=${cursor}`}`)
    assert.ok(body.users.length <= 2)
    seen.push(...body.users.map(({ id }: { id: number }) => id))
    cursor = body.next_cursor
  } while (cursor !== null)
  const all = (await users()).body.users.map(({ id }: { id: number }) => id)
  assert.deepEqual(seen, all)
})

test('the whole list fits one answer without a limit, and next_cursor is null', async () => {
  assert.equal((await users()).body.next_cursor, null)
})

test('q finds parts of e-mail and slug, whatever the case, and no wildcards', async () => {
  const found = async (q: string) =>
    (await users(`?q=${encodeURIComponent(q)}`)).body.users.map(({ id }: { id: number }) => id)
  assert.deepEqual(await found('ANN@'), [ann.id])
  assert.deepEqual(await found('be'), [ben.id])
  for (const nothing of ['%', '_', 'nobody', "' or 1=1 --"]) assert.deepEqual(await found(nothing), [])
})

test('a limit or cursor that is none is 400', async () => {
  for (const query of ['limit=0', 'limit=1001', 'limit=x', 'limit=-1', 'limit=1e2', 'cursor=x', 'limit=1&limit=2'])
    assertRefused(await users(`?${query}`), 400)
})

test('the paths of blocking take whole numbers of up to 15 digits; everything else is 404', async () => {
  for (const id of [
    '0',
    '1e3',
    '0x10',
    '-1',
    '1.0',
    '%207%20',
    '%20',
    '9'.repeat(15),
    '9'.repeat(16),
    'ann',
    '__proto__',
  ])
    for (const path of [
      `users/${id}/block`,
      `users/${id}/unblock`,
      `containers/${id}/block`,
      `containers/${id}/unblock`,
    ])
      assertRefused(await admin.call('POST', `/api/admin/${path}`), 404)
})

test('who is no administrator gets 403 for ids that exist and ids that do not', async () => {
  for (const id of [String(ben.id), '999999', 'nonsense'])
    assertRefused(await ann.call('POST', `/api/admin/users/${id}/block`), 403)
})

test('the token of an administrator who was deleted or blocked is 403', async () => {
  const env = { ADMIN_EMAILS: 'second@x.org,third@x.org' }
  const { signUp, database, close } = await startBerth({ after }, { wrapRuntime: noCreateRuntime, env })
  const [first, second, third] = [await signUp('a@x.org'), await signUp('second@x.org'), await signUp('third@x.org')]
  for (const each of [second, third]) assertOk(await each.call('GET', '/api/admin/users'))
  assertOk(await blockUser(first, second.id))
  await database.db.deleteFrom('users').where('id', '=', third.id).execute()
  for (const each of [second, third]) assertRefused(await each.call('GET', '/api/admin/users'), 403)
  await close()
})
