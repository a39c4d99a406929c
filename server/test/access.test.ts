import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { endpoints, type Endpoint } from '@berth/api/endpoints.ts'
import { assertOk, assertRefused, blockUser } from './support/asking.ts'
import { startBerth, type Reply } from './support/berth.ts'
import { refusingRuntime } from './support/misbehaving.ts'

/** Every row of the endpoint table, and every caller who is not good enough for it. A new row is covered by itself. */

const rows = Object.values<Endpoint>(endpoints)
const env = { ADMIN_EMAILS: 'blocked-admin@x.org,deleted-admin@x.org' }
const berth = await startBerth({ after }, { wrapRuntime: refusingRuntime, env })
const admin = await berth.signUp('boss@x.org')
const user = await berth.signUp('user@x.org')
const blockedAdmin = await berth.signUp('blocked-admin@x.org')
const deletedAdmin = await berth.signUp('deleted-admin@x.org')
const deletedUser = await berth.signUp('deleted-user@x.org')
const loggedOut = await berth.signUp('logged-out@x.org')
assertOk(await blockUser(admin, blockedAdmin.id))
assertOk(await loggedOut.call('POST', '/api/auth/logout'))
for (const { id } of [deletedAdmin, deletedUser])
  await berth.database.db.deleteFrom('users').where('id', '=', id).execute()

/** What the document for the world names. */
const offered = rows.filter(({ access }) => access !== 'operator')

/** The endpoint with harmless values in its path and without a body: whoever is refused is refused before that counts. */
const callAs = ({ method, path }: Endpoint, token?: string): Promise<Reply> =>
  berth.call(method, path.replace(/\{\w+\}/g, '1'), token === undefined ? {} : { token })

for (const endpoint of rows) {
  const name = `${endpoint.method} ${endpoint.path}`

  if (endpoint.access === 'public') {
    test(`${name} is open to everybody, even with a token that is worth nothing`, async () => {
      for (const token of [undefined, 'x', loggedOut.token]) {
        const { status } = await callAs(endpoint, token)
        assert.ok(status !== 401 && status !== 403, `${status}`)
      }
    })
    continue
  }

  if (endpoint.access === 'operator') {
    test(`${name} is not there for anybody who comes through the gateway`, async () => {
      for (const token of [undefined, 'x', loggedOut.token, user.token, admin.token, blockedAdmin.token])
        assertRefused(await callAs(endpoint, token), 404)
    })
    continue
  }

  test(`${name} refuses with 401 who has no token, a bad one, or one that was revoked`, async () => {
    for (const token of [undefined, 'x', loggedOut.token]) {
      const reply = await callAs(endpoint, token)
      assertRefused(reply, 401)
      assert.match(reply.headers.get('www-authenticate') ?? '', /^Bearer/)
    }
  })

  test(`${name} refuses with 401 a token in the query or in a cookie of another name`, async () => {
    const path = endpoint.path.replace(/\{\w+\}/g, '1')
    assertRefused(await berth.call(endpoint.method, `${path}?token=${admin.token}&access_token=${admin.token}`), 401)
    assertRefused(await berth.call(endpoint.method, path, { headers: { cookie: `token=${admin.token}` } }), 401)
  })

  if (endpoint.access === 'admin') {
    test(`${name} refuses with 403 users, and administrators who were blocked or deleted`, async () => {
      for (const { token } of [user, blockedAdmin, deletedAdmin, deletedUser])
        assertRefused(await callAs(endpoint, token), 403)
    })
  } else if (endpoint.path !== '/api/auth/logout') {
    test(`${name} is 404 for the token of a user who was deleted`, async () => {
      assertRefused(await callAs(endpoint, deletedUser.token), 404)
    })
  }
}

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
