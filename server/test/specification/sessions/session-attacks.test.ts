import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertOk } from '../../support/api-calls.ts'
import { startEnginelessBerth, tokenIn } from '../../support/berth-without-engine.ts'
import { movableClock } from '../../support/clock.ts'
import { CookieBrowser } from '../../support/cookie-browser.ts'
import { FakeGateway } from '../../support/gateway/fake-gateway.ts'

/** What another page, another user or another clock can do to the session of a browser. */
const hour = 3_600_000
const host = 'spawner.berth.localhost'
const clock = movableClock({ after })
const env = { MAGIC_LINK_RATE_LIMIT: '1000', MAILBOX_RATE_LIMIT: '1000', BASE_DOMAIN: 'berth.localhost' }
const berth = await startEnginelessBerth({ after }, { gateway: new FakeGateway(), env })

/** Signs in as a person does: asks on the login page, opens the link of the mail. */
async function signIn(browser: CookieBrowser, email: string): Promise<void> {
  const { visit } = await browser.open('/login')
  assertOk(await browser.ask('POST', '/api/auth/link', { proof: visit, body: { email } }))
  const mail = berth.mails.findLast(({ to }) => to === email)
  assert.ok(mail)
  const purpose = mail.text.includes('verify-signup') ? 'signup' : 'login'
  const { visit: proof } = await browser.open(`/verify-${purpose}?token=${tokenIn(mail)}`)
  assertOk(await browser.ask('GET', `/api/auth/verify-${purpose}?token=${tokenIn(mail)}`, { proof }))
}

async function signedIn(email: string): Promise<CookieBrowser> {
  const browser = new CookieBrowser(berth, host)
  await signIn(browser, email)
  return browser
}

const emailOf = async (browser: CookieBrowser): Promise<string | undefined> =>
  (await browser.ask('GET', '/api/user/me')).body.user?.email

test('session fixation: cookies that were planted before a sign-in are replaced by it, and give no access to it', async () => {
  const eve = await signedIn('eve@x.org')
  const planted = { berth_session: eve.valueOf('berth_session'), spawner_token: eve.valueOf('spawner_token') }
  const victim = new CookieBrowser(berth, host)
  victim.take(`berth_session=${planted.berth_session}; Path=/api/auth`)
  victim.take(`spawner_token=${planted.spawner_token}; Path=/; Domain=berth.localhost`)
  await signIn(victim, 'ann@x.org')
  assert.equal(await emailOf(victim), 'ann@x.org')
  const sidOf = (cookie = '') => cookie.split('.').slice(2).join('.')
  assert.notEqual(sidOf(victim.valueOf('berth_session')), sidOf(planted.berth_session))
  const { csrf } = await victim.open('/')
  const renewed = await victim.ask('POST', '/api/auth/refresh', { proof: csrf })
  assert.equal(renewed.body.user?.email, 'ann@x.org', renewed.text)
  assert.equal(await emailOf(eve), 'eve@x.org')
})

test('cookie tossing: with a session of another user beside the own one the browser becomes neither of them', async () => {
  const [eve, victim] = [await signedIn('eve@x.org'), await signedIn('ben@x.org')]
  const { csrf } = await victim.open('/')
  // As a page of a container on the same host can: a longer path is sent first, a shorter one last.
  for (const path of ['/api/auth/refresh', '/api', '/'])
    victim.take(`berth_session=${eve.valueOf('berth_session')}; Path=${path}`)
  const reply = await victim.ask('POST', '/api/auth/refresh', { proof: csrf })
  assert.equal(reply.status, 401, reply.text)
  assert.equal(await emailOf(victim), 'ben@x.org')
  clock.pass(2 * hour)
  const { headers } = await victim.navigate('/api/auth/continue?next=%2Fsessions')
  assert.match(headers.get('location') ?? '', /^\/login\?/)
})

test('CSRF: a page of a container or of another site renews, ends and makes nothing by the cookies of a browser', async () => {
  const browser = await signedIn('cat@x.org')
  const token = { name: 'x', scopes: ['containers:read'], expires_in: 60 }
  const { csrf } = await browser.open('/')
  const { sessions } = (await browser.ask('GET', '/api/user/sessions', { proof: csrf })).body
  for (const [method, path, body] of [
    ['POST', '/api/auth/refresh', undefined],
    ['POST', '/api/auth/logout', undefined],
    ['POST', '/api/user/tokens', token],
    ['DELETE', '/api/user/tokens/1', undefined],
    ['DELETE', `/api/user/sessions/${sessions[0].id}`, undefined],
  ] as const) {
    assert.equal((await browser.ask(method, path, { body })).status, 403, path)
    const cookie = browser.cookiesFor(path)
    for (const site of ['cross-site', 'same-site', 'none']) {
      const headers = { host, cookie, 'sec-fetch-site': site, origin: 'https://evil.example' }
      const reply = await berth.call(method, path, { headers, ...(body ? { body } : {}) })
      assert.equal(reply.status, 403, `${path} ${site}: ${reply.text}`)
    }
  }
  assert.equal(await emailOf(browser), 'cat@x.org')
  assertOk(await browser.ask('POST', '/api/user/tokens', { proof: csrf, body: token }))
})

test('an API token is taken in the header alone: not as cookie, not in the address, not by other schemes', async () => {
  const browser = await signedIn('dan@x.org')
  const { csrf } = await browser.open('/')
  const body = { name: 'x', scopes: ['containers:read'], expires_in: 600 }
  const token: string = (await browser.ask('POST', '/api/user/tokens', { proof: csrf, body })).body.token
  assertOk(await berth.call('GET', '/api/user/me', { token }))
  const basic = Buffer.from(`dan:${token}`).toString('base64')
  for (const headers of [
    { cookie: `spawner_token=${token}` },
    { cookie: `berth_session=${token}` },
    { authorization: `Basic ${basic}` },
    { authorization: `Token ${token}` },
    { authorization: token },
    { 'x-api-key': token },
  ])
    assert.equal((await berth.call('GET', '/api/user/me', { headers: { host, ...headers } })).status, 401)
  assert.equal((await berth.call('GET', `/api/user/me?access_token=${token}`)).status, 401)
  assert.doesNotMatch(berth.logs.join(''), new RegExp(token))
})

test('open redirect: next of a continued session leads to this host alone, in whatever spelling', async () => {
  const browser = await signedIn('fay@x.org')
  const hostile = [
    '//evil.example',
    '///evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/\t/evil.example',
    '/\n/evil.example',
    '\t//evil.example',
    ' //evil.example',
    'https://evil.example',
    'https:evil.example',
    'HTTPS:\\\\evil.example',
    'javascript:alert(1)',
    'data:text/html,x',
    '/./\\evil.example',
    '/x/..//evil.example',
    '/x/../\\evil.example',
    '/%2e%2e//evil.example',
    '@evil.example',
    '.evil.example',
    '/api/auth/logout',
    '/%61pi/auth/logout',
    '//api/auth/logout',
    '/x/../api/auth/verify-login?token=x',
    '/\u0000/evil.example',
    '/\u2028/evil.example',
    '/x\r\nset-cookie: a=b',
  ]
  for (const next of hostile)
    for (const sent of [encodeURIComponent(next), encodeURIComponent(encodeURIComponent(next))]) {
      const { status, headers } = await browser.navigate(`/api/auth/continue?next=${sent}`)
      const location = headers.get('location') ?? ''
      assert.equal(status, 302, next)
      const url = new URL(location, `http://${host}/api/auth/continue`)
      assert.equal(url.host, host, `${next} leads to ${location}`)
      assert.doesNotMatch(url.pathname, /^\/+api\//, `${next} leads to ${location}`)
      assert.equal(headers.get('set-cookie')?.includes('a=b') ?? false, false)
    }
  // It was 400 with JSON, which a browser shows in the place of a page.
  const twice = await browser.navigate('/api/auth/continue?next=%2Fsessions&next=%2F%2Fevil.example')
  assert.deepEqual([twice.status, twice.headers.get('location')], [302, '/'])
})

// Such a path was 500: a header has no letters of other scripts.
test('a session is continued to a path with letters of any script', async () => {
  const browser = await signedIn('ida@x.org')
  for (const next of ['/ida-dev/übung', '/ida-dev/задача 1?x=ы', '/ida-dev/課題', '/ida-dev/\ud800']) {
    const { status, headers } = await browser.navigate(
      `/api/auth/continue?next=${encodeURIComponent(next.toWellFormed())}`,
    )
    assert.equal(status, 302, next)
    const { pathname, search } = new URL(next.toWellFormed(), `http://${host}`)
    assert.equal(headers.get('location'), pathname + search)
  }
})

test('a browser whose clock is wrong keeps its cookies: they say how long they last, not until when', async () => {
  const { visit } = await new CookieBrowser(berth, host).open('/login')
  assert.ok(visit)
  assertOk(await berth.call('POST', '/api/auth/link', { body: { email: 'gil@x.org' } }))
  const mail = berth.mails.findLast(({ to }) => to === 'gil@x.org')
  const path = `/api/auth/verify-signup?token=${tokenIn(mail ?? assert.fail('no mail'))}`
  const lines = (await berth.call('GET', path, { headers: { host } })).headers.getSetCookie()
  assert.ok(lines.some((line) => line.startsWith('berth_session=')))
  for (const line of lines) {
    assert.doesNotMatch(line, /expires=/i)
    assert.match(line, /; Max-Age=\d+/)
  }
})

test('a laptop that slept for a night goes on with the page it had: the first click is answered, without a sign-in', async () => {
  const browser = await signedIn('hal@x.org')
  const { csrf } = await browser.open('/')
  const mails = berth.mails.length
  clock.pass(9 * hour)
  // What the page does: a request is refused, the session is renewed by the proof that the page has, the request is sent again.
  assert.equal((await browser.ask('GET', '/api/user/me')).status, 401)
  assertOk(await browser.ask('POST', '/api/auth/refresh', { proof: csrf }))
  assert.equal(await emailOf(browser), 'hal@x.org')
  const body = { name: 'x', scopes: ['containers:read'], expires_in: 60 }
  assertOk(await browser.ask('POST', '/api/user/tokens', { proof: csrf, body }))
  clock.pass(9 * hour)
  const { headers } = await browser.navigate('/api/auth/continue?next=%2Fhal-dev%2Fnotes')
  assert.equal(headers.get('location'), '/hal-dev/notes')
  assert.equal(await emailOf(browser), 'hal@x.org')
  assert.equal(berth.mails.length, mails)
})
