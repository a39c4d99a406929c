import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertOk, assertRefused } from '#test/support/api-calls.ts'
import { openLink, startGroupBerth, type Signed } from '#test/support/group-berth.ts'

const refusing = { active: false }
const env = { ALLOWED_EMAIL_DOMAINS: 'x.org', MAGIC_LINK_RATE_LIMIT: '3' }
const { berth, boss, signUp, group, launch } = await startGroupBerth({ after }, { env, refusesMail: refusing })
const [ann, ben, tom] = [await signUp('ann@x.org'), await signUp('ben@x.org'), await signUp('tom@x.org')]

const add = (by: Signed, id: number, emails: string[], role?: string) =>
  by.call('POST', `/api/groups/${id}/members`, { emails, ...(role && { role }) })
const membersOf = async (id: number, query = '') => (await boss.call('GET', `/api/groups/${id}/members${query}`)).body
const groupsOf = async (user: Signed) => (await user.call('GET', '/api/groups')).body.groups

test('known users join at once, other addresses are invited, and what is no address is refused', async () => {
  const { id } = await group({ name: 'Mixed' })
  const reply = await add(boss, id, ['Ann@X.org ', 'ann@x.org', 'new@elsewhere.org', 'nonsense'])
  assertOk(reply)
  assert.deepEqual(reply.body, { added: ['ann@x.org'], invited: ['new@elsewhere.org'], refused: ['nonsense'] })
  assert.deepEqual(await groupsOf(ann), [{ id, name: 'Mixed', role: 'member' }])
  assert.equal(berth.mails.filter(({ to }) => to === 'ann@x.org').length, 1)
})

test('an invitation is one mail that names the group and who invites, and makes a member at sign-up', async () => {
  const { id } = await group({ name: 'Latin <b>2</b>' }, [], [tom])
  const before = berth.mails.length
  assert.deepEqual((await add(tom, id, ['eva@x.org'])).body, { added: [], invited: ['eva@x.org'], refused: [] })
  const [mail, ...others] = berth.mails.slice(before)
  assert.equal(others.length, 0)
  assert.match(mail?.subject ?? '', /Latin <b>2<\/b>/)
  assert.match(mail?.text ?? '', /Latin <b>2<\/b>.*tom@x\.org/)
  assert.match(mail?.html ?? '', /Latin &lt;b&gt;2/)
  assert.equal((await membersOf(id)).members.length, 1)
  const eva = await openLink(berth, 'eva@x.org', 'signup')
  assert.deepEqual(await groupsOf(eva), [{ id, name: 'Latin <b>2</b>', role: 'member' }])
})

test('names of a list are seen in this group alone, by its managers and in the own data, and come with an invitation', async () => {
  const { id } = await group({ name: 'Named' }, [], [tom])
  const other = await group({ name: 'Nameless' }, [ann], [tom])
  const post = (emails: string[], names: Record<string, string>) =>
    tom.call('POST', `/api/groups/${id}/members`, { emails, names })
  assertOk(await post(['ann@x.org', 'ida@x.org'], { 'ANN@x.org': ' Ann Lee ', 'ida@x.org': 'Ida Ng', 'b@x.org': 'No' }))
  const namesIn = async (of: number) =>
    (await membersOf(of)).members.map((each: { user: { email: string }; name: string | null }) => [
      each.user.email,
      each.name,
    ])
  const [invitation] = (await tom.call('GET', `/api/groups/${id}/invitations`)).body.invitations
  assert.deepEqual([invitation.email, invitation.name], ['ida@x.org', 'Ida Ng'])
  const ida = await openLink(berth, 'ida@x.org', 'signup')
  assert.deepEqual(
    (await ida.call('GET', '/api/user/data')).body.groups.map((each: { group: string; name: string }) => [
      each.group,
      each.name,
    ]),
    [['Named', 'Ida Ng']],
  )
  const named = [
    ['ann@x.org', 'Ann Lee'],
    ['tom@x.org', null],
    ['ida@x.org', 'Ida Ng'],
  ]
  assert.deepEqual(await namesIn(id), named)
  assert.deepEqual((await namesIn(other.id))[0], ['ann@x.org', null])
  // A list without names leaves them; an empty one takes it away, and is no change of rights.
  assertOk(await post(['ann@x.org'], {}))
  assert.deepEqual(await namesIn(id), named)
  const entries = async () => (await boss.call('GET', `/api/admin/audit?target=group:${id}`)).body.entries
  const audited = (await entries()).length
  assertOk(await post(['ann@x.org'], { 'ann@x.org': ' ' }))
  assert.deepEqual((await namesIn(id))[0], ['ann@x.org', null])
  assert.equal((await entries()).length, audited)
  assert.ok(!JSON.stringify(await entries()).includes('Ida Ng'))
  assertRefused(await post(['ann@x.org'], { 'ann@x.org': 'A\u202enn' }), 400)
  assertRefused(await post(['ann@x.org'], { 'ann@x.org': 'n'.repeat(101) }), 400)
  assertRefused(await ann.call('POST', `/api/groups/${id}/members`, { emails: ['ann@x.org'], names: {} }), 403)
})

test('who is invited as a manager is one after signing up', async () => {
  const { id } = await group({ name: 'Led' })
  assertOk(await add(boss, id, ['lea@x.org'], 'manager'))
  const lea = await openLink(berth, 'lea@x.org', 'signup')
  assert.deepEqual(await groupsOf(lea), [{ id, name: 'Led', role: 'manager' }])
})

/** A list in which a manager who had not signed up yet stood among the others. */
test('who was invited as a manager stays one when invited again without a role, and not with another one', async () => {
  const { id } = await group({ name: 'Invited twice' })
  for (const [at, role] of ['manager', undefined].entries()) {
    assertOk(await add(boss, id, ['mia@x.org', 'noa@x.org'], role))
    if (at === 1) assertOk(await add(boss, id, ['noa@x.org'], 'member'))
  }
  const roles = (await boss.call('GET', `/api/groups/${id}/invitations`)).body.invitations.map(
    (each: { email: string; role: string }) => [each.email, each.role],
  )
  assert.deepEqual(roles, [
    ['mia@x.org', 'manager'],
    ['noa@x.org', 'member'],
  ])
})

test('what a manager invites has to be of an allowed domain, and counts for the limit of its address', async () => {
  const { id } = await group({ name: 'Bounded' }, [], [tom])
  assert.deepEqual((await add(tom, id, ['far@elsewhere.org'])).body.refused, ['far@elsewhere.org'])
  for (let times = 0; times < 3; times++)
    assert.deepEqual((await add(tom, id, ['often@x.org'])).body.invited, ['often@x.org'])
  assert.deepEqual((await add(tom, id, ['often@x.org'])).body.refused, ['often@x.org'])
})

test('an address whose mail is not accepted is refused, and nothing of it is stored', async () => {
  const { id } = await group({ name: 'No mail' })
  refusing.active = true
  const { body } = await add(boss, id, ['lost@x.org', 'ben@x.org'])
  refusing.active = false
  assert.deepEqual(body, { added: ['ben@x.org'], invited: [], refused: ['lost@x.org'] })
  assert.deepEqual(await groupsOf(await signUp('lost@x.org')), [])
})

test('posting a member with another role changes it, without a role leaves it; managers appoint managers', async () => {
  const { id } = await group({ name: 'Roles' }, [ann], [tom])
  assert.deepEqual((await add(tom, id, ['ann@x.org'], 'manager')).body.added, ['ann@x.org'])
  assert.deepEqual((await add(ann, id, ['ben@x.org', 'ann@x.org'])).body.added, ['ben@x.org', 'ann@x.org'])
  const roles = (await membersOf(id)).members.map((each: { user: { email: string }; role: string }) => [
    each.user.email,
    each.role,
  ])
  assert.deepEqual(roles, [
    ['ann@x.org', 'manager'],
    ['ben@x.org', 'member'],
    ['tom@x.org', 'manager'],
  ])
  assertOk(await add(tom, id, ['ann@x.org'], 'member'))
  assertRefused(await add(ann, id, ['ben@x.org']), 403)
})

test("members are listed page by page, each with the containers of the group's types and their status alone", async () => {
  const { id } = await group({ name: 'Shown', types: ['dev'] }, [ann, ben])
  assertOk(await launch(ann, 'dev'))
  assertOk(await launch(ann, 'prod'))
  const first = await membersOf(id, '?limit=1')
  const [member] = first.members
  assert.deepEqual(member.user, { id: ann.id, email: ann.email, slug: 'ann' })
  assert.deepEqual(
    member.containers.map((each: { container_type: string; status: string }) => [each.container_type, each.status]),
    [['dev', 'running']],
  )
  const rest = await membersOf(id, `?limit=1&cursor=${first.next_cursor}`)
  assert.deepEqual([rest.members[0].user.id, rest.next_cursor], [ben.id, null])
})

test('a removed member is none any more; who is no member is 404', async () => {
  const { id } = await group({ name: 'Left' }, [ann], [tom])
  assertOk(await tom.call('DELETE', `/api/groups/${id}/members/${ann.id}`))
  assert.equal(
    (await groupsOf(ann)).some((each: { id: number }) => each.id === id),
    false,
  )
  for (const who of [String(ann.id), '999999', 'x'])
    assertRefused(await tom.call('DELETE', `/api/groups/${id}/members/${who}`), 404)
})

test('wrong bodies are 400', async () => {
  const { id } = await group({ name: 'Bodies' })
  for (const body of [
    {},
    { emails: [] },
    { emails: 'ann@x.org' },
    { emails: ['ann@x.org'], role: 'boss' },
    { emails: [5] },
  ])
    assertRefused(await boss.call('POST', `/api/groups/${id}/members`, body), 400)
})

// One entry of a list, such as two columns of a table in one, kept all others from being added.
test('an entry that is far too long for an address is refused alone', async () => {
  const { id } = await group({ name: 'Long entries' })
  const long = `${'a'.repeat(40_000)}@x.org`
  const { addresses } = (await boss.call('POST', `/api/groups/${id}/members/preview`, { emails: [long] })).body
  assert.deepEqual(addresses, [{ email: long, effect: 'invalid' }])
  const reply = await add(boss, id, ['ann@x.org', long])
  assert.deepEqual(reply.body, { added: ['ann@x.org'], invited: [], refused: [long] })
})

test('a deleted account is in no group any more', async () => {
  const { id } = await group({ name: 'Shrinks' }, [await signUp('leaves@x.org'), ann])
  const { members } = await membersOf(id)
  const leaving = members.find((each: { user: { email: string } }) => each.user.email === 'leaves@x.org')
  assertOk(await boss.call('DELETE', `/api/admin/users/${leaving.user.id}`))
  assert.equal((await boss.call('GET', `/api/admin/groups/${id}`)).body.group.member_count, 1)
})
