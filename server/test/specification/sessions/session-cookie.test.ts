import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertOk, assertRefused } from '../../support/api-calls.ts'
import { startEnginelessBerth } from '../../support/berth-without-engine.ts'
import type { Reply } from '../../support/berth.ts'
import { FakeGateway } from '../../support/gateway/fake-gateway.ts'
import { host, mailedToken, refresh, setCookie, signIn } from '../../support/session-client.ts'

/** The cookie `berth_session`: several of it in one request (cookie tossing, session fixation), and where it leads on. */
const env = { MAGIC_LINK_RATE_LIMIT: '1000', BASE_DOMAIN: 'berth.localhost' }
const berth = await startEnginelessBerth({ after }, { gateway: new FakeGateway(), env })

test('different session cookies are removed in every variant: at refresh, continue, sign-in and sign-out', async () => {
  const [one, other] = [await signIn(berth, 'pia@x.org'), await signIn(berth, 'quin@x.org')]
  const cookie = `berth_session=${other.cookie}; berth_session=${one.cookie}`
  const removed = (reply: Reply) =>
    reply.headers.getSetCookie().filter((line) => /^berth_session=;.*Max-Age=0/.test(line))
  const isRemoved = (reply: Reply) => {
    const lines = removed(reply)
    for (const at of ['/', '/api', '/api/auth'])
      for (const domain of [false, true])
        assert.ok(
          lines.some((line) => line.includes(`Path=${at};`) && line.includes('Domain=berth.localhost') === domain),
          `${at} ${domain}`,
        )
  }
  const refused = await berth.call('POST', '/api/auth/refresh', { headers: { host, cookie } })
  assertRefused(refused, 401)
  isRemoved(refused)
  isRemoved(await berth.call('GET', '/api/auth/continue?next=/', { headers: { host, cookie } }))
  const own = await refresh(berth, one.cookie, { cookie: `berth_session=junk; berth_session=${one.cookie}` })
  assertOk(own)
  isRemoved(own)
  const last = own.headers.getSetCookie().findLast((line) => line.startsWith('berth_session='))
  assert.match(last ?? '', /^berth_session=berth_\d.*; Path=\/api\/auth;/)
  const { value } = await mailedToken(berth, 'pia@x.org')
  const again = await berth.call('GET', `/api/auth/verify-login?token=${value}`, { headers: { host, cookie } })
  assertOk(again)
  isRemoved(again)
  const token = `spawner_token=${again.body.access_token}`
  const out = await berth.call('POST', '/api/auth/logout', { headers: { host, cookie: `${token}; ${cookie}` } })
  assertOk(out)
  isRemoved(out)
  assert.deepEqual(removed(await refresh(berth, other.cookie)), [], 'one cookie is no tossed one')
})

test('of the cookies of two sessions none is believed; what is not ours does not count', async () => {
  const [one, other] = [await signIn(berth, 'one@x.org'), await signIn(berth, 'other@x.org')]
  const both = `berth_session=${one.cookie}; berth_session=${other.cookie}`
  assertRefused(await berth.call('POST', '/api/auth/refresh', { headers: { host, cookie: both } }), 401)
  const junk = `berth_session=junk; berth_session=${one.cookie}`
  assertOk(await berth.call('POST', '/api/auth/refresh', { headers: { host, cookie: junk } }))
})

test('a browser is led on while its session lasts, to this host only, and to the login page after', async () => {
  const pam = await signIn(berth, 'pam@x.org')
  let { cookie } = pam
  const go = async (next: string) => {
    const reply = await berth.call('GET', `/api/auth/continue?next=${encodeURIComponent(next)}`, {
      headers: { host, cookie: `berth_session=${cookie}` },
    })
    cookie = setCookie(reply) ?? cookie
    assert.equal(reply.status, 302)
    return reply.headers.get('location')
  }
  assert.equal(await go('/pam-dev/a?b=c'), '/pam-dev/a?b=c')
  for (const next of [
    'https://evil.example/',
    '//evil.example',
    '/\\evil.example',
    '/\t/evil.example',
    '/api/auth/verify-login?token=x',
    'x',
    '',
  ])
    assert.equal(await go(next), '/', next)
  assertOk(await berth.call('POST', '/api/auth/logout', { token: pam.token }))
  assert.equal(await go('/pam-dev/'), '/login?next=%2Fpam-dev%2F&ended=sessionEnded')
  assert.equal(cookie, '', 'the browser forgets a session that is over')
  assert.equal(await go('/pam-dev/'), '/login?next=%2Fpam-dev%2F')
})

test('a browser is led on by a navigation, of a frame as well, and by no script, image or prefetch', async () => {
  const mia = await signIn(berth, 'mia@x.org')
  const ask = (headers: Record<string, string>) =>
    berth.call('GET', '/api/auth/continue?next=%2Fmia-dev%2F', {
      headers: { host, cookie: `berth_session=${mia.cookie}`, ...headers },
    })
  const navigation = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
  for (const headers of [
    { 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' },
    { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' },
    { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'script' },
    { ...navigation, 'sec-purpose': 'prefetch' },
  ]) {
    const reply = await ask(headers)
    assertRefused(reply, 403)
    assert.deepEqual(reply.headers.getSetCookie(), [], 'the session is neither renewed nor forgotten')
  }
  // The frame of an app, a program, and the `fetch` of Node.js.
  for (const headers of [navigation, { ...navigation, 'sec-fetch-dest': 'iframe' }, {}, { 'sec-fetch-mode': 'cors' }])
    assert.equal((await ask(headers)).headers.get('location'), '/mia-dev/')
})

test('a frame in which a session turns out to be over leaves its cookie, so that the tab is told why', async () => {
  const noa = await signIn(berth, 'noa@x.org')
  assertOk(await berth.call('POST', '/api/auth/logout', { token: noa.token }))
  const ask = (destination: string) => {
    const navigation = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': destination }
    const headers = { host, cookie: `berth_session=${noa.cookie}`, ...navigation }
    return berth.call('GET', '/api/auth/continue?next=%2Fnoa-dev%2F', { headers })
  }
  const framed = await ask('iframe')
  const over = '/login?next=%2Fnoa-dev%2F&ended=sessionEnded'
  assert.deepEqual([framed.headers.get('location'), framed.headers.getSetCookie()], [over, []])
  const whole = await ask('document')
  assert.deepEqual([whole.headers.get('location'), setCookie(whole)], [over, ''])
})
