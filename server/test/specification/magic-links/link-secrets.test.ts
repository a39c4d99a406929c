import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertOk } from '../../support/api-calls.ts'
import { startEnginelessBerth, tokenIn } from '../../support/berth-without-engine.ts'
import { CookieBrowser } from '../../support/cookie-browser.ts'

/**
 * Pages of containers see the address of every document of the shared origin, so no document is at an address with a secret: the
 * navigation is redirected, and a cookie that no script can read takes the secret to the document.
 */
const env = { BASE_DOMAIN: 'berth.example', MAGIC_LINK_RATE_LIMIT: '100' }
const secure = await startEnginelessBerth({ after }, { env: { ...env, PREFERRED_URL_SCHEME: 'https' } })
const plain = await startEnginelessBerth({ after }, { env })
const token = 'a-token'
const navigation = { accept: 'text/html', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
const linkLines = (reply: { headers: Headers }) =>
  reply.headers.getSetCookie().filter((line) => line.includes('spawner_link_'))

for (const [page, name, maxAge] of [
  ['/verify-login', 'token', 60],
  ['/verify-signup', 'token', 60],
  ['/archive', 'token', 60],
  ['/groups', 'code', 3_600],
] as const)
  test(`${page}: the secret goes into a cookie for this page alone, sealed, and out of the address`, async () => {
    for (const [berth, prefix, attribute] of [
      [secure, '__Http-', '; Secure'],
      [plain, '', ''],
    ] as const) {
      const reply = await new CookieBrowser(berth).navigate(`${page}?${name}=${token}&x=1&link=0123456789abcdef`)
      assert.equal(reply.status, 302)
      const [, id = ''] =
        new RegExp(`^${page}\\?x=1&link=([\\da-f]{16})$`).exec(reply.headers.get('location') ?? '') ?? []
      const [line = '', ...more] = linkLines(reply)
      assert.match(
        line,
        new RegExp(
          `^${prefix}spawner_link_${id}=[\\w-]+; Path=${page}; Max-Age=${maxAge}; HttpOnly; SameSite=Lax${attribute}$`,
        ),
      )
      assert.deepEqual(more, [])
      assert.ok(!JSON.stringify([...reply.headers]).includes(token))
      assert.equal(reply.headers.get('cache-control'), 'no-store')
      assert.equal(reply.headers.get('cross-origin-opener-policy'), 'same-origin')
    }
  })

test('the document of the redirect has it once, and only where a person navigates', async () => {
  const browser = new CookieBrowser(secure)
  const location = (await browser.navigate(`/verify-login?token=${token}`)).headers.get('location') ?? ''
  const asked = [
    await browser.ask('GET', location),
    await secure.call('GET', location, {
      headers: { ...navigation, 'sec-fetch-dest': 'iframe', cookie: browser.cookiesFor('/verify-login') },
    }),
    await secure.call('GET', location, {
      headers: { ...navigation, 'sec-purpose': 'prefetch', cookie: browser.cookiesFor('/verify-login') },
    }),
    await secure.call('GET', location, {
      headers: {
        ...navigation,
        'service-worker-navigation-preload': 'true',
        cookie: browser.cookiesFor('/verify-login'),
      },
    }),
  ]
  for (const reply of asked) {
    assert.equal(reply.status, 200)
    assert.ok(!reply.text.includes(token))
    assert.deepEqual(linkLines(reply), [])
  }
  assert.equal((await browser.open(location)).link_secret, token)
  assert.equal((await browser.open(location)).link_secret, null)
  assert.equal(browser.cookiesFor('/verify-login').includes('spawner_link'), false)
})

test('two links that are opened at the same moment do not take each other’s place', async () => {
  const browser = new CookieBrowser(secure)
  const opened = [await browser.navigate('/verify-login?token=one'), await browser.navigate('/verify-login?token=two')]
  const [one = '', two = ''] = opened.map(({ headers }) => headers.get('location') ?? '')
  assert.equal((await browser.open(one)).link_secret, 'one')
  assert.equal((await browser.open(two)).link_secret, 'two')
})

test('no cookie counts that was made for another browser, page or link, or stands beside another one', async () => {
  const [victim, eve] = [new CookieBrowser(plain), new CookieBrowser(plain)]
  const at = (await eve.navigate('/verify-login?token=of-eve')).headers.get('location') ?? ''
  const name = `spawner_link_${at.slice(-16)}`
  const value = eve.valueOf(name) ?? ''
  await victim.open('/login')
  victim.take(`${name}=${value}; Path=/verify-login`)
  assert.equal((await victim.open(at)).link_secret, null)

  eve.take(`${name}=${value}; Path=/verify-signup`)
  assert.equal((await eve.open(at.replace('login', 'signup'))).link_secret, null)
  const other = `${at.slice(0, -16)}0123456789abcdef`
  eve.take(`spawner_link_0123456789abcdef=${value}; Path=/verify-login`)
  assert.equal((await eve.open(other)).link_secret, null)
  eve.take(`${name}=${value}x; Path=/`)
  assert.equal((await eve.open(at)).link_secret, null)
})

test('a visit that a page of a container set in addition fails one link, and not the next one', async () => {
  const browser = new CookieBrowser(plain)
  await browser.open('/login')
  browser.take('spawner_visit=0123456789012345678901; Path=/verify-login')
  assert.equal((await browser.open('/verify-login?token=one')).link_secret, null)
  assert.equal((await browser.open('/verify-login?token=two')).link_secret, 'two')
})

test('frames, scripts and prefetches get no cookie, and no document at the address', async () => {
  for (const [headers, status] of [
    [{ ...navigation, 'sec-fetch-dest': 'iframe' }, 302],
    [{ 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }, 302],
    [{ ...navigation, 'service-worker-navigation-preload': 'true' }, 302],
    [{ ...navigation, 'sec-purpose': 'prefetch' }, 400],
    [{ ...navigation, 'sec-purpose': 'prefetch;prerender' }, 400],
  ] as const) {
    const reply = await secure.call('GET', `/verify-login?token=${token}`, { headers })
    assert.equal(reply.status, status, JSON.stringify(headers))
    assert.deepEqual(linkLines(reply), [])
    if (status === 302) assert.equal(reply.headers.get('location'), '/verify-login')
  }
  const head = await secure.call('HEAD', `/verify-login?token=${token}`, { headers: navigation })
  assert.deepEqual([head.status, linkLines(head)], [302, []])
})

test('who says nothing of the kind of request gets the page as before: programs, scanners, and browsers on plain http', async () => {
  for (const method of ['GET', 'HEAD']) {
    const reply = await plain.call(method, `/verify-login?token=${token}`, { headers: { accept: 'text/html' } })
    assert.deepEqual([reply.status, linkLines(reply)], [200, []])
  }
})

test('a slash at the end, a repeated secret and one that is too long lead to the page, and an empty one is none', async () => {
  const browser = new CookieBrowser(secure)
  assert.equal((await browser.open(`/verify-login/?token=${token}`)).link_secret, token)
  for (const query of ['token=a&token=b', `token=${'x'.repeat(200)}`]) {
    const reply = await browser.navigate(`/verify-login?${query}`)
    assert.deepEqual([reply.headers.get('location'), linkLines(reply)], ['/verify-login', []])
  }
  assert.equal((await browser.navigate('/verify-login?token=')).status, 200)
  for (const link of ['', 'x', '0123456789abcdef', '0123456789abcdef&link=x'])
    assert.equal((await browser.open(`/verify-login?link=${link}`)).link_secret, null)
})

test('a join code waits for the sign-in of its user, for an hour, and of many links the last five are kept', async () => {
  const browser = new CookieBrowser(secure)
  const location = (await browser.navigate('/groups?code=ABCDE-FGHJK')).headers.get('location') ?? ''
  assert.equal((await browser.open(location)).link_secret, null)
  assertOk(await secure.call('POST', '/api/auth/signup', { body: { email: 'ann@x.org' } }))
  const { link_secret: secret, visit } = await browser.open(
    `/verify-signup?token=${tokenIn(secure.mails.at(-1) ?? { text: '' })}`,
  )
  assertOk(await browser.ask('GET', `/api/auth/verify-signup?token=${secret}`, { proof: visit }))
  assert.equal((await browser.open(location)).link_secret, 'ABCDE-FGHJK')
  assert.equal((await browser.open(location)).link_secret, null)

  const visitor = new CookieBrowser(secure)
  for (let at = 0; at < 8; at++) await visitor.navigate(`/groups?code=code-${at}`)
  assert.equal(visitor.cookiesFor('/groups').match(/spawner_link_/g)?.length, 5)
  assert.ok(!visitor.cookiesFor('/api/user/me').includes('spawner_link_'))
})

test('refusals of the API are documents of an origin of their own', async () => {
  for (const path of ['/api/auth/verify-login?token=x', '/api/none?code=x', '/api/auth/oidc/none/callback?code=x']) {
    const { headers } = await secure.call('GET', path, { headers: navigation })
    assert.match(headers.get('content-security-policy') ?? '', /(^|; )sandbox$/, path)
  }
})
