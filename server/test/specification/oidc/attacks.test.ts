import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { HostileProvider } from '../../support/oidc/hostile-provider.ts'
import { useProvider } from '../../support/oidc/provider.ts'
import { publicUrl, registerAt, startBerthWith } from '../../support/oidc/berth-with-providers.ts'
import { atProvider, begin, finish, newBrowser, signIn } from '../../support/oidc/sign-in.ts'
import { accountsOf, assertProblem } from '../../support/oidc/sign-in-outcome.ts'

/** Attacks on the flow of RFC 9700, section 4, and every error of the authorization endpoint. */
const provider = await useProvider({ after })
const evil = await HostileProvider.start({ after })
const main = await registerAt(provider)
const berth = await startBerthWith({ after }, { main, evil: evil.fields })
const nothingIsStored = async () => assert.deepEqual(await accountsOf(berth), [])

/** RFC 6749, 4.1.2.1; OpenID Connect Core, 3.1.2.6. */
const authorizationErrors: Readonly<Record<string, string>> = {
  invalid_request: 'provider-misconfigured',
  unauthorized_client: 'provider-misconfigured',
  access_denied: 'cancelled',
  unsupported_response_type: 'provider-misconfigured',
  invalid_scope: 'provider-misconfigured',
  server_error: 'provider-unavailable',
  temporarily_unavailable: 'provider-unavailable',
  interaction_required: 'cancelled',
  login_required: 'cancelled',
  account_selection_required: 'cancelled',
  consent_required: 'cancelled',
  invalid_request_uri: 'provider-misconfigured',
  invalid_request_object: 'provider-misconfigured',
  request_not_supported: 'provider-misconfigured',
  request_uri_not_supported: 'provider-misconfigured',
  registration_not_supported: 'provider-misconfigured',
  an_error_of_its_own: 'provider-misconfigured',
}

for (const [error, problem] of Object.entries(authorizationErrors))
  test(`the error ${error} signs no user in, and none of its words is in the address`, async () => {
    const browser = newBrowser(berth)
    const answer = evil.callback(await begin(browser, 'evil'), {
      code: undefined,
      error,
      error_description: '<b>call 0900</b>',
      error_uri: 'https://evil.example',
    })
    const reply = await finish(browser, answer)
    await assertProblem(browser, reply, problem)
    assert.equal(reply.headers.get('location'), `/login?problem=${problem}`)
    await nothingIsStored()
  })

test('CSRF: an answer that another browser began signs no user in (RFC 9700, 4.7)', async () => {
  await provider.personIs('eve', { email: 'eve@x.org', email_verified: true })
  const [attacker, victim] = [newBrowser(berth), newBrowser(berth)]
  const answer = await atProvider(await begin(attacker))
  await assertProblem(victim, await finish(victim, answer), 'attempt-lost')
  await begin(victim)
  await assertProblem(victim, await finish(victim, answer), 'attempt-lost')
  // Not even with the cookie of the attempt, which a page of a container could set on plain http.
  const name = /spawner_oidc_\w+/.exec(attacker.cookiesFor('/api/auth/oidc/main/callback'))?.[0] ?? ''
  victim.take(`${name}=${attacker.valueOf(name)}; Path=/api/auth/oidc`)
  await assertProblem(victim, await finish(victim, answer), 'attempt-lost')
  await nothingIsStored()
})

test('code injection: a code of another attempt is refused by PKCE and nonce (RFC 9700, 4.5)', async () => {
  await provider.personIs('eve', { email: 'eve@x.org', email_verified: true })
  const [attacker, victim] = [newBrowser(berth), newBrowser(berth)]
  const stolen = await atProvider(await begin(attacker))
  const answer = await atProvider(await begin(victim))
  answer.searchParams.set('code', stolen.searchParams.get('code') ?? '')
  await assertProblem(victim, await finish(victim, answer), 'attempt-lost')
  await nothingIsStored()
})

test('mix-up: an answer counts at the provider of its attempt alone, and with its issuer (RFC 9700, 4.4)', async () => {
  const browser = newBrowser(berth)
  const atOther = evil.callback(await begin(browser, 'evil'))
  atOther.pathname = '/api/auth/oidc/main/callback'
  await assertProblem(browser, await finish(browser, atOther), 'attempt-lost')
  for (const iss of [evil.issuer, '', undefined]) {
    const answer = await atProvider(await begin(browser))
    if (iss === undefined) answer.searchParams.delete('iss')
    else answer.searchParams.set('iss', iss)
    await assertProblem(browser, await finish(browser, answer), 'untrusted-answer')
  }
  await nothingIsStored()
})

test('an answer without state or with another one, or with state twice, signs no user in', async () => {
  const browser = newBrowser(berth)
  const answer = await atProvider(await begin(browser))
  const without = new URL(answer)
  without.searchParams.delete('state')
  await assertProblem(browser, await finish(browser, without), 'attempt-lost')
  const other = new URL(answer)
  other.searchParams.set('state', 'x'.repeat(43))
  await assertProblem(browser, await finish(browser, other), 'attempt-lost')
  const twice = new URL(answer)
  twice.searchParams.append('state', 'x')
  await assertProblem(browser, await finish(browser, twice), 'attempt-lost')
  await nothingIsStored()
})

test('a changed cookie of an attempt is none', async () => {
  const browser = newBrowser(berth)
  const answer = await atProvider(await begin(browser))
  const name = /spawner_oidc_\w+/.exec(browser.cookiesFor('/api/auth/oidc/main/callback'))?.[0] ?? ''
  const value = browser.valueOf(name) ?? ''
  browser.take(`${name}=${value.slice(0, -2)}AA; Path=/api/auth/oidc`)
  await assertProblem(browser, await finish(browser, answer), 'attempt-lost')
  await nothingIsStored()
})

test('a browser has five attempts at most: of more the oldest is lost', async () => {
  const browser = newBrowser(berth)
  const first = evil.callback(await begin(browser, 'evil'))
  for (let tab = 0; tab < 5; tab++) await begin(browser, 'evil')
  const names = browser.cookiesFor('/api/auth/oidc/evil/callback').match(/spawner_oidc_/g)
  assert.equal(names?.length, 5)
  await assertProblem(browser, await finish(browser, first), 'attempt-lost')
})

test('open redirect: next leads to pages of ours alone (RFC 9700, 4.11)', async (t) => {
  const own = await startBerthWith(t, { main })
  await provider.personIs('ann', { email: 'ann@x.org', email_verified: true })
  const elsewhere = ['https://evil.example', '//evil.example', '/\\evil.example', '/\t/evil.example', 'javascript:x']
  for (const next of [...elsewhere, '/api/auth/logout', `/${'a'.repeat(3_000)}`, ''])
    assert.equal((await signIn(newBrowser(own), 'main', next)).headers.get('location'), '/', next)
  const reply = await newBrowser(own).navigate(`/api/auth/oidc/main/callback?next=https://evil.example&state=x`)
  assert.equal(new URL(reply.headers.get('location') ?? '', publicUrl).search, '?problem=attempt-lost')
})

test('replay: the same answer lets in once (RFC 9700, 4.2.4)', async (t) => {
  const own = await startBerthWith(t, { main })
  await provider.personIs('ann', { email: 'ann@x.org', email_verified: true })
  const browser = newBrowser(own)
  const answer = await atProvider(await begin(browser))
  const name = /spawner_oidc_\w+/.exec(browser.cookiesFor(answer.pathname))?.[0] ?? ''
  const value = browser.valueOf(name)
  assert.equal((await finish(browser, answer)).headers.get('location'), '/')
  assert.match((await finish(browser, answer)).headers.get('location') ?? '', /problem=attempt-lost/)
  // Nor with the cookie that was taken out: the provider redeems a code once.
  browser.take(`${name}=${value}; Path=/api/auth/oidc`)
  assert.match((await finish(browser, answer)).headers.get('location') ?? '', /problem=attempt-lost/)
})
