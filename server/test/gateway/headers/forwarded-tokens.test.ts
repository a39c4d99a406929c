import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { GatewayChange } from '@berth/gateway/port/gateway.ts'
import { routeTo, startGatewayHarness } from '#test/support/gateway/gateway-harness.ts'
import { requestHead } from '#test/support/gateway/http-text.ts'
import { echoed, exchange, get, until } from '#test/support/gateway/raw-client.ts'
import { echoApp, httpApp, type Echo } from '#test/support/gateway/test-apps.ts'
import { ann, annCookie, annPerson, annToken, tokenFor } from '#test/support/gateway/tokens.ts'

test("a caller's token in the Authorization header becomes a scoped one, and no cookie is added", async (t) => {
  const { port } = await startGatewayHarness(t, echoApp())
  const { headers } = await echoed(port, '/ann-dev/')
  assert.equal(headers.authorization, 'Bearer scoped-1-ann-dev')
  assert.equal(headers.cookie, undefined)
})

test('the token in the cookie becomes a scoped one, once, and other cookies stay', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp())
  const cookie = `a=1; spawner_token=${annToken}; b="x=y"; spawner_token=${annToken}; c`
  const { body } = await get(port, '/ann-dev/', { headers: { cookie } })
  const echo = JSON.parse(body) as Echo
  assert.deepEqual(
    echo.headers.cookie?.split('; ').sort(),
    ['a=1', 'b="x=y"', 'c', 'spawner_token=scoped-1-ann-dev'].sort(),
  )
  assert.equal(echo.headers.authorization, undefined)
  assert.doesNotMatch(body, new RegExp(annToken))
})

test('two Cookie headers are both cleaned', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp())
  const answer = await exchange(
    port,
    requestHead('GET /ann-dev/ HTTP/1.1', 'Cookie: a=1', `cookie: spawner_token=${annToken}; spawner_csrf=1`),
  )
  assert.doesNotMatch(answer, new RegExp(`${annToken}|spawner_csrf`))
  assert.match(answer, /a=1/)
})

test('with header and cookie both, no token of ours is left', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp())
  const other = await tokenFor(1)
  const { headers } = await echoed(port, '/ann-dev/', { headers: { cookie: `spawner_token=${other}` } })
  assert.equal(headers.authorization, 'Bearer scoped-1-ann-dev')
  assert.equal(headers.cookie, 'spawner_token=scoped-1-ann-dev')
})

test("a template may have the caller's own token forwarded", async (t) => {
  const { port } = await startGatewayHarness(t, echoApp(), { rules: { forwardToken: 'full' } })
  assert.equal((await echoed(port, '/ann-dev/')).headers.authorization, `Bearer ${annToken}`)
  const echo = JSON.parse((await get(port, '/ann-dev/', { headers: annCookie })).body) as Echo
  assert.equal(echo.headers.cookie, `spawner_token=${annToken}`)
})

test("an app's own Authorization passes beside the cookie", async (t) => {
  const { port } = await startGatewayHarness(t, echoApp())
  for (const authorization of ['Basic YW5uOng=', 'Bearer the-apps-own']) {
    const { body } = await get(port, '/ann-dev/', { headers: { ...annCookie, authorization } })
    assert.equal((JSON.parse(body) as Echo).headers.authorization, authorization)
  }
})

test("the platform's other cookies do not reach the app", async (t) => {
  const { port } = await startGatewayHarness(t, echoApp())
  const cookie =
    '__Host-Http-spawner_bind=1; a=1; __http-x=2; spawner_csrf=3; Spawner_Token=4; spawner_language=de; __Host-mine=5'
  assert.equal((await echoed(port, '/ann-dev/', { headers: { cookie } })).headers.cookie, 'a=1; __Host-mine=5')
})

test('a visitor without a valid token brings no token and no name to a public app', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp(), { rules: { access: 'public' } })
  const { body } = await get(port, '/ann-dev/', {
    headers: { cookie: 'spawner_token=expired; a=1', 'x-berth-user': 'ann@example.org' },
  })
  const { headers } = JSON.parse(body) as Echo
  assert.equal(headers.cookie, 'a=1')
  assert.equal(headers['x-berth-user'], undefined)
})

test('a scoped token is asked for once while it lasts, for each person and container', async (t) => {
  const asked: string[] = []
  const { port } = await startGatewayHarness(t, echoApp(), {
    rules: { access: 'authenticated' },
    control: {
      scopedToken: async (userId, prefix) => {
        asked.push(`${userId} ${prefix}`)
        return { token: `t${asked.length}`, expiresAt: Date.now() + 900_000 }
      },
    },
  })
  await Promise.all([echoed(port, '/ann-dev/'), echoed(port, '/ann-dev/')])
  await echoed(port, '/ann-dev/')
  const bob = { authorization: `Bearer ${await tokenFor(2)}` }
  assert.equal((await echoed(port, '/ann-dev/', { headers: bob })).headers.authorization?.startsWith('Bearer t'), true)
  assert.deepEqual(new Set(asked), new Set(['1 ann-dev', '2 ann-dev']))
  assert.ok(asked.length <= 3, `${asked.length} asked`)
})

test('who acts for a person gets a scoped token of their own: it is not mixed up with the one of that person', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp(), {
    control: {
      scopedToken: async (userId, _prefix, acting) => ({
        token: `of-${userId}-by-${acting}`,
        expiresAt: Date.now() + 900_000,
      }),
    },
  })
  const by = async (acting?: string) => {
    const token = await tokenFor(1, acting === undefined ? {} : { acting })
    return (await echoed(port, '/ann-dev/', { headers: { authorization: `Bearer ${token}` } })).headers.authorization
  }
  for (let round = 0; round < 2; round += 1) {
    assert.equal(await by(), 'Bearer of-1-by-null')
    assert.equal(await by('2'), 'Bearer of-1-by-2')
    assert.equal(await by('operator'), 'Bearer of-1-by-operator')
  }
})

test('a request after a change of the user does not wait for the token that was asked for before', async (t) => {
  let asked = 0
  const changed = Promise.withResolvers<void>()
  const { port, gateway } = await startGatewayHarness(t, echoApp(), {
    control: {
      scopedToken: async () => {
        const token = `t${++asked}`
        if (asked === 1) await changed.promise
        return { token, expiresAt: Date.now() + 900_000 }
      },
    },
  })
  const first = get(port, '/ann-dev/', { headers: ann })
  await until('the token is asked for', () => asked === 1)
  await gateway.apply([{ kind: 'user', user: { ...annPerson, isAdmin: true } }])
  assert.equal((await echoed(port, '/ann-dev/')).headers.authorization, 'Bearer t2')
  changed.resolve()
  assert.equal((await first).status, 503)
  assert.notEqual((await echoed(port, '/ann-dev/')).headers.authorization, 'Bearer t1')
})

test('a scoped token that is about to expire is not handed out', async (t) => {
  let asked = 0
  const { port } = await startGatewayHarness(t, echoApp(), {
    control: { scopedToken: async () => ({ token: `t${++asked}`, expiresAt: Date.now() + 500 }) },
  })
  await echoed(port, '/ann-dev/')
  // The scoped token expires by the clock.
  await new Promise((resolve) => setTimeout(resolve, 600))
  assert.notEqual((await echoed(port, '/ann-dev/')).headers.authorization, 'Bearer t1')
})

test('when no scoped token can be had the own one is not forwarded instead', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp(), {
    control: { scopedToken: () => Promise.reject(new Error('the control plane is gone')) },
  })
  for (const headers of [ann, annCookie]) {
    const { body } = await get(port, '/ann-dev/', { headers })
    assert.doesNotMatch(body, /the control plane|eyJ/)
  }
})

for (const [cause, change] of [
  ['its person is blocked', { kind: 'user', user: { ...annPerson, isBlocked: true } }],
  ['its person is promoted', { kind: 'user', user: { ...annPerson, isAdmin: true } }],
  ['its token is revoked', { kind: 'revoked', revocation: { jti: 'ann', expiresAt: Date.now() + 3_600_000 } }],
  ['its container is gone', { kind: 'route-gone', prefix: 'ann-dev' }],
  [
    'its container stops',
    { kind: 'route', route: { ...routeTo('ann-dev', 1, 1), where: { reason: 'crashed', exitCode: 1 } } },
  ],
] satisfies [string, GatewayChange][])
  test(`a request that waits for its scoped token does not reach the app when ${cause} meanwhile`, async (t) => {
    let [reached, isAsked] = [0, false]
    const late = Promise.withResolvers<{ token: string; expiresAt: number }>()
    const app = httpApp((_, response) => {
      reached += 1
      response.end('the app')
    })
    const { port, gateway } = await startGatewayHarness(t, app, {
      control: {
        scopedToken: () => {
          isAsked = true
          return late.promise
        },
      },
    })
    const asked = get(port, '/ann-dev/', { headers: ann }).catch(() => undefined)
    await until('the token is asked for', () => isAsked)
    await gateway.apply([change])
    late.resolve({ token: 'late', expiresAt: Date.now() + 900_000 })
    assert.notEqual((await asked)?.body, 'the app')
    assert.equal(reached, 0)
  })
