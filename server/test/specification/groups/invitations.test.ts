import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertOk, assertRefused } from '#test/support/api-calls.ts'
import { openLink, startGroupBerth } from '#test/support/group-berth.ts'

const refuses = { active: false }
const { berth, boss, signUp, group } = await startGroupBerth(
  { after },
  { env: { ALLOWED_EMAIL_DOMAINS: 'x.org' }, refusesMail: refuses },
)
const [tom, ann] = [await signUp('tom@x.org'), await signUp('ann@x.org')]
const mailsTo = (email: string) => berth.mails.filter(({ to }) => to === email)
const pendingIn = async (id: number) => {
  const reply = await tom.call('GET', `/api/groups/${id}/invitations`)
  assertOk(reply)
  return reply.body.invitations as { id: number; email: string; role: string; invited_by: string }[]
}

test('a preview says for each address what an addition does, changes nothing, and is in the audit log without addresses', async () => {
  const { id } = await group({ name: 'Preview' }, [ann], [tom])
  assertOk(await tom.call('POST', `/api/groups/${id}/members`, { emails: ['eva@x.org'] }))
  const before = berth.mails.length
  const emails = ['ann@x.org', 'boss@x.org', 'NEW@x.org', 'eva@x.org', 'nonsense', 'new@elsewhere.org']
  const reply = await tom.call('POST', `/api/groups/${id}/members/preview`, { emails })
  assertOk(reply)
  assert.deepEqual(
    reply.body.addresses.map((each: { effect: string }) => each.effect),
    ['member', 'join', 'invite', 'invited', 'invalid', 'not_allowed'],
  )
  assert.equal(reply.body.addresses[2].email, 'NEW@x.org')
  assert.equal(berth.mails.length, before)
  assert.deepEqual(
    (await pendingIn(id)).map(({ email }) => email),
    ['eva@x.org'],
  )
  const { entries } = (await boss.call('GET', `/api/admin/audit?target=group:${id}`)).body
  assert.deepEqual([entries[0].action, entries[0].detail.addresses], ['group.preview-members', 6])
})

test('a preview of a long list, with an address twice, keeps its order', async () => {
  const { id } = await group({ name: 'Long preview' }, [ann], [tom])
  const emails = [...Array.from({ length: 150 }, (_, index) => `n${index}@x.org`), 'ann@x.org', 'n3@x.org', 'ANN@x.org']
  const reply = await tom.call('POST', `/api/groups/${id}/members/preview`, { emails })
  assertOk(reply)
  const found = reply.body.addresses as { email: string; effect: string }[]
  assert.deepEqual(
    found.map(({ email }) => email),
    emails,
  )
  assert.deepEqual(new Set(found.slice(0, 150).map(({ effect }) => effect)), new Set(['invite']))
  assert.deepEqual(
    found.slice(150).map(({ effect }) => effect),
    ['member', 'invite', 'member'],
  )
})

test('an invitation that is withdrawn makes no member, and its account stays', async () => {
  const { id } = await group({ name: 'Withdrawn' }, [], [tom])
  assertOk(await tom.call('POST', `/api/groups/${id}/members`, { emails: ['fay@x.org'], role: 'manager' }))
  const [pending] = await pendingIn(id)
  assert.deepEqual([pending?.email, pending?.role, pending?.invited_by], ['fay@x.org', 'manager', 'tom@x.org'])
  const path = `/api/groups/${id}/invitations/${pending?.id}`
  assertOk(await tom.call('DELETE', path))
  assertRefused(await tom.call('DELETE', path), 404)
  assert.deepEqual(await pendingIn(id), [])
  const fay = await openLink(berth, 'fay@x.org', 'signup')
  assert.deepEqual((await fay.call('GET', '/api/groups')).body.groups, [])
})

test('an invitation is mailed again, and the link of the new mail leads into the group', async () => {
  const { id } = await group({ name: 'Again' }, [], [tom])
  assertOk(await tom.call('POST', `/api/groups/${id}/members`, { emails: ['gil@x.org'] }))
  const [pending] = await pendingIn(id)
  const path = `/api/groups/${id}/invitations/${pending?.id}/resend`
  assertOk(await tom.call('POST', path))
  const mails = mailsTo('gil@x.org')
  assert.equal(mails.length, 2)
  assert.match(mails[1]?.text ?? '', /Again/)
  assert.match(mails[1]?.text ?? '', /tom@x\.org/)
  const gil = await openLink(berth, 'gil@x.org', 'signup')
  assert.equal((await gil.call('GET', '/api/groups')).body.groups[0].name, 'Again')
  assertRefused(await tom.call('POST', path), 404)
})

/** A class list that was added again while the mail server was down took the group away from who had a link already. */
test('a mail that is not accepted leaves the invitation as it was, sent again or added again', async (t) => {
  const { id } = await group({ name: 'No mail' }, [], [tom])
  assertOk(await tom.call('POST', `/api/groups/${id}/members`, { emails: ['hal@x.org'] }))
  const [pending] = await pendingIn(id)
  refuses.active = true
  t.after(() => (refuses.active = false))
  const again = await boss.call('POST', `/api/groups/${id}/members`, { emails: ['hal@x.org'], role: 'manager' })
  assertOk(again)
  assert.deepEqual(again.body.refused, ['hal@x.org'])
  assert.deepEqual(await pendingIn(id), [pending])
  assertRefused(await tom.call('POST', `/api/groups/${id}/invitations/${pending?.id}/resend`), 500)
  assert.deepEqual(await pendingIn(id), [pending])
  const hal = await openLink(berth, 'hal@x.org', 'signup')
  const [{ name, role }] = (await hal.call('GET', '/api/groups')).body.groups
  assert.deepEqual([name, role], ['No mail', 'member'])
})

test('a first invitation whose mail is not accepted is not there', async (t) => {
  const { id } = await group({ name: 'Never mailed' }, [], [tom])
  refuses.active = true
  t.after(() => (refuses.active = false))
  assertOk(await tom.call('POST', `/api/groups/${id}/members`, { emails: ['ivy@x.org'] }))
  assert.deepEqual(await pendingIn(id), [])
})

test('invitations come page by page, oldest first, and those of another group are another matter', async () => {
  const { id } = await group({ name: 'Many' }, [], [tom])
  const other = await group({ name: 'Other' }, [], [tom])
  const emails = Array.from({ length: 5 }, (_, at) => `many${at}@x.org`)
  assertOk(await tom.call('POST', `/api/groups/${id}/members`, { emails }))
  const first = (await tom.call('GET', `/api/groups/${id}/invitations?limit=3`)).body
  const second = (await tom.call('GET', `/api/groups/${id}/invitations?limit=3&cursor=${first.next_cursor}`)).body
  assert.deepEqual([first.invitations.length, second.invitations.length, second.next_cursor], [3, 2, null])
  assertRefused(await tom.call('DELETE', `/api/groups/${other.id}/invitations/${first.invitations[0].id}`), 404)
})

/** A manager, who need not be a trusted person, had 2,000 mails sent in 100 s: a day of a mail server's quota. */
test('managers have 500 invitations mailed in an hour, and a list beyond is refused whole; administrators have no such limit', async () => {
  const sam = await signUp('sam@x.org')
  const [one, two] = [await group({ name: 'Flood' }, [], [sam]), await group({ name: 'Flood 2' }, [], [sam])]
  const list = (name: string, length: number) => Array.from({ length }, (_, index) => `${name}${index}@x.org`)
  const invite = (user: typeof sam, emails: string[], { id } = one) =>
    user.call('POST', `/api/groups/${id}/members`, { emails })
  const known = list('flood-a', 300)
  assert.equal((await invite(sam, known)).body.invited.length, 300)
  // Users with an account are no mail, and what is refused for its domain is none.
  assertOk(await invite(sam, ['ann@x.org', ...list('b', 400).map((email) => email.replace('x.org', 'elsewhere.org'))]))
  const before = berth.mails.length
  const refused = await invite(sam, ['boss@x.org', ...list('flood-c', 201)], two)
  assertRefused(refused, 429)
  assert.match(refused.body.error, /500/)
  assert.ok(Number(refused.headers.get('retry-after')) > 3_000)
  assert.equal(berth.mails.length, before)
  const at = `/api/groups/${two.id}`
  const { members } = (await boss.call('GET', `${at}/members`)).body
  assert.deepEqual(
    members.map(({ user }: { user: { id: number } }) => user.id),
    [sam.id],
    'nothing of a list that is refused is done',
  )
  // Two at once are no way around.
  const both = await Promise.all([invite(sam, list('flood-d', 150), two), invite(sam, list('flood-e', 150), two)])
  assert.deepEqual(both.map(({ status }) => status).toSorted(), [200, 429])
  assertOk(await invite(sam, list('flood-f', 49)))
  const resend = async (user: typeof sam) => {
    const [pending] = (await user.call('GET', `/api/groups/${one.id}/invitations?limit=1`)).body.invitations
    return user.call('POST', `/api/groups/${one.id}/invitations/${pending.id}/resend`)
  }
  // A mail that is not accepted does not count.
  refuses.active = true
  assertRefused(await resend(sam), 500)
  refuses.active = false
  assertOk(await resend(sam))
  assertRefused(await resend(sam), 429)
  assertOk(await invite(boss, list('flood-g', 300), two))
  assertOk(await resend(boss))
  assertOk(await invite(tom, ['flood-h@x.org'], await group({ name: 'Flood 3' }, [], [tom])))
})
