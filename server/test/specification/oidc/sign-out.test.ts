import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { exportJWK, generateKeyPair, type JWTPayload } from 'jose'
import type { EnginelessBerth } from '../../support/berth-without-engine.ts'
import type { CookieBrowser } from '../../support/cookie-browser.ts'
import { handMadeToken, HostileProvider } from '../../support/oidc/hostile-provider.ts'
import { useProvider } from '../../support/oidc/provider.ts'
import { publicUrl, registerAt, startBerthWith } from '../../support/oidc/berth-with-providers.ts'
import { askProvider, begin, finish, newBrowser, signIn, type ProviderCookies } from '../../support/oidc/sign-in.ts'
import { userOf } from '../../support/oidc/sign-in-outcome.ts'

const provider = await useProvider({ after })
const evil = await HostileProvider.start({ after })

async function signOut(browser: CookieBrowser) {
  const { csrf } = await browser.open('/')
  const reply = await browser.ask('POST', '/api/auth/logout', { proof: csrf })
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}

/** Presses the button of the provider's page. */
async function confirmAtProvider(url: URL, cookies: ProviderCookies): Promise<void> {
  const page = await askProvider(url, cookies)
  const html = await page.text()
  assert.equal(page.status, 200, html)
  const [, action = ''] = /action="([^"]+)"/.exec(html) ?? []
  const [, xsrf = ''] = /name="xsrf" value="([^"]+)"/.exec(html) ?? []
  const answer = await askProvider(new URL(action), cookies, new URLSearchParams({ xsrf, logout: 'yes' }))
  assert.equal(answer.headers.get('location'), `${publicUrl}/login`)
}

test('a sign-out ends the session here, and leads to the provider, which ends its own and leads back', async (t) => {
  const berth = await startBerthWith(t, { main: await registerAt(provider) })
  await provider.personIs('ann', { email: 'ann@x.org', email_verified: true })
  const [browser, cookies] = [newBrowser(berth), new Map<string, string>()]
  await signIn(browser, 'main', '/', cookies)
  const url = new URL((await signOut(browser)).logout_url)
  assert.equal(await userOf(browser), undefined)
  assert.equal(url.origin, provider.issuer)
  assert.equal(url.searchParams.get('client_id'), 'berth-main')
  assert.equal(url.searchParams.get('post_logout_redirect_uri'), `${publicUrl}/login`)
  assert.match(url.searchParams.get('id_token_hint') ?? '', /^eyJ/)
  await confirmAtProvider(url, cookies)
  const { id_token } = await berth.database.db.selectFrom('provider_sessions').selectAll().executeTakeFirstOrThrow()
  assert.doesNotMatch(id_token, /^eyJ|\./, 'sealed in the store')
})

test('a session that began by a link, or at a provider without such an address, leads nowhere', async (t) => {
  const berth = await startBerthWith(t, { evil: evil.fields })
  const browser = newBrowser(berth)
  await finish(browser, evil.callback(await begin(browser, 'evil')))
  assert.equal((await signOut(browser)).logout_url, null)
})

// A person in 180 groups had an address of 10,150 characters, which many servers refuse, with no way out.
test('an ID token that makes the address long stays out of it, and the provider still leads back', async (t) => {
  const berth = await startBerthWith(t, { evil: evil.fields })
  const logoutUrlOf = async (claims: object) => {
    evil.hostility = { metadata: { end_session_endpoint: `${evil.issuer}/end` }, claims: { ...claims } }
    const browser = newBrowser(berth)
    await finish(browser, evil.callback(await begin(browser, 'evil')))
    return new URL((await signOut(browser)).logout_url)
  }
  assert.match((await logoutUrlOf({})).searchParams.get('id_token_hint') ?? '', /^eyJ/)
  const groups = Array.from({ length: 180 }, (_, at) => `department-of-something-${at}`)
  const url = await logoutUrlOf({ groups })
  assert.ok(url.href.length < 2_000, `${url.href.length}`)
  assert.equal(url.searchParams.get('id_token_hint'), null)
  assert.equal(url.searchParams.get('client_id'), 'berth')
  assert.equal(url.searchParams.get('post_logout_redirect_uri'), `${publicUrl}/login`)
  evil.hostility = {}
})

test('a sign-out at the provider ends the session here', async (t) => {
  const berth = await startBerthWith(t, { main: await registerAt(provider) })
  await registerAt(provider, 'main', {}, { backchannel: berth.url })
  await provider.personIs('ben', { email: 'ben@x.org', email_verified: true })
  const [browser, cookies] = [newBrowser(berth), new Map<string, string>()]
  await signIn(browser, 'main', '/', cookies)
  assert.equal((await userOf(browser)).email, 'ben@x.org')
  const end = new URL(`${provider.issuer}/session/end`)
  end.search = new URLSearchParams({
    client_id: 'berth-main',
    post_logout_redirect_uri: `${publicUrl}/login`,
  }).toString()
  await confirmAtProvider(end, cookies)
  assert.equal(await userOf(browser), undefined, berth.logs.join(''))
})

/** A valid logout token of the hostile provider, but for these claims. */
const claimsBut = (more: object = {}): JWTPayload => ({
  iss: evil.issuer,
  aud: 'berth',
  sub: 'eve',
  iat: Math.floor(Date.now() / 1_000),
  exp: Math.floor(Date.now() / 1_000) + 120,
  jti: randomUUID(),
  events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
  ...more,
})

function sendToken(berth: EnginelessBerth, token: string, id = 'evil') {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const body = new URLSearchParams({ logout_token: token }).toString()
  return berth.call('POST', `/api/auth/oidc/${id}/backchannel-logout`, { headers, body })
}

async function signInAs(berth: EnginelessBerth, sub: string, sid?: string): Promise<CookieBrowser> {
  evil.hostility = { claims: { sub, email: `${sub}@x.org`, sid } }
  const browser = newBrowser(berth)
  const reply = await finish(browser, evil.callback(await begin(browser, 'evil')))
  assert.equal(reply.headers.get('location'), '/')
  return browser
}

test('a logout token ends the sessions that it means and no others', async (t) => {
  const berth = await startBerthWith(t, { evil: evil.fields })
  const first = await signInAs(berth, 'eve', 'one')
  const second = await signInAs(berth, 'eve', 'two')
  const third = await signInAs(berth, 'eve', 'three')
  const other = await signInAs(berth, 'ann', 'four')
  const alive = async () => {
    const users = await Promise.all([first, second, third, other].map(userOf))
    return users.map((user) => user !== undefined)
  }
  const send = async (claims: JWTPayload) => {
    const reply = await sendToken(berth, await evil.keys.sign(claims, { typ: 'logout+jwt' }))
    assert.equal(reply.status, 200, reply.text)
  }
  await send(claimsBut({ sub: 'ann', sid: 'one' }))
  assert.deepEqual(await alive(), [true, true, true, true])
  await send(claimsBut({ sid: 'one' }))
  assert.deepEqual(await alive(), [false, true, true, true])
  await send(claimsBut({ sub: undefined, sid: 'two' }))
  assert.deepEqual(await alive(), [false, false, true, true])
  await send(claimsBut())
  assert.deepEqual(await alive(), [false, false, false, true])
})

test('a logout token that is not valid is refused with 400, and ends nothing', async (t) => {
  const berth = await startBerthWith(t, { evil: evil.fields })
  const browser = await signInAs(berth, 'eve')
  const { sign, publicText, secret } = evil.keys
  const stranger = await generateKeyPair('RS256')
  const used = await sign(claimsBut({ sub: 'nobody' }))
  assert.equal((await sendToken(berth, used)).status, 200)
  const now = Math.floor(Date.now() / 1_000)
  const tokens: Readonly<Record<string, string | Promise<string>>> = {
    'for another client': sign(claimsBut({ aud: 'other' })),
    'of another issuer': sign(claimsBut({ iss: 'https://login.example.org' })),
    'that is old': sign(claimsBut({ iat: now - 3_600 })),
    'of the future': sign(claimsBut({ iat: now + 3_600 })),
    'that has expired': sign(claimsBut({ exp: now - 120 })),
    'without a time': sign(claimsBut({ iat: undefined })),
    'without an id': sign(claimsBut({ jti: undefined })),
    'without an event': sign(claimsBut({ events: undefined })),
    'with another event': sign(claimsBut({ events: { 'https://x.example/event': {} } })),
    'with a nonce, as an ID token has': sign(claimsBut({ nonce: 'n' })),
    'of another type': sign(claimsBut(), { typ: 'at+jwt' }),
    'without a subject': sign(claimsBut({ sub: undefined })),
    'with half a surrogate pair in the subject': sign(claimsBut({ sub: 'eve\ud800' })),
    'signed by another key': sign(claimsBut(), {}, stranger.privateKey),
    'with alg none': handMadeToken({ alg: 'none' }, claimsBut()),
    'that is an HMAC by the public key': handMadeToken({ alg: 'HS256', kid: 'k' }, claimsBut(), publicText),
    "that is an HMAC by the client's secret": handMadeToken({ alg: 'HS256' }, claimsBut(), secret),
    'that was used before': used,
    'that is none': 'rubbish',
  }
  for (const [name, token] of Object.entries(tokens)) {
    const reply = await sendToken(berth, await token)
    assert.equal(reply.status, 400, name)
    assert.deepEqual(Object.keys(reply.body), ['error'], name)
  }
  assert.equal((await berth.call('POST', '/api/auth/oidc/evil/backchannel-logout')).status, 400)
  assert.equal((await sendToken(berth, await sign(claimsBut()), 'unknown')).status, 404)
  assert.equal((await userOf(browser)).email, 'eve@x.org')
})

test('a logout token counts after the provider has changed its key under the same name', async (t) => {
  const berth = await startBerthWith(t, { evil: evil.fields })
  const browser = await signInAs(berth, 'eve', 'one')
  assert.equal((await sendToken(berth, await evil.keys.sign(claimsBut({ sub: 'nobody' })))).status, 200)
  const { privateKey, publicKey } = await generateKeyPair('RS256')
  const jwk = { ...(await exportJWK(publicKey)), kid: 'k', alg: 'RS256', use: 'sig' }
  let fetched = 0
  const keys = (response: ServerResponse) => {
    fetched += 1
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys: [jwk] }))
  }
  evil.hostility = { answers: { '/jwks': keys } }
  assert.equal((await sendToken(berth, await evil.keys.sign(claimsBut(), {}, privateKey))).status, 200)
  assert.equal(await userOf(browser), undefined)
  // Any client may send a token: a wrong signature costs a request to the provider now and then only.
  for (let each = 0; each < 5; each++)
    assert.equal((await sendToken(berth, await evil.keys.sign(claimsBut()))).status, 400)
  assert.equal(fetched, 1)
  evil.hostility = {}
})

test('a logout token that was used stays used after a restart', async (t) => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'berth-logout-'))
  t.after(() => rm(dataDir, { recursive: true, force: true }))
  const before = await startBerthWith(t, { evil: evil.fields }, { dataDir })
  const token = await evil.keys.sign(claimsBut({ sub: 'ann', sid: 'one' }), { typ: 'logout+jwt' })
  assert.equal((await sendToken(before, token)).status, 200)
  await before.close()
  const later = await startBerthWith(t, { evil: evil.fields }, { dataDir })
  assert.equal((await sendToken(later, token)).status, 400)
  const another = await evil.keys.sign(claimsBut({ sub: 'ann', sid: 'one' }), { typ: 'logout+jwt' })
  assert.equal((await sendToken(later, another)).status, 200)
})
