import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { endpoints, type Endpoint } from '@berth/api/endpoints.ts'
import type { Reply } from '#test/support/berth.ts'
import { assertOk, assertRefused } from '#test/support/api-calls.ts'
import { openStream } from '#test/support/event-stream.ts'
import { startGroupBerth, type Signed } from '#test/support/group-berth.ts'

/** Every endpoint of groups, and every caller who has rights over a group, or has lost them, or has those over another. */
const { berth, boss, signUp, group } = await startGroupBerth({ after }, { env: { SHARING: 'groups' } })
const [member, manager, otherManager, former, demoted, outsider, blocked] = [
  await signUp('member@x.org'),
  await signUp('manager@x.org'),
  await signUp('other@x.org'),
  await signUp('former@x.org'),
  await signUp('demoted@x.org'),
  await signUp('outsider@x.org'),
  await signUp('blocked@x.org'),
]
const { id } = await group({ name: 'Ours' }, [member], [manager, former, demoted, blocked])
await group({ name: 'Theirs' }, [], [otherManager])
const expired = await group({ name: 'Over', expires_at: '2020-01-01T00:00:00Z' }, [], [manager])
assertOk(await boss.call('DELETE', `/api/groups/${id}/members/${former.id}`))
assertOk(await boss.call('POST', `/api/groups/${id}/members`, { emails: ['demoted@x.org'], role: 'member' }))
assertOk(await boss.call('POST', `/api/admin/users/${blocked.id}/block`))

const scopes = ['containers:read', 'containers:write']
const tokenOf = async (user: Signed, wanted: readonly string[]): Promise<Signed> => {
  const made = await user.call('POST', '/api/user/tokens', { name: 'x', scopes: wanted, expires_in: 600 })
  assertOk(made)
  const { token } = made.body
  return { ...user, token, call: (method, path, body) => berth.call(method, path, { token, ...(body && { body }) }) }
}
const asNobody: Signed = {
  id: 0,
  email: '',
  token: '',
  call: (method, path, body) => berth.call(method, path, body ? { body } : {}),
}
const taken = await boss.call('POST', `/api/admin/users/${manager.id}/takeover`, { reason: 'to see' })
assertOk(taken)
const acting: Signed = {
  ...manager,
  token: taken.body.access_token,
  call: (method, path, body) => berth.call(method, path, { token: taken.body.access_token, ...(body && { body }) }),
}
const callers = {
  administrator: boss,
  manager,
  member,
  'manager of another group': otherManager,
  'former manager': former,
  'manager who became a member': demoted,
  'no member': outsider,
  'blocked manager': blocked,
  'without an account': asNobody,
  'API token of the manager': await tokenOf(manager, scopes),
  'API token of the administrator': await tokenOf(boss, [...scopes, 'admin:read', 'admin:write']),
  'takeover of the manager': acting,
}
type Who = keyof typeof callers

const body = { emails: ['outsider@x.org'] }
/** What managers do; the group is as before after each. */
const managed: readonly (readonly [string, string, object?])[] = [
  ['GET', ''],
  ['GET', '/events'],
  ['GET', '/members'],
  ['POST', '/members', body],
  ['DELETE', `/members/${outsider.id}`],
  ['POST', '/members/preview', body],
  ['GET', '/invitations'],
  ['DELETE', '/invitations/999999'],
  ['POST', '/invitations/999999/resend'],
  ['GET', '/timetable'],
  ['POST', '/timetable', { timetable: null }],
  ['GET', '/join-code'],
  ['PUT', '/folder', { name: 'ours', members: 'read' }],
  ['DELETE', '/folder'],
  ['POST', '/join-code'],
  ['DELETE', '/join-code'],
  ['POST', '/start', { container_type: 'dev' }],
  ['POST', `/members/${member.id}/restart/dev`],
  ['GET', `/members/${member.id}/failure/dev`],
  ['POST', '/stop'],
  ['POST', '/block'],
  ['POST', '/unblock'],
  ['POST', '/end'],
]
/** What managers alone do: administrators have no right to see the contents of containers. */
const byManagersAlone = [['POST', `/members/${member.id}/look/dev`]] as const
const administered: readonly (readonly [string, string, object?])[] = [
  ['GET', ''],
  ['GET', `/${id}`],
  ['PATCH', `/${id}`, {}],
  ['POST', '', { name: 'Ours' }],
  ['DELETE', '/999999'],
  ['GET', '/999999/term-end/preview'],
  ['GET', '/999999/term-end'],
  ['GET', '/999999/term-end/members'],
  ['DELETE', `/999999/term-end/members/${member.id}`],
  ['POST', '/999999/term-end', {}],
  ['POST', '/999999/term-end/cancel'],
  ['POST', '/999999/term-end/retry'],
]

const statusFor = (who: Who, allowed: readonly Who[]) =>
  who === 'without an account' ? 401 : allowed.includes(who) ? undefined : 403

/** The stream of a group does not end by itself: where it is answered, its status is looked at alone. */
async function ask(caller: Signed, method: string, path: string, sent?: object): Promise<Reply> {
  if (path.endsWith('/events')) {
    const stream = await openStream(berth, caller.token, { path })
    stream.close()
    if (stream.status === 200) return { status: 200, headers: new Headers(), text: '', body: {} }
  }
  return caller.call(method, path, sent)
}
/** The path of the endpoint's row. */
const rowOf = (path: string) =>
  `/api/groups/{id}${path.replace('999999', '{invitation_id}').replace(/\d+/, '{user_id}').replace('/dev', '/{container_type}')}`

/** Answered, whatever the answer is, or refused with this status. */
function check(reply: Reply, who: Who, what: string, refused: number | undefined): void {
  if (refused !== undefined) return assertRefused(reply, refused)
  assert.ok(![401, 403].includes(reply.status), `${what} by ${who}: ${reply.status} ${reply.text}`)
}

for (const [method, path, sent] of managed)
  test(`${method} ${rowOf(path)} is for managers of the group and administrators alone`, async () => {
    for (const [who, caller] of Object.entries(callers) as [Who, Signed][]) {
      const reply = await ask(caller, method, `/api/groups/${id}${path}`, sent)
      check(reply, who, path, statusFor(who, ['administrator', 'manager']))
      // The member who is removed by one caller is there for the next.
      if (method === 'DELETE') await boss.call('POST', `/api/groups/${id}/members`, body)
      if (path === '/end') await boss.call('PATCH', `/api/admin/groups/${id}`, { expires_at: null })
    }
  })

for (const [method, path] of byManagersAlone)
  test(`${method} ${rowOf(path)} is for managers of the group alone`, async () => {
    for (const [who, caller] of Object.entries(callers) as [Who, Signed][])
      check(await caller.call(method, `/api/groups/${id}${path}`), who, path, statusFor(who, ['manager']))
  })

for (const [method, path, sent] of administered)
  test(`${method} /api/admin/groups${path.replace(/\d+/, '{id}').replace(/\d+/, '{user_id}')} is for administrators alone`, async () => {
    for (const [who, caller] of Object.entries(callers) as [Who, Signed][]) {
      const reply = await caller.call(method, `/api/admin/groups${path}`, sent)
      check(reply, who, path, statusFor(who, ['administrator', 'API token of the administrator']))
    }
  })

test("one's own groups are for every user who is not blocked, and for API tokens with containers:read", async () => {
  for (const [who, caller] of Object.entries(callers) as [Who, Signed][]) {
    const reply = await caller.call('GET', '/api/groups')
    if (who === 'without an account') assertRefused(reply, 401)
    else if (who === 'blocked manager') assertRefused(reply, 403)
    else assertOk(reply)
  }
  assertRefused(await (await tokenOf(boss, ['admin:write'])).call('GET', '/api/groups'), 403)
})

test('an API token joins no group, and neither does a takeover', async () => {
  for (const who of ['API token of the manager', 'takeover of the manager', 'blocked manager'] as const)
    assertRefused(await callers[who].call('POST', '/api/groups/join', { code: 'x' }), 403)
})

test('a group that does not exist is 404 for users, so that nothing is learned but that', async () => {
  for (const [method, path, sent] of managed)
    assertRefused(await ask(outsider, method, `/api/groups/999999${path}`, sent), 404)
})

test('a manager of an expired group still manages it, and a manager changes neither group nor administrators', async () => {
  assertOk(await manager.call('GET', `/api/groups/${expired.id}/members`))
  assertRefused(await manager.call('PATCH', `/api/admin/groups/${expired.id}`, { expires_at: null }), 403)
  assertRefused(await manager.call('POST', `/api/admin/users/${member.id}/block`), 403)
  assertRefused(await manager.call('POST', `/api/admin/users/${member.id}/takeover`, { reason: 'x' }), 403)
})

test('every endpoint of groups is in this table', () => {
  const rows = Object.values<Endpoint>(endpoints).filter(({ path }) => /\/groups(\/|$)/.test(path))
  const tested = [
    ...[...managed, ...byManagersAlone].map(([method, path]) => `${method} ${rowOf(path)}`),
    ...administered.map(
      ([method, path]) => `${method} /api/admin/groups${path.replace(/\d+/, '{id}').replace(/\d+/, '{user_id}')}`,
    ),
    'GET /api/groups',
    'POST /api/groups/join',
  ]
  assert.deepEqual(rows.map(({ method, path }) => `${method} ${path}`).sort(), tested.sort())
})
