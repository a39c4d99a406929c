import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { loadSigningKeys } from '#/accounts/sessions/signing-keys.ts'
import { assertOk, assertRefused } from '../../support/api-calls.ts'
import { startEnginelessBerth } from '../../support/berth-without-engine.ts'
import { movableClock } from '../../support/clock.ts'
import { CookieBrowser } from '../../support/cookie-browser.ts'
import { FakeGateway } from '../../support/gateway/fake-gateway.ts'
import { host, mailedToken, refresh as refreshAt, setCookie, signIn as signInAt } from '../../support/session-client.ts'

/** Sessions with the settings as they are by default: tokens of an hour, two weeks without a request, 90 days in all. */
const [hour, day] = [3_600_000, 86_400_000]
const clock = movableClock({ after })
const env = { MAGIC_LINK_RATE_LIMIT: '1000', BASE_DOMAIN: 'berth.localhost' }
const dataDir = await mkdtemp(path.join(tmpdir(), 'berth-renewal-'))
const berth = await startEnginelessBerth({ after }, { gateway: new FakeGateway(), env, dataDir })
after(() => rm(dataDir, { recursive: true, force: true }))
const signIn = (email: string) => signInAt(berth, email)
const refresh = (cookie: string, headers?: Record<string, string>) => refreshAt(berth, cookie, headers)
const me = (token: string) => berth.call('GET', '/api/user/me', { token })
const byCookie = (token: string) =>
  berth.call('GET', '/api/user/me', { headers: { host, cookie: `spawner_token=${token}` } })
const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
/** @returns the new cookie */
async function refreshed(cookie: string): Promise<string> {
  const reply = await refresh(cookie)
  assertOk(reply)
  return setCookie(reply) ?? ''
}

test('a sign-in sets the session cookie for the endpoints of sign-in alone, and the store has only its hash', async () => {
  const { value } = await mailedToken(berth, 'ada@x.org')
  const reply = await berth.call('GET', `/api/auth/verify-signup?token=${value}`, { headers: { host } })
  const line = reply.headers.getSetCookie().find((each) => each.startsWith('berth_session=')) ?? ''
  assert.match(line, /^berth_session=[\w.-]+; Path=\/api\/auth; Max-Age=7776000; HttpOnly; SameSite=Lax$/)
  const rows = await berth.database.db.selectFrom('sessions').selectAll().execute()
  assert.ok(!JSON.stringify(rows).includes(setCookie(reply) ?? ''))
})

test('a refresh answers with a new token of the same session, and the next cookie', async () => {
  const ann = await signIn('ann@x.org')
  clock.pass(2 * hour)
  assertRefused(await me(ann.token), 401)
  const reply = await refresh(ann.cookie)
  assertOk(reply)
  assert.deepEqual([reply.body.token_type, reply.body.expires_in, reply.body.user.email], ['Bearer', 3600, 'ann@x.org'])
  assertOk(await me(reply.body.access_token))
  const [before, now] = [claimsOf(ann.token), claimsOf(reply.body.access_token)]
  assert.equal(now.sid, before.sid)
  assert.notEqual(now.jti, before.jti)
  assert.notEqual(setCookie(reply), ann.cookie)
  assert.equal(setCookie(reply, 'spawner_token'), reply.body.access_token)
})

test('a cookie that was replaced is answered with the same successor until that is seen, and for ten seconds after', async () => {
  const bob = await signIn('bob@x.org')
  const second = await refreshed(bob.cookie)
  clock.pass(3 * hour)
  assert.equal(await refreshed(bob.cookie), second)
  const third = await refreshed(second)
  clock.pass(9_000)
  assert.equal(await refreshed(bob.cookie), second)
  assert.equal(await refreshed(second), third)
  clock.pass(2_000)
  const late = await refresh(bob.cookie)
  assertRefused(late, 401)
  assert.equal(late.headers.get('berth-refusal'), 'sessionReplayed')
  const after = await refresh(third)
  assertRefused(after, 401)
  assert.equal(after.headers.get('berth-refusal'), 'sessionReplayed')
})

test('an older cookie ends the session at once, with every token of it', async () => {
  const cid = await signIn('cid@x.org')
  const reply = await refresh(await refreshed(await refreshed(cid.cookie)))
  assertOk(reply)
  assertRefused(await refresh(cid.cookie), 401)
  assertRefused(await me(reply.body.access_token), 401)
  assertRefused(await refresh(setCookie(reply) ?? ''), 401)
})

test('twenty requests with one cookie at once get one successor, and no user is signed out', async () => {
  const dot = await signIn('dot@x.org')
  const replies = await Promise.all(Array.from({ length: 20 }, () => refresh(dot.cookie)))
  const next = new Set(replies.map((reply) => setCookie(reply)))
  assert.equal(next.size, 1)
  for (const reply of replies) assertOk(await me(reply.body.access_token))
  await refreshed([...next][0] ?? '')
})

test('a cookie that is not ours ends nothing', async () => {
  const eve = await signIn('eve@x.org')
  const [generation = '', , ...sid] = eve.cookie.split('.')
  for (const value of ['', 'x', `${generation}.${'A'.repeat(43)}.${sid.join('.')}`, eve.cookie.replace(/\d+/, '9')])
    assertRefused(await refresh(value), 401)
  await refreshed(eve.cookie)
})

test('a request by cookie in the second half of the life of its token gets a new one; by header never', async () => {
  const fay = await signIn('fay@x.org')
  assert.equal(setCookie(await byCookie(fay.token), 'spawner_token'), undefined)
  clock.pass(hour / 2 + 1_000)
  assert.deepEqual((await me(fay.token)).headers.getSetCookie(), [])
  const [one, other] = await Promise.all([byCookie(fay.token), byCookie(fay.token)])
  const token = setCookie(one, 'spawner_token') ?? ''
  assert.equal(setCookie(other, 'spawner_token'), token, 'both get the same')
  assert.equal(claimsOf(token).sid, claimsOf(fay.token).sid)
  assert.equal(setCookie(one), undefined, 'the session cookie stays')
  assertOk(await me(fay.token))
  clock.pass(hour / 2 + 1_000)
  assertRefused(await me(fay.token), 401)
  assertOk(await me(token))
})

test('a session ends 14 days after its last request, and 90 days after it began', async () => {
  const gus = await signIn('gus@x.org')
  clock.pass(13 * day)
  let cookie = await refreshed(gus.cookie)
  for (let days = 26; days < 90; days += 13) {
    clock.pass(13 * day)
    cookie = await refreshed(cookie)
  }
  clock.pass(12 * day)
  const over = await refresh(cookie)
  assertRefused(over, 401)
  assert.equal(over.headers.get('berth-refusal'), 'sessionExpired')
  const hal = await signIn('hal@x.org')
  clock.pass(14 * day + 1_000)
  assertRefused(await refresh(hal.cookie), 401)
})

test('a request by token counts as use, also when it renews nothing', async () => {
  const ida = await signIn('ida@x.org')
  clock.pass(hour / 3)
  assertOk(await me(ida.token))
  clock.pass(14 * day - hour / 4)
  await refreshed(ida.cookie)
})

test('signing out ends the session, revokes its token, and expires both cookies', async () => {
  const jan = await signIn('jan@x.org')
  const second = await refresh(jan.cookie)
  const headers = { host, cookie: `spawner_token=${jan.token}; berth_session=${setCookie(second)}` }
  const reply = await berth.call('POST', '/api/auth/logout', { headers })
  assertOk(reply)
  const expired = reply.headers.getSetCookie().filter((line) => /Max-Age=0;/.test(line))
  assert.deepEqual(expired.map((line) => line.split('=')[0]).toSorted(), ['berth_session', 'spawner_token'])
  for (const token of [jan.token, second.body.access_token]) assertRefused(await me(token), 401)
  const over = await refresh(setCookie(second) ?? '')
  assertRefused(over, 401)
  assert.equal(over.headers.get('berth-refusal'), 'sessionEnded')
})

test('a block ends renewal and session, while the token goes on to answer; after an unblock the session stays over', async () => {
  const kim = await signIn('kim@x.org')
  clock.pass(hour / 2 + 1_000)
  const acting = await signIn('ada@x.org')
  assertOk(await berth.call('POST', `/api/admin/users/${kim.id}/block`, { token: acting.token }))
  const reply = await byCookie(kim.token)
  assertOk(reply)
  assert.deepEqual(reply.headers.getSetCookie(), [])
  const over = await refresh(kim.cookie)
  assertRefused(over, 401)
  assert.equal(over.headers.get('berth-refusal'), 'sessionBlocked')
  assertOk(await berth.call('POST', `/api/admin/users/${kim.id}/unblock`, { token: acting.token }))
  assertRefused(await refresh(kim.cookie), 401)
})

/** The token of a renewal is remembered for others who ask at the same time, and was given again after the block. */
test('a session that was renewed a moment before a block is not renewed again', async () => {
  const renewed = async (email: string) => {
    const person = await signIn(email)
    clock.pass(hour / 2 + 1_000)
    assert.ok(setCookie(await byCookie(person.token), 'spawner_token'))
    return person
  }
  const kit = await renewed('kit@x.org')
  const acting = await signIn('ada@x.org')
  assertOk(await berth.call('POST', `/api/admin/users/${kit.id}/block`, { token: acting.token }))
  const blocked = await byCookie(kit.token)
  assertOk(blocked)
  assert.deepEqual(blocked.headers.getSetCookie(), [])
  assertOk(await berth.call('POST', `/api/admin/users/${kit.id}/unblock`, { token: acting.token }))
  const unblocked = await byCookie(kit.token)
  assertOk(unblocked)
  assert.deepEqual(unblocked.headers.getSetCookie(), [], 'after the unblock the session stays over')
})

test('a deleted account has no session', async () => {
  const lea = await signIn('lea@x.org')
  const { token } = await signIn('ada@x.org')
  assertOk(await berth.call('DELETE', `/api/admin/users/${lea.id}`, { token }))
  assertRefused(await refresh(lea.cookie), 401)
})

test('a refresh from another site, or from a page of a container, is refused', async () => {
  const max = await signIn('max@x.org')
  const page = { 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }
  for (const site of ['cross-site', 'same-site', 'same-origin'])
    assertRefused(await refresh(max.cookie, { ...page, 'sec-fetch-site': site }), 403)
  assertRefused(await refresh(max.cookie, { origin: 'https://evil.example' }), 403)
  await refreshed(max.cookie)
})

test('a page that was open while its token expired renews with the proof that it was given', async () => {
  const browser = new CookieBrowser(berth, host)
  const ned = await signIn('ned@x.org')
  browser.take(`spawner_token=${ned.token}; Path=/; Domain=berth.localhost`)
  browser.take(`berth_session=${ned.cookie}; Path=/api/auth`)
  const { csrf } = await browser.open('/')
  clock.pass(9 * hour)
  assertRefused(await browser.ask('POST', '/api/auth/refresh', {}), 403)
  assertOk(await browser.ask('POST', '/api/auth/refresh', { proof: csrf }))
  assertOk(await browser.ask('GET', '/api/user/sessions', { proof: csrf }))
})

test('a restart and a rotation of the signing key make no difference', async () => {
  const first = await mkdtemp(path.join(tmpdir(), 'berth-restart-'))
  const start = () => startEnginelessBerth({ after }, { gateway: new FakeGateway(), env, dataDir: first })
  const before = await start()
  const quy = await signInAt(before, 'quy@x.org')
  await before.close()
  const nothing = async () => undefined
  const keys = await loadSigningKeys(first)
  await keys.rotate(new Date(Date.now() + hour), { onPlanned: nothing, onAccepted: nothing })
  const later = await start()
  after(() => rm(first, { recursive: true, force: true }))
  clock.pass(5 * hour)
  const headers = { host, cookie: `berth_session=${quy.cookie}` }
  const reply = await later.call('POST', '/api/auth/refresh', { headers })
  assertOk(reply)
  assertOk(await later.call('GET', '/api/user/me', { token: reply.body.access_token }))
})

test('with SESSION_IDLE=0 a session ends with its token: no cookie, no renewal', async () => {
  const short = await startEnginelessBerth(
    { after },
    { gateway: new FakeGateway(), env: { ...env, SESSION_IDLE: '0' } },
  )
  const ron = await signInAt(short, 'ron@x.org')
  assert.equal(ron.cookie, '')
  clock.pass(hour - 5_000)
  const headers = { host, cookie: `spawner_token=${ron.token}` }
  const reply = await short.call('GET', '/api/user/sessions', { headers })
  assertOk(reply)
  assert.deepEqual(reply.headers.getSetCookie(), [])
  assert.equal(Date.parse(reply.body.sessions[0].expires_at), claimsOf(ron.token).exp * 1_000)
})

test('a session that ends after seconds without a request asks the gateway to report uses more often', async (t) => {
  const intervalWith = async (more: Record<string, string>) => {
    const gateway = new FakeGateway()
    await startEnginelessBerth(t, { gateway, env: { ...env, ...more } })
    return gateway.settings?.sessionUseInterval
  }
  assert.equal(await intervalWith({ SESSION_IDLE: '8' }), 400)
  assert.equal(await intervalWith({}), undefined)
})
