import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { startGatewayHarness, type HarnessOptions } from '#test/support/gateway/gateway-harness.ts'
import { annHost } from '#test/support/gateway/hosts.ts'
import { get } from '#test/support/gateway/raw-client.ts'
import { echoApp } from '#test/support/gateway/test-apps.ts'
import { browser } from '#test/support/gateway/tokens.ts'

/** Subdomain routing: the gateway's part of the way into a container's host. */
const code = 'c'.repeat(43)
const hashOf = (value: string) => createHash('sha256').update(value).digest('base64url')

async function start(t: Parameters<typeof startGatewayHarness>[0], options: HarnessOptions = {}) {
  const asked: unknown[][] = []
  const enterHost = async (sent: string, prefix: string, browsers: readonly string[]) => {
    asked.push([sent, prefix, browsers])
    return { browser: hashOf('mine'), setCookie: ['spawner_token=t; Path=/'], next: '//evil.example/\\x?a=1' }
  }
  const bench = await startGatewayHarness(t, echoApp(), { routing: 'subdomain', control: { enterHost }, ...options })
  return { ...bench, asked }
}

test('a navigation without a token begins an attempt, and leads to the platform with its hash and the way back', async (t) => {
  const { port } = await start(t)
  const led = await get(port, '/a?b=1&c=%2F', { headers: { host: annHost, ...browser } })
  assert.equal(led.status, 302)
  const { origin, pathname, searchParams } = new URL(led.headers.location ?? '')
  assert.equal(origin + pathname, 'http://spawner.test/enter')
  const [line = '', ...more] = led.headers['set-cookie'] ?? []
  const [, value = ''] =
    /^spawner_enter_[\da-f]{8}=([\w-]{43}); Path=\/\.berth\/; Max-Age=120; HttpOnly; SameSite=Lax$/.exec(line) ?? []
  assert.deepEqual(Object.fromEntries(searchParams), {
    container: 'ann-dev',
    browser: hashOf(value),
    next: '/a?b=1&c=%2F',
  })
  assert.deepEqual(
    [more, led.headers['referrer-policy'], led.headers['cache-control']],
    [[], 'no-referrer', 'no-store'],
  )
})

test('with https its cookie is one that no script and no other host can set', async (t) => {
  const { port } = await start(t, { settings: { scheme: 'https' } })
  const led = await get(port, '/', { headers: { host: annHost, ...browser } })
  assert.match(
    led.headers['set-cookie']?.[0] ?? '',
    /^__Host-Http-spawner_enter_[\da-f]{8}=[\w-]{43}; Path=\/; Max-Age=120; HttpOnly; SameSite=Lax; Secure$/,
  )
})

test('a script and a frame are led nowhere', async (t) => {
  const { port } = await start(t)
  const status = async (headers: object) => (await get(port, '/', { headers: { host: annHost, ...headers } })).status
  assert.equal(await status({}), 401)
  assert.equal(await status({ ...browser, 'sec-fetch-mode': 'cors' }), 401)
  assert.equal(await status({ ...browser, 'sec-fetch-dest': 'iframe' }), 401)
})

const cookie =
  'spawner_enter_00000001=mine; spawner_enter_00000002=other; spawner_enter_00000003=x; spawner_enter_00000003=y; spawner_enter_0=z'

test('a code is handed in with the attempts of this browser, of which those that came twice do not count', async (t) => {
  const { port, asked } = await start(t)
  const reply = await get(port, `/.berth/enter?code=${code}`, { headers: { host: 'Ann-Dev.Spawner.Test.:99', cookie } })
  assert.deepEqual(asked, [[code, 'ann-dev', [hashOf('mine'), hashOf('other')]]])
  assert.equal(reply.status, 302)
  assert.equal(reply.headers.location, 'http://ann-dev.spawner.test//evil.example/\\x?a=1', 'it stays on this host')
  assert.deepEqual(reply.headers['set-cookie'], [
    'spawner_token=t; Path=/',
    'spawner_enter_00000001=; Path=/.berth/; Max-Age=0; HttpOnly; SameSite=Lax',
  ])
})

test('the page of a code that is refused leads anew to this container, and to the dashboard, in both languages', async (t) => {
  // Chromium repeats a request that a change of networks cut. The code is used then, and the page led to the dashboard alone.
  const { port } = await start(t, { control: { enterHost: async () => undefined } })
  for (const [language, text] of [
    ['en', 'Open the container again'],
    ['de', 'Container erneut öffnen'],
  ] as const)
    for (const sent of [{ cookie }, {}]) {
      const headers = { host: `${annHost}.:99`, ...browser, ...sent, 'accept-language': language }
      const page = await get(port, `/.berth/enter?code=${code}`, { headers })
      assert.equal(page.status, 400)
      const links = [...page.body.matchAll(/<a (?:class="button" )?href="([^"]*)">([^<]*)<\/a>/g)]
      const [again, dashboard] = links.map(([, href = '', label = '']) => [
        href,
        Buffer.from(label, 'latin1').toString(),
      ])
      assert.deepEqual(again, ['http://ann-dev.spawner.test/', text])
      assert.match(dashboard?.[0] ?? '', /\/dashboard\?/)
      assert.ok(!page.body.includes(code))
    }
  const begun = await get(port, '/', { headers: { host: annHost, ...browser } })
  assert.equal(begun.status, 302, 'where the first link leads, another code is asked for')
})

test('the API is not asked about what is no code, no navigation, or of a browser without an attempt', async (t) => {
  const { port, asked } = await start(t)
  const ask = (query: string, headers: object = { cookie }, method = 'GET') =>
    get(port, `/.berth/enter${query}`, { method, headers: { host: annHost, ...headers } })
  const refusals = [
    await ask(''),
    await ask(`?code=${code}x`),
    await ask(`?code=${code}&next=/`),
    await ask(`?code=${code}&code=${code}`),
    await ask(`?x=1&code=${code}`),
    await ask(`?code=${code}`, {}),
    await ask(`?code=${code}`, { cookie: 'spawner_enter_=mine; spawner_enter_00000001' }),
    await ask(`?code=${code}`, { cookie, 'sec-fetch-dest': 'iframe' }),
    await ask(`?code=${code}`, { cookie, 'sec-purpose': 'prefetch;prerender' }),
    await ask(`?code=${code}`, { cookie }, 'POST'),
    await ask(`?code=${code}`, { cookie }, 'HEAD'),
  ]
  assert.deepEqual(
    refusals.map(({ status }) => status),
    refusals.map(() => 400),
  )
  assert.deepEqual(asked, [])
})

test('a refusal is in a window of its own and in no frame, so that no page of the app reads the code from its address', async (t) => {
  for (const enterHost of [async () => undefined, () => Promise.reject(new Error('it restarts'))]) {
    const { port } = await start(t, { control: { enterHost } })
    const reply = await get(port, `/.berth/enter?code=${code}`, { headers: { host: annHost, cookie, ...browser } })
    assert.ok(reply.status === 400 || reply.status === 503)
    assert.match(reply.headers['content-type'] ?? '', /html/)
    assert.equal(reply.headers['cross-origin-opener-policy'], 'same-origin')
    assert.match(String(reply.headers['content-security-policy']), /frame-ancestors 'none'/)
    assert.equal(reply.headers['set-cookie'], undefined)
  }
})

test('pages of the gateway lead back through the platform’s host', async (t) => {
  const { hostToken } = await import('#test/support/gateway/hosts.ts')
  const { port } = await start(t)
  const cookies = { cookie: `spawner_token=${await hostToken(2, 'ann-dev')}` }
  const { status, body } = await get(port, '/x?y', { headers: { host: annHost, ...browser, ...cookies } })
  assert.equal(status, 403)
  assert.match(body, /login\?next=%2Fann-dev%2Fx%3Fy/)
})
