import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { endpoints, type Endpoint, type EndpointName } from '@berth/api/endpoints.ts'
import { scopes, type Scope } from '@berth/api/scopes.ts'
import { assertOk, assertRefused } from './support/api-calls.ts'
import { startEnginelessBerth, tokenIn } from './support/berth-without-engine.ts'

/** Every row of the endpoint table, called with an API token of every scope. A new row is covered by itself. */

const berth = await startEnginelessBerth({ after }, { env: { ADMIN_EMAILS: 'boss@x.org' } })
const boss = await signUp('boss@x.org')
const tokens = await Promise.all(scopes.map(async (scope) => ({ scope, token: await newToken(scope) })))

/** What the contract names; the table must not open more. */
const granted: Readonly<Record<Scope, readonly Scope[]>> = {
  'containers:read': ['containers:read'],
  'containers:write': ['containers:read', 'containers:write'],
  'admin:read': ['admin:read'],
  'admin:write': ['admin:read', 'admin:write'],
}

for (const name of Object.keys(endpoints) as EndpointName[]) {
  const endpoint: Endpoint = endpoints[name]
  const title = `${endpoint.method} ${endpoint.path}`

  test(`${title} takes an API token by header and only with the scope of its row`, async () => {
    for (const { scope, token } of tokens) {
      const reply = await ask(endpoint, { authorization: `Bearer ${token}` })
      if (endpoint.access === 'operator') assert.equal(reply.status, 404, scope)
      // It asks for the cookie of a session.
      else if (name === 'refreshSession') assert.equal(reply.status, 401, scope)
      else if (endpoint.access === 'public') assertLetIn(reply.status, scope)
      else if (endpoint.scope === undefined) assertScopeless(reply)
      else if (granted[scope].includes(endpoint.scope)) assertLetIn(reply.status, scope)
      else assertNames(reply, endpoint.scope)
    }
  })

  if (endpoint.access !== 'public' && endpoint.access !== 'operator')
    test(`${title} refuses with 401 an API token in a cookie, in the query or behind another scheme`, async () => {
      // One that the header lets in, where a scope does.
      const isLetIn = (scope: Scope) => endpoint.scope !== undefined && granted[scope].includes(endpoint.scope)
      const { token } = tokens.findLast(({ scope }) => isLetIn(scope)) ?? { token: tokens[0]?.token ?? '' }
      assert.equal((await ask(endpoint, { cookie: `spawner_token=${token}` })).status, 401)
      assert.equal((await ask(endpoint, {}, `?token=${token}&access_token=${token}`)).status, 401)
      assert.equal((await ask(endpoint, { authorization: `Token ${token}` })).status, 401)
      // A bad header is not helped by a good cookie, nor the other way round.
      const mixed = { authorization: `Bearer ${token.slice(0, -1)}`, cookie: `spawner_token=${boss}` }
      assert.equal((await ask(endpoint, mixed)).status, 401)
    })
}

test('an API token counts although a cookie of another session comes along, and gains nothing by it', async () => {
  const reader = tokens.find(({ scope }) => scope === 'containers:read')?.token ?? ''
  const headers = { authorization: `Bearer ${reader}`, cookie: `spawner_token=${boss}` }
  assertOk(await berth.call('GET', '/api/user/me', { headers }))
  assertNames(await readText(await berth.call('GET', '/api/admin/users', { headers })), 'admin:read')
})

test('no spelling of a path leads an API token past its scope', async () => {
  const reader = tokens.find(({ scope }) => scope === 'containers:read')?.token ?? ''
  const spellings = [
    '/api/user/tokens/',
    '/api//user/tokens',
    '/API/user/tokens',
    '/api/user/%74okens',
    '/api/./user/tokens',
  ]
  for (const path of [
    ...spellings,
    '/api/user/me/../tokens',
    '/api/user/tokens?x=/api/user/me',
    '/api/user/tokens;x',
  ]) {
    const { status } = await berth.call('GET', path, { headers: { authorization: `Bearer ${reader}` } })
    assert.ok([403, 404].includes(status), `${path} was answered ${status}`)
  }
  const head = await berth.call('HEAD', '/api/admin/users', { headers: { authorization: `Bearer ${reader}` } })
  assert.equal(head.status, 403)
})

test('the endpoints that no API token may call are those for sessions, tokens, SSH keys, takeovers, shares, files of links, one’s own data and homes, and managers of groups', () => {
  const closed = Object.values<Endpoint>(endpoints).filter(
    ({ access, scope }) => (access === 'user' || access === 'admin') && scope === undefined,
  )
  assert.deepEqual(closed.map(({ method, path }) => `${method} ${path}`).sort(), [
    'DELETE /api/container/shares/{container_type}/{id}',
    'DELETE /api/groups/{id}/folder',
    'DELETE /api/groups/{id}/invitations/{invitation_id}',
    'DELETE /api/groups/{id}/join-code',
    'DELETE /api/groups/{id}/members/{user_id}',
    'DELETE /api/user/homes/{id}',
    'DELETE /api/user/sessions/{id}',
    'DELETE /api/user/ssh-keys/{id}',
    'DELETE /api/user/tokens/{id}',
    'GET /api/groups/{id}',
    'GET /api/groups/{id}/events',
    'GET /api/groups/{id}/invitations',
    'GET /api/groups/{id}/join-code',
    'GET /api/groups/{id}/members',
    'GET /api/groups/{id}/members/{user_id}/failure/{container_type}',
    'GET /api/groups/{id}/timetable',
    'GET /api/user/data',
    'GET /api/user/homes',
    'GET /api/user/homes/downloads/{ticket}',
    'GET /api/user/sessions',
    'GET /api/user/ssh-keys',
    'GET /api/user/tokens',
    'POST /api/admin/users/{id}/takeover',
    'POST /api/auth/end-takeover',
    'POST /api/auth/logout',
    'POST /api/container/files/{container_type}',
    'POST /api/container/shares/{container_type}',
    'POST /api/groups/join',
    'POST /api/groups/{id}/block',
    'POST /api/groups/{id}/end',
    'POST /api/groups/{id}/invitations/{invitation_id}/resend',
    'POST /api/groups/{id}/join-code',
    'POST /api/groups/{id}/members',
    'POST /api/groups/{id}/members/preview',
    'POST /api/groups/{id}/members/{user_id}/look/{container_type}',
    'POST /api/groups/{id}/members/{user_id}/restart/{container_type}',
    'POST /api/groups/{id}/start',
    'POST /api/groups/{id}/stop',
    'POST /api/groups/{id}/timetable',
    'POST /api/groups/{id}/unblock',
    'POST /api/user/homes/{id}/download',
    'POST /api/user/look-requests/{id}/agree',
    'POST /api/user/look-requests/{id}/decline',
    'POST /api/user/sessions/end-others',
    'POST /api/user/ssh-keys',
    'POST /api/user/tokens',
    'PUT /api/groups/{id}/folder',
  ])
})

test('the OpenAPI document names the scope of each endpoint that an API token may call', async () => {
  const { paths } = (await berth.call('GET', '/api/openapi.json')).body
  for (const { method, path, access, scope } of Object.values<Endpoint>(endpoints)) {
    if (access === 'operator') continue
    const security = paths[path][method.toLowerCase()].security ?? []
    const named = security.flatMap((each: { apiToken?: string[] }) => each.apiToken ?? [])
    assert.deepEqual(named, scope === undefined ? [] : [scope], `${method} ${path}`)
  }
})

interface Answer {
  readonly status: number
  readonly text: string
  readonly challenge: string
}

function assertLetIn(status: number, scope: string): void {
  assert.ok(status !== 401 && status !== 403, `${scope} was answered ${status}`)
}

function assertScopeless({ status, text }: Answer): void {
  assert.equal(status, 403, text)
  assert.match(text, /No API token may do this/)
}

function assertNames({ status, text, challenge }: Answer, scope: Scope): void {
  assert.equal(status, 403, text)
  assert.ok(text.includes(`the scope ${scope}`), text)
  assert.equal(challenge, `Bearer error="insufficient_scope", scope="${scope}"`)
}

/** With harmless values in the path and without a body. Streams are not read to their end, which they do not have. */
async function ask({ method, path }: Endpoint, headers: Record<string, string>, query = ''): Promise<Answer> {
  const address = path.replace('{container_type}', 'dev').replace(/\{\w+\}/g, '999999999') + query
  const response = await fetch(berth.url + address, { method, headers })
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
  if (isStream) await response.body?.cancel()
  return readText({ status: response.status, headers: response.headers, text: isStream ? '' : await response.text() })
}

const readText = ({ status, text, headers }: { status: number; text: string; headers: Headers }): Answer => ({
  status,
  text,
  challenge: headers.get('www-authenticate') ?? '',
})

async function signUp(email: string): Promise<string> {
  assertOk(await berth.call('POST', '/api/auth/signup', { body: { email } }))
  const mail = berth.mails.findLast(({ to }) => to === email)
  assert.ok(mail)
  const reply = await berth.call('GET', `/api/auth/verify-signup?token=${tokenIn(mail)}`)
  assertOk(reply)
  return reply.body.access_token
}

async function newToken(scope: Scope): Promise<string> {
  const body = { name: scope, scopes: [scope], expires_in: 3_600 }
  const reply = await berth.call('POST', '/api/user/tokens', { token: boss, body })
  assertOk(reply)
  return reply.body.token
}

test('a request without a token is refused where an API token would be taken', async () => {
  assertRefused(await berth.call('GET', '/api/user/tokens'), 401)
})
