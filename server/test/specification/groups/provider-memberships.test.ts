import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertOk, assertRefused } from '#test/support/api-calls.ts'
import { registerAt, startBerthWith } from '#test/support/oidc/berth-with-providers.ts'
import { startProvider } from '#test/support/oidc/provider.ts'
import { newBrowser, signIn } from '#test/support/oidc/sign-in.ts'
import { userOf } from '#test/support/oidc/sign-in-outcome.ts'
import { openLink } from '#test/support/group-berth.ts'

const provider = await startProvider({ after })
const fields = { groups_claim: 'groups', scopes: ['openid', 'email', 'groups'] }
const providers = {
  main: await registerAt(provider, 'main', fields),
  other: await registerAt(provider, 'other', fields),
  omits: await registerAt(provider, 'omits', { ...fields, groups_absent: 'none' }),
  named: await registerAt(provider, 'named', { ...fields, member_groups: ['Class 9a', 'school/*'] }),
}
const berth = await startBerthWith({ after }, providers, { env: { ADMIN_EMAILS: 'boss@x.org' } })
assertOk(await berth.call('POST', '/api/auth/signup', { body: { email: 'boss@x.org' } }))
const boss = await openLink(berth, 'boss@x.org', 'signup')

/** @param groups undefined: the provider does not say */
async function signInAs(sub: string, groups: unknown, id = 'main'): Promise<number> {
  const claims = { email: `${sub}@x.org`, email_verified: true, ...(groups !== undefined && { groups }) }
  await provider.personIs(sub, claims)
  const browser = newBrowser(berth)
  await signIn(browser, id)
  return (await userOf(browser))?.id
}

type Group = { id: number; name: string; source: string }
const groupNamed = async (name: string): Promise<Group | undefined> =>
  (await boss.call('GET', `/api/admin/groups?limit=1000&q=${encodeURIComponent(name)}`)).body.groups.find(
    (each: Group) => each.name === name,
  )

/** Names of the groups that the user is in, with source of the membership. */
async function membershipsOf(userId: number): Promise<string[]> {
  const rows = await berth.database.db
    .selectFrom('group_members')
    .innerJoin('user_groups', 'user_groups.id', 'group_members.group_id')
    .select(['user_groups.name', 'group_members.source', 'group_members.role'])
    .where('user_id', '=', userId)
    .orderBy('user_groups.name')
    .execute()
  return rows.map(({ name, source, role }) => `${name}: ${role} by ${source}`)
}

test('a sign-in makes the groups of its claim, with the provider as their source, and follows the claim', async () => {
  const ann = await signInAs('ann', ['Class 7b', '/dev'])
  assert.deepEqual(await membershipsOf(ann), ['/dev: member by main', 'Class 7b: member by main'])
  assert.equal((await groupNamed('Class 7b'))?.source, 'main')
  await signInAs('ann', ['Class 8b', '/dev'])
  assert.deepEqual(await membershipsOf(ann), ['/dev: member by main', 'Class 8b: member by main'])
  assert.ok(await groupNamed('Class 7b'))
  const { body } = await boss.call('GET', `/api/admin/audit?target=group:${(await groupNamed('Class 7b'))?.id}`)
  assert.deepEqual(
    body.entries.map((each: { action: string; actor: { email: string } }) => [each.action, each.actor.email]),
    [
      ['group.remove-member', 'provider main'],
      ['group.add-member', 'provider main'],
      ['group.create', 'provider main'],
    ],
  )
})

test('a claim that is absent changes nothing, and an empty one ends what the provider has set', async () => {
  const ben = await signInAs('ben', ['Class 7b'])
  await signInAs('ben', undefined)
  assert.deepEqual(await membershipsOf(ben), ['Class 7b: member by main'])
  await signInAs('ben', [])
  assert.deepEqual(await membershipsOf(ben), [])
})

/** Okta leaves the claim out for a user of no group: who had left the last one stayed its member. */
test('with groups_absent: none a claim that is absent ends what the provider has set, one that is kept elsewhere does not', async () => {
  const ida = await signInAs('ida', ['Class 7c'], 'omits')
  await provider.personIs('ida', { email: 'ida@x.org', email_verified: true, _claim_names: { groups: 'src1' } })
  await signIn(newBrowser(berth), 'omits')
  assert.deepEqual(await membershipsOf(ida), ['Class 7c: member by omits'])
  await signInAs('ida', [1], 'omits')
  assert.deepEqual(await membershipsOf(ida), ['Class 7c: member by omits'], 'a form that is not understood')
  await signInAs('ida', undefined, 'omits')
  assert.deepEqual(await membershipsOf(ida), [])
})

/** A student of a GitLab made a group "Teachers", and was in the group of that name here. */
test('with member_groups no other group of the claim makes a membership or a group', async () => {
  assertOk(await boss.call('POST', '/api/admin/groups', { name: 'Teachers' }))
  const ole = await signInAs('ole', ['Teachers', 'Class 9a', 'class 9a', 'school/7b', 'my school/7b'], 'named')
  assert.deepEqual(await membershipsOf(ole), ['Class 9a: member by named', 'school/7b: member by named'])
  assert.equal(await groupNamed('my school/7b'), undefined)
})

test('memberships by hand stay, whatever the claim says, and the claim makes members of groups that were made here', async () => {
  const eva = await signInAs('eva', [])
  for (const name of ['Local one', 'Local two']) assertOk(await boss.call('POST', '/api/admin/groups', { name }))
  const one = await groupNamed('Local one')
  assertOk(await boss.call('POST', `/api/groups/${one?.id}/members`, { emails: ['eva@x.org'], role: 'manager' }))
  await signInAs('eva', ['Local one', 'Local two'])
  assert.deepEqual(await membershipsOf(eva), ['Local one: manager by local', 'Local two: member by main'])
  const two = await groupNamed('Local two')
  assertRefused(await boss.call('DELETE', `/api/groups/${two?.id}/members/${eva}`), 409)
  await signInAs('eva', [])
  assert.deepEqual(await membershipsOf(eva), ['Local one: manager by local'])
})

test("members of a provider's group cannot be changed by hand, nor its name: 409 with words", async () => {
  const tim = await signInAs('tim', ['Read only'])
  const group = await groupNamed('Read only')
  const path = `/api/groups/${group?.id}`
  const refused = [
    await boss.call('POST', `${path}/members`, { emails: ['boss@x.org'] }),
    await boss.call('POST', `${path}/members`, { emails: ['tim@x.org'], role: 'manager' }),
    await boss.call('DELETE', `${path}/members/${tim}`),
    await boss.call('POST', `${path}/join-code`),
    await boss.call('PATCH', `/api/admin${path.slice(4)}`, { name: 'Another' }),
  ]
  for (const reply of refused) {
    assertRefused(reply, 409)
    assert.match(reply.body.error, /provider main/)
  }
  const limits = { limits: { running: 1 }, description: 'x' }
  assertOk(await boss.call('PATCH', `/api/admin${path.slice(4)}`, limits))
  assertOk(await boss.call('DELETE', `/api/admin${path.slice(4)}`))
  await signInAs('tim', ['Read only'])
  assert.deepEqual(await membershipsOf(tim), ['Read only: member by main'])
})

test('two providers change their own memberships alone, and no groups of each other', async () => {
  const liv = await signInAs('liv', ['Of main'])
  await signInAs('liv', ['Of main', 'Of other'], 'other')
  assert.deepEqual(await membershipsOf(liv), ['Of main: member by main', 'Of other: member by other'])
  await signInAs('liv', [], 'other')
  assert.deepEqual(await membershipsOf(liv), ['Of main: member by main'])
  const kim = await signInAs('kim', ['Of main'], 'other')
  assert.deepEqual(await membershipsOf(kim), [])
})

test('what cannot be a name is left out, and the sign-in goes on', async () => {
  const max = await signInAs('max', ['', ' ', 'x'.repeat(101), 'a\u0000b', 'Good', 'Good'])
  assert.deepEqual(await membershipsOf(max), ['Good: member by main'])
})

/** At some providers people make groups themselves: 3,000 names in a claim made 500 groups, and other names as many more. */
test('a sign-in makes a hundred groups at most, a provider two thousand, and what is left out is logged', async () => {
  const claim = Array.from({ length: 230 }, (_, index) => `own ${index}`)
  const made = async () =>
    Number(
      (
        await berth.database.db
          .selectFrom('user_groups')
          .select(({ fn }) => fn.countAll<number>().as('count'))
          .where('source', '=', 'main')
          .executeTakeFirstOrThrow()
      ).count,
    )
  const before = await made()
  const eve = await signInAs('eve', claim)
  assert.equal((await made()) - before, 100)
  assert.equal((await membershipsOf(eve)).length, 100)
  assert.equal(berth.logs.filter((line) => /more groups that are missing than are made/.test(line)).length, 1)
  assert.match(berth.logs.join(''), /"missing":130/)
  await signInAs('eve', claim)
  await signInAs('eve', claim)
  assert.equal((await membershipsOf(eve)).length, 230, 'later sign-ins make what is missing')

  const room = 2_000 - (await made())
  const facts = { description: '', types: null, limits: '{}', expires_at: null, source: 'main', created_at: 1 }
  const row = await berth.database.db.selectFrom('user_groups').selectAll().executeTakeFirstOrThrow()
  const { id: _, ...columns } = row
  const rows = Array.from({ length: room - 1 }, (_each, index) => ({
    ...columns,
    name: `filler ${index}`,
    source: facts.source,
    join_code_hash: null,
  }))
  for (let at = 0; at < rows.length; at += 100)
    await berth.database.db
      .insertInto('user_groups')
      .values(rows.slice(at, at + 100))
      .execute()
  const ivy = await signInAs('ivy', ['last one', 'none', 'none either', 'own 1'])
  assert.deepEqual(await membershipsOf(ivy), ['last one: member by main', 'own 1: member by main'])
  assert.equal(await made(), 2_000)
})

test('who was invited to a group joins it by the first sign-in at a provider, too', async () => {
  assertOk(await boss.call('POST', '/api/admin/groups', { name: 'Invites' }))
  const group = await groupNamed('Invites')
  assertOk(await boss.call('POST', `/api/groups/${group?.id}/members`, { emails: ['new@x.org'] }))
  const id = await signInAs('new', undefined)
  assert.deepEqual(await membershipsOf(id), ['Invites: member by local'])
})
