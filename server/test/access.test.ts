import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { endpoints, type Endpoint, type EndpointName } from '@berth/api/endpoints.ts'
import type { Session } from '#/accounts/sessions/session-authenticator.ts'
import type { Templates } from '#/templates/template.ts'
import { refuseBlocked } from '#/http/auth/authorize-request.ts'
import type { Database } from '#/store/database.ts'
import { assertOk, assertRefused } from './support/api-calls.ts'
import { startEnginelessBerth, tokenIn, type EnginelessBerth } from './support/berth-without-engine.ts'
import { FakeGateway } from './support/gateway/fake-gateway.ts'

/** Every row of the endpoint table, and every caller who has access, or has lost it. A new row is covered by itself. */

const dataDir = await mkdtemp(path.join(tmpdir(), 'berth-access-'))
const administrators = ['boss@x.org', 'admin@x.org', 'blocked-admin@x.org', 'deleted-admin@x.org']
const env = { ADMIN_EMAILS: administrators.join(','), MAGIC_LINK_RATE_LIMIT: '1000', SHARING: 'people,groups' }
const expired = await tokenOfAnotherTime()
const gateway = new FakeGateway()
const berth = await startEnginelessBerth({ after }, { dataDir, env, gateway })
after(() => rm(dataDir, { recursive: true, force: true }))

interface Caller {
  readonly token: string | undefined
  readonly id: number
}

const boss = await signUp(berth, 'boss@x.org', 'login')
const callers = {
  nobody: { token: undefined, id: 0 },
  'who has no token of ours': { token: 'x', id: 0 },
  'who has a token that has expired': { token: expired, id: 0 },
  'who has a token of another key': { token: await tokenOfAnotherKey(), id: 0 },
  'who signed out': await signUp(berth, 'signed-out@x.org'),
  'the app in a container': await signUp(berth, 'app@x.org'),
  'a user': await signUp(berth, 'user@x.org'),
  'an administrator': await signUp(berth, 'admin@x.org'),
  'a blocked user': await signUp(berth, 'blocked@x.org'),
  'a blocked administrator': await signUp(berth, 'blocked-admin@x.org'),
  'a deleted user': await signUp(berth, 'deleted@x.org'),
  'a deleted administrator': await signUp(berth, 'deleted-admin@x.org'),
  'who acts for a user': await signUp(berth, 'taken-over@x.org'),
  'who acts for an administrator': boss,
}
type Who = keyof typeof callers
const allCallers = Object.keys(callers) as Who[]

const administer = (method: string, what: string, body?: object) =>
  berth.call(method, `/api/admin/users/${what}`, { ...withToken(boss), ...(body ? { body } : {}) })
assertOk(await berth.call('POST', '/api/auth/logout', withToken(callers['who signed out'])))
for (const who of ['a blocked user', 'a blocked administrator'] as const)
  assertOk(await administer('POST', `${callers[who].id}/block`))
for (const who of ['a deleted user', 'a deleted administrator'] as const)
  assertOk(await administer('DELETE', `${callers[who].id}`))
callers['the app in a container'] = await appOf(callers['the app in a container'].id)
callers['who acts for a user'] = await takeOver(boss, callers['who acts for a user'].id)
callers['who acts for an administrator'] = await takeOver(callers['an administrator'], boss.id)

const isWorthless = (who: Who) => allCallers.indexOf(who) <= allCallers.indexOf('the app in a container')

/** What only the owner of an account may do. */
const forOwners: readonly EndpointName[] = [
  'exportOwnData',
  'downloadSnapshot',
  'downloadHome',
  'readHomeDownload',
  'removeFormerHome',
  'readDownload',
  'downloadFile',
  'readFile',
  'endSession',
  'endOtherSessions',
  'createApiToken',
  'removeApiToken',
  'addSshKey',
  'removeSshKey',
  'joinGroup',
  'listEnvironments',
  'createEnvironment',
  'checkEnvironmentSource',
  'readEnvironment',
  'changeEnvironment',
  'deleteEnvironment',
  'buildEnvironment',
  'readBuildLog',
  'publishVersion',
  'cancelBuild',
  'tryVersion',
  'endTrial',
  'listOlder',
  'updateOlder',
  'listMembers',
  'addMembers',
  'removeMember',
  'readJoinCode',
  'createJoinCode',
  'deleteJoinCode',
  'readManagedGroup',
  'previewMembers',
  'readTimetable',
  'setTimetable',
  'setGroupFolder',
  'removeGroupFolder',
  'listGroupInvitations',
  'withdrawGroupInvitation',
  'resendGroupInvitation',
  'groupEvents',
  'startGroup',
  'restartMember',
  'readMemberFailure',
  'endGroup',
  'stopGroup',
  'blockGroup',
  'unblockGroup',
  'shareContainer',
  'endShare',
  'askToLook',
  'agreeToLook',
  'declineLook',
]

/** The status with which a caller is refused; undefined when they have access. */
function refusalOf(name: EndpointName, who: Who): number | undefined {
  const { access, blocked }: Endpoint = endpoints[name]
  if (access === 'operator') return 404
  // It asks for another cookie than those of tokens: `session-cookie.test.ts` has it.
  if (name === 'refreshSession') return 401
  if (access === 'public') return undefined
  if (isWorthless(who)) return 401
  if (access === 'admin') return who === 'an administrator' ? undefined : 403
  if (name === 'logOut' || name === 'endTakeover') return undefined
  if (who.startsWith('a deleted')) return 404
  if (who.startsWith('a blocked') && blocked !== 'may read') return 403
  return who.startsWith('who acts') && forOwners.includes(name) ? 403 : undefined
}

/** Signing out comes last for each caller. */
const names = (Object.keys(endpoints) as EndpointName[]).toSorted(
  (a, b) => Number(a === 'logOut') - Number(b === 'logOut'),
)

for (const name of names) {
  const endpoint: Endpoint = endpoints[name]
  const title = `${endpoint.method} ${endpoint.path}`

  test(`${title} gives access to the callers of its row and no others, by header and by cookie`, async () => {
    for (const who of allCallers) {
      // It would end the takeover that the other rows need; `takeover-in-browser.test.ts` has it.
      if (name === 'endTakeover' && who.startsWith('who acts')) continue
      const refused = refusalOf(name, who)
      // A session ends once.
      const ways = name === 'logOut' && refused === undefined ? [byHeader] : [byHeader, byCookie]
      for (const way of ways) await check(endpoint, who, way(callers[who].token), refused)
    }
  })

  if (endpoint.access === 'user' || endpoint.access === 'admin')
    test(`${title} refuses with 401 a token in the query or in a cookie of another name`, async () => {
      const { token = '' } = boss
      const query = `?token=${token}&access_token=${token}`
      assertRefused(await berth.call(endpoint.method, addressOf(endpoint).replace(/\?.*/, '') + query), 401)
      assertRefused(await ask(endpoint, { cookie: `token=${token}` }), 401)
    })
}

function byHeader(token: string | undefined): Record<string, string> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` }
}

function byCookie(token: string | undefined): Record<string, string> {
  return token === undefined ? {} : { cookie: `spawner_token=${token}` }
}

function withToken({ token }: Caller): { token: string } {
  return { token: token ?? '' }
}

/** With harmless values in the path and mostly without a body: a refusal comes before that counts. */
function addressOf({ path, method }: Endpoint): string {
  const query = `${method} ${path}` === 'DELETE /api/container/files/{container_type}' ? '?path=x' : ''
  return path.replace('{container_type}', 'dev').replace(/\{\w+\}/g, '999999999') + query
}

/** Only where a missing body is refused before a block is. */
const bodies: Readonly<Record<string, object>> = {
  'POST /api/user/ssh-keys': {
    key: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIN/9IEeJl7zJrHk1LM5wvS2xRwLzAyWJK3dRQmKk3cX2',
  },
  'POST /api/container/files/{container_type}': { git: 'https://git.example.org/x' },
  'POST /api/user/tokens': { name: 'x', scopes: ['containers:read'], expires_in: 60 },
  'POST /api/container/files/{container_type}/download': { path: 'x' },
  'POST /api/admin/environments': { name: 'x', source: { dockerfile: 'FROM a' } },
  'POST /api/admin/environment-checks': { source: { dockerfile: 'FROM a' } },
  'PATCH /api/admin/environments/{name}': {},
  'POST /api/admin/environments/{name}/update': { mode: 'ask' },
  'POST /api/groups/join': { code: 'x' },
  'POST /api/groups/{id}/members': { emails: ['x@x.org'] },
  'POST /api/groups/{id}/members/preview': { emails: ['x@x.org'] },
  'POST /api/groups/{id}/start': { container_type: 'dev' },
  'POST /api/groups/{id}/timetable': { timetable: null },
  'PUT /api/groups/{id}/folder': { name: 'a', members: 'read' },
  'POST /api/container/shares/{container_type}': { may: 'look', expires_at: '2000-01-01T00:00:00Z' },
}
const bodyFor = ({ path, method }: Endpoint) => bodies[`${method} ${path}`]

function ask(endpoint: Endpoint, headers: Record<string, string>) {
  const body = bodyFor(endpoint)
  return berth.call(endpoint.method, addressOf(endpoint), { headers, ...(body && { body }) })
}

async function check(
  endpoint: Endpoint,
  who: Who,
  headers: Record<string, string>,
  refused: number | undefined,
): Promise<void> {
  const what = `${who} by ${Object.keys(headers)[0] ?? 'nothing'}`
  if (refused === undefined) {
    const status = await statusOf(endpoint, headers)
    assert.ok(status !== 401 && status !== 403, `${what} was answered ${status}`)
    return
  }
  const reply = await ask(endpoint, headers)
  assert.equal(reply.status, refused, `${what} was answered ${reply.status}: ${reply.text}`)
  assertRefused(reply, refused, 'blocked_at' in reply.body ? ['blocked_at'] : [])
  if (refused === 401) assert.match(reply.headers.get('www-authenticate') ?? '', /^Bearer/, what)
}

/** Some answers do not end by themselves. */
async function statusOf(endpoint: Endpoint, headers: Record<string, string>): Promise<number> {
  const { body, status } = await fetch(berth.url + addressOf(endpoint), { method: endpoint.method, headers })
  await body?.cancel()
  return status
}

async function signUp(where: EnginelessBerth, email: string, purpose: 'signup' | 'login' = 'signup'): Promise<Caller> {
  assertOk(await where.call('POST', `/api/auth/${purpose}`, { body: { email } }))
  const mail = where.mails.findLast(({ to }) => to === email)
  assert.ok(mail)
  const reply = await where.call('GET', `/api/auth/verify-${purpose}?token=${tokenIn(mail)}`)
  assertOk(reply)
  return { token: reply.body.access_token, id: reply.body.user.id }
}

/** The same installation, at a time when tokens lived for a second. */
async function tokenOfAnotherTime(): Promise<string | undefined> {
  const earlier = await startEnginelessBerth({ after }, { dataDir, env: { ...env, JWT_ACCESS_TOKEN_EXPIRES: '1' } })
  const { token } = await signUp(earlier, 'boss@x.org')
  await earlier.close()
  // Tokens count in whole seconds.
  await sleep(2_000)
  return token
}

/** Of an installation whose first user is an administrator with the same id, too. */
async function tokenOfAnotherKey(): Promise<string | undefined> {
  const other = await startEnginelessBerth({ after }, { env })
  return (await signUp(other, 'boss@x.org')).token
}

/** What the app in a container sees in place of its user's token. */
async function appOf(id: number): Promise<Caller> {
  const { token } = (await gateway.control?.scopedToken(id, 'app-dev', null)) ?? {}
  assert.ok(token)
  return { token, id }
}

async function takeOver(actor: Caller, id: number): Promise<Caller> {
  const body = { reason: 'to see for myself' }
  const reply = await berth.call('POST', `/api/admin/users/${id}/takeover`, { ...withToken(actor), body })
  assertOk(reply)
  return { token: reply.body.access_token, id }
}

/** What the document for the world names. */
const rows = Object.values<Endpoint>(endpoints)
const offered = rows.filter(({ access }) => access !== 'operator')

test("the OpenAPI document names exactly the endpoints of the table that are not the operator's", async () => {
  const { paths } = (await berth.call('GET', '/api/openapi.json')).body
  const documented = Object.entries<object>(paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
  )
  assert.deepEqual(documented.sort(), offered.map(({ method, path }) => `${method} ${path}`).sort())
})

test('the OpenAPI document says of each endpoint whether it needs a token', async () => {
  const { paths } = (await berth.call('GET', '/api/openapi.json')).body
  for (const { method, path, access } of offered) {
    const { security } = paths[path][method.toLowerCase()]
    assert.equal(security !== undefined, access !== 'public', `${method} ${path}`)
  }
})

// Every use case had to remember the block by itself, and a new row was open to blocked users.
test('a blocked user is let in only where a row says so, and where not, its refusals name 403', async () => {
  const user: Endpoint[] = rows.filter(({ access }) => access === 'user')
  const allowed = user.filter(({ blocked }) => blocked === 'may read').map(({ path }) => path)
  assert.deepEqual(allowed.sort(), [
    '/api/auth/end-takeover',
    '/api/auth/logout',
    '/api/container/status',
    '/api/user/containers',
    '/api/user/data',
    '/api/user/me',
    '/api/user/sessions',
    '/api/user/sessions/end-others',
    '/api/user/sessions/{id}',
  ])
  for (const { blocked, refusals, path } of user) if (blocked !== 'may read') assert.ok(refusals[403], path)
})

test('a row that says nothing about blocked users is refused to them', async () => {
  const { blocked: _, ...row } = endpoints.me
  const session = { user: { id: 1, isBlocked: true } } as Session
  const templates = { first: { type: 'dev' }, get: () => ({}) } as unknown as Templates
  const parts = { database: {} as Database, templates }
  await assert.rejects(refuseBlocked(parts, row, session, {}), { status: 403 })
  await refuseBlocked(parts, endpoints.me, session, {})
})

test('the table has every endpoint of the specification, with the access it demands', () => {
  const specified = {
    public: [
      'POST /api/auth/login',
      'POST /api/auth/signup',
      'GET /api/auth/verify-signup',
      'GET /api/auth/verify-login',
    ],
    user: [
      'POST /api/auth/logout',
      'GET /api/user/me',
      'GET /api/container/status',
      'POST /api/container/restart',
      'GET /api/user/containers',
      'POST /api/container/launch/{container_type}',
    ],
    admin: [
      'GET /api/admin/users',
      'POST /api/admin/containers/{id}/block',
      'POST /api/admin/containers/{id}/unblock',
      'POST /api/admin/containers/bulk-block',
      'POST /api/admin/containers/bulk-unblock',
      'POST /api/admin/users/{id}/block',
    ],
  }
  for (const [access, wanted] of Object.entries(specified)) {
    const there = rows.filter((row) => row.access === access).map(({ method, path }) => `${method} ${path}`)
    for (const each of wanted) assert.ok(there.includes(each), `${each} needs access ${access}`)
  }
})
