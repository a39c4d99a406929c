import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertOk, assertRefused } from '#test/support/api-calls.ts'
import { timeLimit } from '#test/support/extent.ts'
import { groupTemplates, openLink, startGroupBerth, type Signed } from '#test/support/group-berth.ts'

/** Sharing by the API: who may share what, with whom, until when, and what the answers tell. */
const templates = {
  ...groupTemplates,
  open: { image: 'nowhere:latest', port: 8080, access: 'authenticated' },
  trusting: { image: 'nowhere:latest', port: 8080, sandbox_visitors: false },
  full: { image: 'nowhere:latest', port: 8080, forward_token: 'full' },
}
const env = { SHARING: 'people,groups', SHARE_MAX_DURATION: '86400', CONTAINER_TEMPLATES: JSON.stringify(templates) }
const { berth, boss, signUp, group, launch } = await startGroupBerth({ after }, { env })
const [ann, ben, cem] = [await signUp('ann@x.org'), await signUp('ben@x.org'), await signUp('cem@x.org')]
assertOk(await launch(ann))
// Visitors do not start it: whom the gateway lets through gets 503 at once.
assertOk(await ann.call('POST', '/api/container/stop/dev'))

const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()
const share = (owner: Signed, body: object, type = 'dev') =>
  owner.call('POST', `/api/container/shares/${type}`, { may: 'use', expires_at: inHours(1), ...body })
const sharesOf = async (owner: Signed, type = 'dev') =>
  (await owner.call('GET', `/api/container/shares/${type}`)).body.shares
const sharedWith = async (visitor: Signed) => (await visitor.call('GET', '/api/user/shared')).body.containers
const mayVisit = async ({ token }: Signed, prefix = 'ann-dev') =>
  (await berth.call('GET', `/${prefix}/`, { token })).status !== 403
const endAll = async (owner: Signed, type = 'dev') => {
  for (const { id } of await sharesOf(owner, type))
    assertOk(await owner.call('DELETE', `/api/container/shares/${type}/${id}`))
}

test('a visitor sees what is shared, may open it at once, and not any more once the owner ends it', async () => {
  assert.equal(await mayVisit(ben), false)
  assertOk(await share(ann, { emails: ['Ben@x.org '] }))
  assert.equal(await mayVisit(ben), true)
  assert.equal(await mayVisit(cem), false)
  const [shared] = await sharedWith(ben)
  assert.deepEqual(
    [shared.owner, shared.container_type, shared.may, shared.group, new URL(shared.service_url).pathname],
    ['ann@x.org', 'dev', 'use', null, '/ann-dev'],
  )
  const [{ id, email }] = await sharesOf(ann)
  assert.equal(email, 'ben@x.org')
  assertOk(await ann.call('DELETE', `/api/container/shares/dev/${id}`))
  assert.equal(await mayVisit(ben), false)
  assert.deepEqual(await sharedWith(ben), [])
  assertRefused(await ann.call('DELETE', `/api/container/shares/dev/${id}`), 404)
})

// One account could fill the audit log, which is never shortened, by 50 entries with each request.
test('a share that is made again as it is leaves no entry in the audit log, and an account makes 600 changes at once', async () => {
  const otto = await signUp('otto@x.org')
  assertOk(await launch(otto))
  const emails = Array.from({ length: 50 }, (_, at) => `guest${at}@x.org`)
  const end = Date.now() + 3_600_000
  const shareUntil = (ms: number) => share(otto, { emails, expires_at: new Date(end + ms).toISOString() })
  const entries = async () =>
    (await boss.call('GET', '/api/admin/audit?actor=otto@x.org&action=container.share&limit=1000')).body.entries.length
  assertOk(await shareUntil(0))
  assertOk(await shareUntil(0))
  assert.equal(await entries(), 50)
  for (let times = 1; times < 12; times++) assertOk(await shareUntil(times))
  const refused = await shareUntil(12)
  assertRefused(refused, 429)
  assert.match(refused.body.error, /at most 300 changes an hour/)
  assertOk(await shareUntil(11))
  await endAll(otto)
  assert.deepEqual(await sharesOf(otto), [])
})

test('sharing again with the same visitor changes the terms', async () => {
  assertOk(await share(ann, { emails: ['ben@x.org'], may: 'look' }))
  assertOk(await share(ann, { emails: ['ben@x.org'], may: 'use' }))
  assert.deepEqual(
    (await sharesOf(ann)).map(({ may }: { may: string }) => may),
    ['use'],
  )
  await endAll(ann)
})

test('the answers do not tell whether an address has an account', async () => {
  const known = await share(ann, { emails: ['ben@x.org'] })
  const unknown = await share(ann, { emails: ['unknown@x.org'] })
  assert.deepEqual([unknown.status, unknown.text], [known.status, known.text])
  const shapes = (await sharesOf(ann)).map((each: object) => Object.keys(each).join())
  assert.equal(new Set(shapes).size, 1)
  assert.equal(berth.mails.filter(({ to }) => to === 'unknown@x.org').length, 0)
  await endAll(ann)
})

test('a share with an address that has no account yet counts once it has signed up', async () => {
  assertOk(await share(ann, { emails: ['late@x.org'] }))
  const late = await signUp('late@x.org')
  assert.equal(await mayVisit(late), true)
  await endAll(ann)
})

/** Within two seconds. */
async function until(visitor: Signed, wanted: boolean): Promise<void> {
  for (let left = 100; left > 0 && (await mayVisit(visitor)) !== wanted; left--)
    await new Promise((done) => setTimeout(done, 20))
  assert.equal(await mayVisit(visitor), wanted)
}

// Who joined by code or by an invitation was let in at the next run of the reconciler only, up to half a minute later.
test('who joins a group by its code, or by accepting an invitation, is let in at once', async () => {
  const { id } = await group({ name: 'Latecomers' }, [ann])
  assertOk(await share(ann, { group_id: id }))
  const { code } = (await boss.call('POST', `/api/groups/${id}/join-code`)).body
  const dan = await signUp('dan@x.org')
  assert.equal(await mayVisit(dan), false)
  assertOk(await dan.call('POST', '/api/groups/join', { code }))
  await until(dan, true)
  assertOk(await boss.call('POST', `/api/groups/${id}/members`, { emails: ['eve@x.org'] }))
  await until(await openLink(berth, 'eve@x.org', 'signup'), true)
  await endAll(ann)
})

test('members of a group that the owner is in are let in, and out when they or the owner leave', async () => {
  const { id } = await group({ name: 'Physics' }, [ann, ben])
  assertOk(await share(ann, { group_id: id }))
  assert.deepEqual([await mayVisit(ben), await mayVisit(cem)], [true, false])
  assert.equal((await sharedWith(ben))[0].group.name, 'Physics')
  assertOk(await boss.call('DELETE', `/api/groups/${id}/members/${ben.id}`))
  await until(ben, false)
  assertOk(await boss.call('POST', `/api/groups/${id}/members`, { emails: ['ben@x.org'] }))
  await until(ben, true)
  assertOk(await boss.call('DELETE', `/api/groups/${id}/members/${ann.id}`))
  await until(ben, false)
  await endAll(ann)
})

test('members of a group are let in until the group ends', async () => {
  const { id } = await group({ name: 'Biology' }, [ann, ben])
  assertOk(await share(ann, { group_id: id }))
  assert.equal(await mayVisit(ben), true)
  assertOk(await boss.call('PATCH', `/api/admin/groups/${id}`, { types: ['lab'], expires_at: inHours(1 / 3_600) }))
  const limit = performance.now() + timeLimit(3_000)
  while ((await mayVisit(ben)) && performance.now() < limit) await new Promise((done) => setTimeout(done, 50))
  assert.equal(await mayVisit(ben), false)
  await endAll(ann)
})

test('who signs up with the address of a deleted account is not let in by its shares', async () => {
  const { id } = await signUp('former@x.org')
  assertOk(await share(ann, { emails: ['former@x.org', 'cem@x.org'] }))
  assertOk(await boss.call('DELETE', `/api/admin/users/${id}`))
  assert.equal(await mayVisit(await signUp('former@x.org')), false)
  assert.equal(await mayVisit(cem), true)
  await endAll(ann)
})

test('a group that the owner is not in looks like one that does not exist', async () => {
  const { id } = await group({ name: 'Chemistry' }, [ben])
  const foreign = await share(ann, { group_id: id })
  const missing = await share(ann, { group_id: 999_999 })
  assertRefused(foreign, 404)
  assert.equal(foreign.text, missing.text)
})

test('the end is in the future and within the limit of the settings', async () => {
  for (const expires_at of [inHours(-1), inHours(25)])
    assertRefused(await share(ann, { emails: ['ben@x.org'], expires_at }), 400)
  assertRefused(await ann.call('POST', '/api/container/shares/dev', { emails: ['ben@x.org'], may: 'use' }), 400)
})

test('what is not one’s own, or can be opened anyway, or holds the owner’s token, is not shared', async () => {
  assertRefused(await share(ben, { emails: ['cem@x.org'] }, 'lab'), 404)
  assertRefused(await share(ann, { emails: ['ben@x.org'] }, 'nonsense'), 400)
  assertRefused(await share(ann, { emails: ['ben@x.org'] }, 'open'), 409)
  assertRefused(await share(ann, { emails: ['ben@x.org'] }, 'full'), 409)
  assertRefused(await share(ann, { emails: ['ann@x.org'] }), 400)
  assertRefused(await share(ann, {}), 400)
  assertRefused(await share(ann, { emails: ['not an address'] }), 400)
  assertOk(await share(ann, { emails: ['ben@x.org'] }))
  const [{ id }] = await sharesOf(ann)
  assertRefused(await ben.call('DELETE', `/api/container/shares/dev/${id}`), 404)
  await endAll(ann)
})

test('an administrator in a takeover shares nothing of the owner’s, and API tokens do not share', async () => {
  const { body } = await boss.call('POST', `/api/admin/users/${ann.id}/takeover`, { reason: 'to see' })
  const acting = (method: string, path: string, more?: object) =>
    berth.call(method, path, { token: body.access_token, ...(more && { body: more }) })
  const terms = { emails: ['boss@x.org'], may: 'use', expires_at: inHours(1) }
  assertRefused(await acting('POST', '/api/container/shares/dev', terms), 403)
  const made = await ann.call('POST', '/api/user/tokens', { name: 'x', scopes: ['containers:write'], expires_in: 60 })
  const reply = await berth.call('POST', '/api/container/shares/dev', { token: made.body.token, body: terms })
  assertRefused(reply, 403)
})

test('administrators see the shares of all users, end them, and the log has both', async () => {
  assertOk(await share(ann, { emails: ['ben@x.org'], may: 'look' }))
  const all = await boss.call('GET', '/api/admin/shares?user=ann@x.org')
  assertOk(all)
  const [{ id, owner }] = all.body.shares
  assert.equal(owner.email, 'ann@x.org')
  assertRefused(await ann.call('GET', '/api/admin/shares'), 403)
  assertOk(await boss.call('DELETE', `/api/admin/shares/${id}`))
  assert.equal(await mayVisit(ben), false)
  const { entries } = (await boss.call('GET', '/api/admin/audit?limit=2')).body
  const facts = entries.map(({ action, actor, detail }: never) => [
    action,
    (actor as { email: string }).email,
    (detail as { with: string }).with,
  ])
  assert.deepEqual(facts, [
    ['container.unshare', 'boss@x.org', 'ben@x.org'],
    ['container.share', 'ann@x.org', 'ben@x.org'],
  ])
})

test('a container that was deleted and launched again is shared with none', async () => {
  assertOk(await share(ann, { emails: ['ben@x.org'] }))
  const { containers } = (await boss.call('GET', '/api/admin/containers?q=ann')).body
  assertOk(await boss.call('DELETE', `/api/admin/containers/${containers[0].id}`))
  assertOk(await launch(ann))
  assert.equal(await mayVisit(ben), false)
  assert.deepEqual(await sharesOf(ann), [])
})

test('while its owner or its visitor is blocked, a share opens nothing', async () => {
  assertOk(await share(ann, { emails: ['ben@x.org'] }))
  for (const user of [ann, ben]) {
    assertOk(await boss.call('POST', `/api/admin/users/${user.id}/block`))
    assert.equal(await mayVisit(ben), false, user.email)
    assertOk(await boss.call('POST', `/api/admin/users/${user.id}/unblock`))
  }
  await endAll(await openLinkOf('ann@x.org'))
})

async function openLinkOf(email: string): Promise<Signed> {
  assertOk(await berth.call('POST', '/api/auth/login', { body: { email } }))
  return openLink(berth, email, 'login')
}

for (const [setting, allowed] of [
  ['people', 'emails'],
  ['groups', 'group_id'],
] as const)
  test(`with SHARING=${setting} only that way is open`, async (t) => {
    const other = await startGroupBerth({ after: (work) => t.after(work) }, { env: { ...env, SHARING: setting } })
    const owner = await other.signUp('owner@x.org')
    assertOk(await other.launch(owner))
    const { id } = await other.group({ name: 'Physics' }, [owner])
    const ways = { emails: { emails: ['ben@x.org'] }, group_id: { group_id: id } }
    for (const [way, body] of Object.entries(ways)) {
      const reply = await share(owner, body)
      if (way === allowed) assertOk(reply)
      else assertRefused(reply, 403)
    }
  })

// Owners shared whole applications, of which visitors got a page without styles and scripts.
test('owner and visitor are told where visitors get single pages only', async () => {
  assertOk(await share(ann, { emails: ['ben@x.org'] }))
  assert.equal((await sharedWith(ben))[0].single_pages_only, true)
  await endAll(ann)
  const list = async (type: string) => (await ann.call('GET', `/api/container/shares/${type}`)).body
  assert.equal((await list('dev')).single_pages_only, true)
  assert.equal((await list('trusting')).single_pages_only, undefined)
})
