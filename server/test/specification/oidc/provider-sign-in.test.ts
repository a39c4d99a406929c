import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startProvider, useProvider } from '../../support/oidc/provider.ts'
import { publicUrl, registerAt, startBerthWith } from '../../support/oidc/berth-with-providers.ts'
import { atProvider, begin, finish, newBrowser, signIn } from '../../support/oidc/sign-in.ts'
import { accountsOf, assertProblem, userOf } from '../../support/oidc/sign-in-outcome.ts'

const provider = await useProvider({ after })
const main = await registerAt(provider)

test('a person signs in by a provider and comes to the page that they wanted', async (t) => {
  const berth = await startBerthWith(t, { main })
  await provider.personIs('ann-1', { email: 'Ann@x.org', email_verified: true })
  const browser = newBrowser(berth)
  const reply = await signIn(browser, 'main', '/sessions?a=1')
  assert.equal(reply.headers.get('location'), '/sessions?a=1')
  const { email, is_admin, slug } = await userOf(browser)
  assert.deepEqual({ email, is_admin, slug }, { email: 'ann@x.org', is_admin: true, slug: 'ann' })
  assert.equal(berth.mails.length, 0)
})

test('the request to the provider has PKCE, state, nonce and the public redirect address, whatever host asked', async (t) => {
  const berth = await startBerthWith(t, { main })
  const reply = await berth.call('GET', '/api/auth/oidc/main/start', { headers: { host: 'evil.example' } })
  assert.equal(reply.status, 302)
  const { origin, searchParams } = new URL(reply.headers.get('location') ?? '')
  assert.equal(origin, provider.issuer)
  assert.equal(searchParams.get('redirect_uri'), `${publicUrl}/api/auth/oidc/main/callback`)
  assert.equal(searchParams.get('response_type'), 'code')
  assert.equal(searchParams.get('code_challenge_method'), 'S256')
  assert.equal(searchParams.get('scope'), 'openid email profile')
  for (const name of ['state', 'nonce', 'code_challenge']) assert.match(searchParams.get(name) ?? '', /^[\w-]{43}$/)
})

test('sign-ins in two tabs of one browser both succeed, in any order', async (t) => {
  const berth = await startBerthWith(t, { main })
  await provider.personIs('two-tabs', { email: 'tabs@x.org', email_verified: true })
  const browser = newBrowser(berth)
  const [first, second] = [await begin(browser, 'main', '/sessions'), await begin(browser)]
  assert.equal((await finish(browser, await atProvider(second))).headers.get('location'), '/')
  assert.equal((await finish(browser, await atProvider(first))).headers.get('location'), '/sessions')
})

test('claims that the provider has at its userinfo endpoint alone count as well', async (t) => {
  const conforming = await startProvider(t, { hasClaimsAtUserInfoOnly: true })
  const fields = { scopes: ['openid', 'email', 'groups'], groups_claim: 'groups', allowed_groups: ['staff'] }
  const berth = await startBerthWith(t, { main: await registerAt(conforming, 'main', fields) })
  await conforming.personIs('ann', { email: 'ann@x.org', email_verified: true, groups: ['staff'] })
  const browser = newBrowser(berth)
  await signIn(browser)
  assert.equal((await userOf(browser)).email, 'ann@x.org')
})

test('a provider that is down affects no other sign-in: the login page says so, and links work', async (t) => {
  const stopped = await startProvider(t)
  const fields = await registerAt(stopped, 'down')
  await stopped.stop()
  const berth = await startBerthWith(t, { down: fields, main })
  const browser = newBrowser(berth)
  const reply = await browser.navigate('/api/auth/oidc/down/start?next=/sessions')
  await assertProblem(browser, reply, 'provider-unavailable')
  assert.match(reply.headers.get('location') ?? '', /&next=%2Fsessions$/)
  assert.equal((await berth.call('POST', '/api/auth/signup', { body: { email: 'ann@x.org' } })).status, 200)
  await provider.personIs('ben', { email: 'ben@x.org', email_verified: true })
  assert.equal((await signIn(browser)).headers.get('location'), '/')
})

test('who does not agree at the provider is back at the login page, with the words for it', async (t) => {
  const berth = await startBerthWith(t, { main })
  await provider.order({ signsIn: { error: 'access_denied', error_description: 'not today' } })
  const browser = newBrowser(berth)
  const reply = await signIn(browser, 'main', '/sessions')
  await assertProblem(browser, reply, 'cancelled')
  assert.doesNotMatch(reply.headers.get('location') ?? '', /today/)
})

test('with SIGN_IN=oidc no link can be asked for, and a printed or invited one still works', async (t) => {
  const berth = await startBerthWith(t, { main }, { env: { SIGN_IN: 'oidc' } })
  for (const way of ['login', 'signup', 'link']) {
    const reply = await berth.call('POST', `/api/auth/${way}`, { body: { email: 'ann@x.org' } })
    assert.equal(reply.status, 403, way)
    assert.match(reply.body.error, /Sign in with/)
  }
  // Always 200; the account of the invitation below is not mailed either.
  const resend = (email: string) => berth.call('POST', '/api/auth/resend-verification', { body: { email } })
  assert.equal((await resend('ann@x.org')).status, 200)
  assert.deepEqual((await berth.call('GET', '/api/auth/providers')).body, {
    providers: [{ id: 'main', display_name: 'main' }],
    email_link: false,
  })
  await provider.personIs('boss', { email: 'boss@x.org', email_verified: true })
  const browser = newBrowser(berth)
  await signIn(browser)
  const { csrf } = await browser.open('/')
  const body = { emails: ['cat@x.org'], send: false }
  const invited = await browser.ask('POST', '/api/admin/invitations', { proof: csrf, body })
  assert.equal(invited.status, 200, invited.text)
  assert.equal((await resend('cat@x.org')).status, 200)
  assert.deepEqual(berth.mails, [])
  const { pathname, search } = new URL(invited.body.invitations[0].link)
  assert.equal((await berth.call('GET', `/api/auth${pathname}${search}`)).status, 200)
})

test('without providers the list is empty, and there is no way to begin', async (t) => {
  const berth = await startBerthWith(t, { main }, { env: { OIDC_PROVIDERS_FILE: '' } })
  assert.deepEqual((await berth.call('GET', '/api/auth/providers')).body, { providers: [], email_link: true })
  for (const end of ['start', 'callback?state=x&code=y'])
    assert.equal((await berth.call('GET', `/api/auth/oidc/main/${end}`)).status, 404)
  assert.deepEqual(await accountsOf(berth), [])
})

test('no prefetch, script or frame begins or ends a sign-in', async (t) => {
  const berth = await startBerthWith(t, { main })
  for (const end of ['start', 'callback?code=a&state=b']) {
    const path = `/api/auth/oidc/main/${end}`
    const ask = (headers: Record<string, string>) => berth.call('GET', path, { headers })
    assert.equal((await ask({ 'sec-purpose': 'prefetch' })).status, 400)
    assert.equal((await ask({ 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' })).status, 403)
    assert.equal((await ask({ 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' })).status, 403)
  }
})

test('the document of the login page names the providers by their public addresses, in the order of the file', async (t) => {
  const berth = await startBerthWith(t, {
    school: await registerAt(provider, 'school', { display_name: 'School' }),
    main,
  })
  const { sign_in } = await newBrowser(berth).open('/login')
  assert.deepEqual(sign_in, {
    providers: [
      { display_name: 'School', start: `${publicUrl}/api/auth/oidc/school/start` },
      { display_name: 'main', start: `${publicUrl}/api/auth/oidc/main/start` },
    ],
    email_link: true,
  })
})
