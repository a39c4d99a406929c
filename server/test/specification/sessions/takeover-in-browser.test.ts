import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { upstreamCookies } from '@berth/gateway/proxy/cookies.ts'
import { assertOk, assertRefused } from '../../support/api-calls.ts'
import type { Reply } from '../../support/berth.ts'
import { withTime } from '../../support/clock.ts'
import { CookieBrowser } from '../../support/cookie-browser.ts'
import { startEnginelessBerth, tokenIn, type EnginelessBerth } from '../../support/berth-without-engine.ts'

/** An administrator becomes a user in their browser, and themselves again; whatever pages of that user's may do meanwhile. */
const env = {
  BASE_DOMAIN: 'berth.example',
  MAGIC_LINK_RATE_LIMIT: '1000',
  ADMIN_EMAILS: 'other@x.org',
  JWT_ACCESS_TOKEN_EXPIRES: '7200',
}

async function linkFor(berth: EnginelessBerth, purpose: 'signup' | 'login', email: string): Promise<string> {
  assertOk(await berth.call('POST', `/api/auth/${purpose}`, { body: { email } }))
  const mail = berth.mails.findLast(({ to }) => to === email)
  assert.ok(mail)
  return tokenIn(mail)
}
async function signUp(berth: EnginelessBerth, email: string): Promise<{ id: number; token: string }> {
  const reply = await berth.call('GET', `/api/auth/verify-signup?token=${await linkFor(berth, 'signup', email)}`)
  assertOk(reply)
  return { id: reply.body.user.id, token: reply.body.access_token }
}
/** The administrator's browser, signed in by a link, and the proof of its page. */
async function signedIn(berth: EnginelessBerth, email = 'boss@x.org') {
  const browser = new CookieBrowser(berth)
  const { visit } = await browser.open('/verify-login')
  const link = await linkFor(berth, 'login', email)
  assertOk(await browser.ask('GET', `/api/auth/verify-login?token=${link}`, { proof: visit }))
  const { csrf } = await browser.open('/')
  assert.ok(csrf)
  return { browser, proof: csrf, token: browser.valueOf('spawner_token') ?? '' }
}
const body = { reason: 'Ann asked for help', in_browser: true }
/** The same, acting for this user. */
async function takenOver(berth: EnginelessBerth, id: number) {
  const own = await signedIn(berth)
  const reply = await own.browser.ask('POST', `/api/admin/users/${id}/takeover`, { proof: own.proof, body })
  assertOk(reply)
  const boot = await own.browser.open('/')
  return { browser: own.browser, own: own.token, taken: String(reply.body.access_token), proof: boot.csrf, boot, reply }
}
const end = (browser: CookieBrowser, proof: string | null) => browser.ask('POST', '/api/auth/end-takeover', { proof })
const statusOf = async (berth: EnginelessBerth, token: string) =>
  (await berth.call('GET', '/api/user/me', { token })).status
const whoIs = async (browser: CookieBrowser): Promise<string | undefined> =>
  (await browser.ask('GET', '/api/user/me')).body.user?.email

interface World {
  readonly berth: EnginelessBerth
  /** Of the cookie that leads back. */
  readonly name: string
  readonly boss: Awaited<ReturnType<typeof signUp>>
  readonly ann: Awaited<ReturnType<typeof signUp>>
  readonly eve: Awaited<ReturnType<typeof signUp>>
  readonly other: Awaited<ReturnType<typeof signUp>>
  /** As a page of a container sets it, or a person with the browser's profile. */
  toss(browser: CookieBrowser, value: string, path?: string): void
}
async function startWorld(scheme: 'http' | 'https'): Promise<World> {
  const berth = await startEnginelessBerth({ after }, { env: { ...env, PREFERRED_URL_SCHEME: scheme } })
  const name = { http: 'spawner_return', https: '__Http-spawner_return' }[scheme]
  return {
    berth,
    name,
    boss: await signUp(berth, 'boss@x.org'),
    ann: await signUp(berth, 'ann@x.org'),
    eve: await signUp(berth, 'eve@x.org'),
    other: await signUp(berth, 'other@x.org'),
    toss: (browser, value, path = '/api/auth') => browser.take(`${name}=${value}; Path=${path}`),
  }
}
const worlds = { http: await startWorld('http'), https: await startWorld('https') }

for (const scheme of ['http', 'https'] as const) {
  const { berth, name, boss, ann, eve, other, toss } = worlds[scheme]

  test(`${scheme}: an administrator is the user in their browser, and themselves again when it ends`, async () => {
    const { browser, own, taken, boot, proof } = await takenOver(berth, ann.id)
    assert.equal(await whoIs(browser), 'ann@x.org')
    assert.deepEqual([boot.signed_in, boot.is_admin, boot.acting?.by], [true, false, 'boss@x.org'])
    const left = Date.parse(boot.acting?.until ?? '') - Date.now()
    assert.ok(left > 800_000 && left <= 900_000, String(left))
    assertOk(await end(browser, proof))
    assert.equal(browser.valueOf('spawner_token'), own)
    assert.equal(browser.valueOf(name), undefined)
    const after = await browser.open('/')
    assert.deepEqual([after.signed_in, after.is_admin, after.acting], [true, true, null])
    assert.equal(await whoIs(browser), 'boss@x.org')
    assert.deepEqual([await statusOf(berth, taken), await statusOf(berth, own)], [401, 200])
  })

  test(`${scheme}: the own token is kept where no container, nor any script, can get at it`, async () => {
    const { browser, own, reply } = await takenOver(berth, ann.id)
    const [line = '', ...more] = reply.headers.getSetCookie().filter((each) => each.startsWith(name))
    assert.equal(more.length, 0)
    const [pair, ...attributes] = line.split('; ')
    assert.equal(pair, `${name}=${own}`)
    assert.ok(Number(/Max-Age=(\d+)/.exec(line)?.[1]) <= 7_200)
    const wanted = ['HttpOnly', 'Path=/api/auth', 'SameSite=Strict', ...(scheme === 'https' ? ['Secure'] : [])]
    assert.deepEqual(attributes.filter((each) => !each.startsWith('Max-Age')).sort(), wanted)
    for (const path of ['/', '/ann-dev/', '/api/user/me', '/api/authority'])
      assert.ok(!browser.cookiesFor(path).includes(own), path)
    assert.equal(upstreamCookies(`a=1; ${name}=${own}; spawner_token=${own}`, 'scoped'), 'a=1; spawner_token=scoped')
  })

  test(`${scheme}: whatever token is put in the way back, only the administrator who acts comes back`, async () => {
    const operated = (await berth.call('POST', `/api/admin/users/${other.id}/takeover`, { token: boss.token, body }))
      .body
    for (const value of [eve.token, other.token, operated.access_token, 'x', '']) {
      const { browser, own, proof } = await takenOver(berth, eve.id)
      browser.take(`${name}=${own}; Path=/api/auth; Max-Age=0`)
      browser.take('berth_session=; Path=/api/auth; Max-Age=0')
      toss(browser, value)
      assertOk(await end(browser, proof))
      assert.equal(browser.valueOf('spawner_token'), undefined, value)
      assert.equal(browser.valueOf(name), undefined)
      assert.equal((await browser.open('/')).signed_in, false)
    }
  })

  test(`${scheme}: what is tossed in beside the own token is neither believed nor left`, async () => {
    const { browser, own, proof } = await takenOver(berth, eve.id)
    toss(browser, eve.token, '/api/auth/end-takeover')
    toss(browser, other.token, '/')
    assertOk(await end(browser, proof))
    assert.equal(browser.valueOf('spawner_token'), own)
    assert.equal(browser.valueOf(name), undefined)
  })
}

const { berth, name, ann, eve } = worlds.https
/** The id under which Ann sees the takeover that is under way. */
async function takeoverOfAnn(): Promise<number> {
  const { sessions } = (await berth.call('GET', '/api/user/sessions', { token: ann.token })).body
  const isMeant = (each: Reply['body']) => each.taken_over_by !== null && each.ended_at === null
  return sessions.find(isMeant).id
}

test('no cookie is set for who sent a header, nor for a request that no page of ours made', async () => {
  const path = `/api/admin/users/${ann.id}/takeover`
  const { browser, token } = await signedIn(berth)
  const cookie = browser.cookiesFor('/')
  for (const sent of [{ token }, { headers: { cookie } }, { headers: { cookie, 'x-csrf-token': 'x' } }]) {
    const reply = await berth.call('POST', path, { ...sent, body })
    assertOk(reply)
    assert.deepEqual(reply.headers.getSetCookie(), [])
  }
  assertRefused(await browser.ask('POST', path, { body }), 403)
  assert.equal(browser.valueOf('spawner_token'), token)
})

test("a page of the user's cannot end it, nor begin one, with the cookies it makes the browser send", async () => {
  const { browser, taken } = await takenOver(berth, eve.id)
  for (const proof of [null, 'guess', (await signedIn(berth)).proof]) assertRefused(await end(browser, proof), 403)
  assertRefused(await browser.ask('POST', `/api/admin/users/${ann.id}/takeover`, { body }), 403)
  assert.equal(browser.valueOf('spawner_token'), taken)
  assert.equal(await whoIs(browser), 'eve@x.org')
})

test('an own token that was revoked meanwhile does not come back', async () => {
  const { browser, own, proof } = await takenOver(berth, ann.id)
  assertOk(await berth.call('POST', '/api/auth/logout', { token: own }))
  assertOk(await end(browser, proof))
  assert.equal((await browser.open('/')).signed_in, false)
})

test('signing out while acting ends both sessions, and leaves nothing in the browser', async () => {
  const { browser, own, taken, proof } = await takenOver(berth, ann.id)
  assertOk(await browser.ask('POST', '/api/auth/logout', { proof }))
  assert.deepEqual([await statusOf(berth, own), await statusOf(berth, taken)], [401, 401])
  assert.deepEqual([browser.valueOf('spawner_token'), browser.valueOf(name)], [undefined, undefined])
})

test('a sign-in during a takeover ends it and leaves no way back, and only one of our pages can do it', async () => {
  const { browser, own, taken } = await takenOver(berth, ann.id)
  const signIn = async (proof: string | null) => {
    const link = await linkFor(berth, 'login', 'other@x.org')
    assertOk(await browser.ask('GET', `/api/auth/verify-login?token=${link}`, { proof }))
  }
  await signIn(null)
  assert.deepEqual([browser.valueOf('spawner_token'), browser.valueOf(name)], [taken, own])
  await signIn((await browser.open('/verify-login')).visit)
  assert.equal(await whoIs(browser), 'other@x.org')
  assert.equal(browser.valueOf(name), undefined)
  assert.equal((await browser.open('/')).acting, null)
  assert.deepEqual([await statusOf(berth, taken), await statusOf(berth, own)], [401, 200])
})

test('signing out from a page whose takeover its owner has ended signs the administrator out, too', async () => {
  const { browser, own, proof } = await takenOver(berth, ann.id)
  assertOk(await berth.call('DELETE', `/api/user/sessions/${await takeoverOfAnn()}`, { token: ann.token }))
  assertRefused(await browser.ask('POST', '/api/auth/logout', { proof: 'guess' }), 403)
  assertOk(await browser.ask('POST', '/api/auth/logout', { proof }))
  assert.equal(await statusOf(berth, own), 401)
  assert.deepEqual([browser.valueOf('spawner_token'), browser.valueOf(name)], [undefined, undefined])
  assert.equal((await browser.open('/login')).acting, null)
})

test('when its owner ended it, the next page says so, signs no user in, and leads back', async () => {
  const { browser, own, taken } = await takenOver(berth, ann.id)
  assertOk(await berth.call('DELETE', `/api/user/sessions/${await takeoverOfAnn()}`, { token: ann.token }))
  const { signed_in, acting, csrf, is_admin } = await browser.open('/')
  assert.deepEqual([signed_in, is_admin, acting?.by], [false, false, 'boss@x.org'])
  assert.ok(Date.parse(acting?.until ?? '') <= Date.now())
  assertRefused(await browser.ask('GET', '/api/user/me'), 401)
  assertRefused(await browser.ask('POST', '/api/container/launch/dev', { proof: csrf }), 401)
  assertOk(await end(browser, csrf))
  assert.equal(browser.valueOf('spawner_token'), own)
  assert.equal(await statusOf(berth, taken), 401)
})

test('an own session has no takeover to end; by a header it ends, and cookies stay', async () => {
  const own = await signedIn(berth)
  assertRefused(await end(own.browser, own.proof), 409)
  const ends = async () =>
    (await berth.call('GET', '/api/admin/audit?action=user.end-takeover', { token: own.token })).body.entries
  const before = (await ends()).length
  const begun = await berth.call('POST', `/api/admin/users/${ann.id}/takeover`, { token: own.token, body })
  const taken: string = begun.body.access_token
  const reply = await berth.call('POST', '/api/auth/end-takeover', { token: taken })
  assertOk(reply)
  assert.deepEqual(reply.headers.getSetCookie(), [])
  assertRefused(await berth.call('POST', '/api/auth/end-takeover', { token: taken }), 401)
  assert.equal(await statusOf(berth, taken), 401)
  assertRefused(await berth.call('POST', '/api/auth/end-takeover', { token: own.token }), 409)
  // The end was in no export of the audit log.
  const [last, ...earlier] = await ends()
  assert.equal(earlier.length, before)
  assert.deepEqual([last.actor.email, last.target], ['boss@x.org', `user:${ann.id}`])
})

// The last one: when the time is as it was, tokens of before count no more.
test('when its time is over, the next page says so, signs no user in, and leads back', async () => {
  await withTime(async (pass) => {
    const { browser, own } = await takenOver(berth, ann.id)
    pass(901_000)
    const { signed_in, acting, csrf } = await browser.open('/')
    assert.deepEqual([signed_in, acting?.by], [false, 'boss@x.org'])
    assertRefused(await end(browser, null), 403)
    assertOk(await end(browser, csrf))
    assert.equal(browser.valueOf('spawner_token'), own)
    assert.equal((await browser.open('/')).is_admin, true)
  })
})

// The browser dropped the takeover's cookie with the administrator's first token: the next page renewed their session, and what
// was meant to happen as Ann happened as the administrator. A machine that was busy for ten seconds showed it.
test('however long ago its time was over, the browser becomes the administrator’s again only when a person ends it', async () => {
  const { berth, ann } = await startWorld('http')
  await withTime(async (pass) => {
    const { browser } = await takenOver(berth, ann.id)
    pass(7_300_000)
    const renewal = await browser.navigate('/api/auth/continue?next=%2F')
    assert.equal(renewal.headers.get('location'), '/login?ended=takeoverNotRenewed')
    const { signed_in, acting, csrf } = await browser.open('/')
    assert.deepEqual([signed_in, acting?.by], [false, 'boss@x.org'])
    assertOk(await end(browser, csrf))
    assert.equal(await whoIs(browser), 'boss@x.org')
  })
})

// A request that was sent before was answered with a new token of the administrator, whose browser was no longer Ann's then.
test('a request from before a takeover does not sign the browser in as the administrator again', async () => {
  const { berth, ann } = await startWorld('http')
  await withTime(async (pass) => {
    const { browser, proof } = await signedIn(berth)
    pass(3_700_000)
    const token = browser.valueOf('spawner_token') ?? ''
    const headers = { host: 'spawner.berth.example', cookie: `spawner_token=${token}` }
    const early = await berth.call('GET', '/api/user/me', { headers })
    assert.match(early.headers.getSetCookie().join(), /spawner_token=/, 'it is due')
    assertOk(await browser.ask('POST', `/api/admin/users/${ann.id}/takeover`, { proof, body }))
    assert.equal(await whoIs(browser), 'ann@x.org')
    const late = await berth.call('GET', '/api/user/me', { headers })
    assert.equal(late.body.user.email, 'boss@x.org')
    assert.doesNotMatch(late.headers.getSetCookie().join(), /spawner_token=/)
  })
})
