import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertOk, assertRefused } from '#test/support/api-calls.ts'
import { withTime } from '#test/support/clock.ts'
import { startGroupBerth, type Signed } from '#test/support/group-berth.ts'

const { berth, boss, signUp, group } = await startGroupBerth({ after })
const [ann, ben, tom] = [await signUp('ann@x.org'), await signUp('ben@x.org'), await signUp('tom@x.org')]
const join = (user: Signed, code: unknown) => user.call('POST', '/api/groups/join', { code } as object)
const makeCode = async (id: number, by = tom): Promise<string> => {
  const made = await by.call('POST', `/api/groups/${id}/join-code`)
  assertOk(made)
  assert.ok(Date.parse(made.body.expires_at) > Date.now())
  return made.body.code
}

test('a code makes a member, however it is typed, and never a manager', async () => {
  const { id } = await group({ name: 'Joined' }, [], [tom])
  const code = await makeCode(id)
  assert.match(code, /^[A-Z2-9]{5}-[A-Z2-9]{5}$/)
  const reply = await join(ann, ` ${code.toLowerCase().replace('-', ' ')} `)
  assertOk(reply)
  assert.deepEqual([reply.body.group.id, reply.body.group.member_count], [id, 2])
  assert.deepEqual((await ann.call('GET', '/api/groups')).body.groups, [{ id, name: 'Joined', role: 'member' }])
  assertOk(await join(ann, code))
  assertOk(await join(tom, code))
  assert.equal((await tom.call('GET', '/api/groups')).body.groups[0].role, 'manager')
})

// A code was shown once: a teacher who closed the dialog had to make another one, which ended that on the blackboard.
test('managers see the code again, and whether one is active', async () => {
  const { id } = await group({ name: 'Shown again' }, [ann], [tom])
  const active = async (by = tom) => (await by.call('GET', `/api/groups/${id}/join-code`)).body
  assert.deepEqual(await active(), { code: null, expires_at: null })
  const code = await makeCode(id)
  const seen = await active(boss)
  assert.equal(seen.code, code)
  assert.ok(Date.parse(seen.expires_at) > Date.now())
  assertRefused(await ann.call('GET', `/api/groups/${id}/join-code`), 403)
  assertOk(await tom.call('DELETE', `/api/groups/${id}/join-code`))
  assert.deepEqual(await active(), { code: null, expires_at: null })
})

test('a new code replaces the old one, and a removed one is gone', async () => {
  const { id } = await group({ name: 'Replaced' }, [], [tom])
  const old = await makeCode(id)
  const code = await makeCode(id)
  assertRefused(await join(ben, old), 404)
  assertOk(await tom.call('DELETE', `/api/groups/${id}/join-code`))
  assertRefused(await join(ben, code), 404)
  assertOk(await tom.call('DELETE', `/api/groups/${id}/join-code`))
})

test('only the hash of a code is stored, and no code is in the log', async () => {
  const { id } = await group({ name: 'Hashed' }, [], [tom])
  const code = await makeCode(id)
  const row = await berth.database.db
    .selectFrom('user_groups')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  const plain = code.replace('-', '')
  assert.match(row.join_code_hash ?? '', /^[0-9a-f]{64}$/)
  assert.ok(!JSON.stringify(row).includes(plain))
  const { body } = await boss.call('GET', `/api/admin/audit?target=group:${id}`)
  assert.ok(![JSON.stringify(body), ...berth.logs].some((text) => text.includes(plain) || text.includes(code)))
})

test('a code ends after its time, and that of an expired group is refused', async () => {
  const { id } = await group({ name: 'Over' }, [], [tom])
  const code = await makeCode(id)
  await withTime(async (pass) => {
    pass(8 * 24 * 3_600_000)
    const late = await signUp('late@x.org')
    assertRefused(await join(late, code), 404)
  })
  const other = await makeCode(id)
  assertOk(await boss.call('PATCH', `/api/admin/groups/${id}`, { expires_at: '2020-01-01T00:00:00Z' }))
  assertRefused(await join(ben, other), 409)
})

test('after ten wrong codes within a minute a right one is 429 too, for this user alone', async () => {
  const { id } = await group({ name: 'Guessed' }, [], [tom])
  const code = await makeCode(id)
  const guesser = await signUp('guesser@x.org')
  for (let times = 0; times < 10; times++) assertRefused(await join(guesser, `ABCDE-FGHJ${(times % 8) + 2}`), 404)
  const refused = await join(guesser, code)
  assertRefused(refused, 429)
  assert.ok(Number(refused.headers.get('retry-after')) > 0)
  assertOk(await join(ben, code))
})

test('right codes do not count, and many wrong ones at once are no way around the limit', async () => {
  const { id } = await group({ name: 'Crowd' }, [], [tom])
  const code = await makeCode(id)
  const busy = await signUp('busy@x.org')
  for (let times = 0; times < 12; times++) assertOk(await join(busy, code))
  const all = await Promise.all(Array.from({ length: 30 }, () => join(busy, 'WRONG-WRONG')))
  assert.equal(all.filter(({ status }) => status === 404).length, 10)
  assert.equal(all.filter(({ status }) => status === 429).length, 20)
})

test('a code that is no text is 400', async () => {
  for (const code of [5, null, undefined]) assertRefused(await join(ann, code), 400)
})
