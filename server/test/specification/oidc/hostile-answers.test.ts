import assert from 'node:assert/strict'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { exportJWK, generateKeyPair } from 'jose'
import { handMadeToken, HostileProvider, type Hostility } from '../../support/oidc/hostile-provider.ts'
import { startBerthWith } from '../../support/oidc/berth-with-providers.ts'
import { begin, finish, newBrowser } from '../../support/oidc/sign-in.ts'
import { accountsOf, assertProblem, userOf } from '../../support/oidc/sign-in-outcome.ts'
import { waitFor } from '../../support/program.ts'
import { timeLimit } from '#test/support/extent.ts'

/** Answers that no certified provider sends. Each is refused with a problem, and nothing is stored. */
const provider = await HostileProvider.start({ after })
const fresh = () => startBerthWith({ after }, { evil: provider.fields })
const berth = await fresh()

async function answerWith(hostility: Hostility, where = berth) {
  provider.hostility = hostility
  const browser = newBrowser(where)
  return { browser, reply: await finish(browser, provider.callback(await begin(browser, 'evil'))) }
}

async function refuses(hostility: Hostility, problem: string, where = berth): Promise<void> {
  const { browser, reply } = await answerWith(hostility, where)
  await assertProblem(browser, reply, problem)
  assert.deepEqual(await accountsOf(where), [])
}

const now = () => Math.floor(Date.now() / 1_000)
const other = await generateKeyPair('RS256')

const forgeries: Readonly<Record<string, Hostility>> = {
  'for another client': { claims: { aud: 'another-client' } },
  'for other clients, too': { claims: { aud: ['berth', 'another-client'], azp: 'berth' } },
  'without an audience': { claims: { aud: undefined } },
  'of another issuer': { claims: { iss: 'https://login.example.org' } },
  'of another attempt': { claims: { nonce: 'another' } },
  'without a nonce': { claims: { nonce: undefined } },
  'that has expired': { claims: { exp: now() - 120 } },
  'without an end': { claims: { exp: undefined } },
  'without a subject': { claims: { sub: undefined } },
  'with an empty subject': { claims: { sub: '' } },
  'from the future': { claims: { iat: now() + 3_600, exp: now() + 7_200 } },
  'with a subject longer than the standard allows': { claims: { sub: 's'.repeat(256) } },
  'with a NUL in the subject': { claims: { sub: 'ann\0' } },
  'with half a surrogate pair in the subject': { claims: { sub: 'ann\ud800' } },
  'with alg none': { idToken: async (claims) => handMadeToken({ alg: 'none' }, claims) },
  'with alg none, which the provider says it may use': {
    metadata: { id_token_signing_alg_values_supported: ['RS256', 'none'] },
    idToken: async (claims) => handMadeToken({ alg: 'none' }, claims),
  },
  'that is an HMAC by the public key': {
    metadata: { id_token_signing_alg_values_supported: ['RS256', 'HS256'] },
    idToken: async (claims, { publicText }) => handMadeToken({ alg: 'HS256', kid: 'k' }, claims, publicText),
  },
  "that is an HMAC by the client's secret": {
    metadata: { id_token_signing_alg_values_supported: ['HS256'] },
    idToken: async (claims, { secret }) => handMadeToken({ alg: 'HS256' }, claims, secret),
  },
  'signed by another key': { idToken: (claims, { sign }) => sign(claims, {}, other.privateKey) },
  'signed by a key that is not published': { idToken: (claims, { sign }) => sign(claims, { kid: 'unknown' }) },
  'that is none': { idToken: async () => 'rubbish' },
  'that is missing': { idToken: async () => undefined },
}

for (const [name, hostility] of Object.entries(forgeries))
  test(`an ID token ${name} signs no user in`, async () => {
    // What the provider says of itself is fetched once.
    await refuses(hostility, 'untrusted-answer', hostility.metadata ? await fresh() : berth)
  })

test('an address that another document calls verified, or another subject, does not count', async () => {
  const claims = { email: 'ann@x.org', email_verified: undefined }
  await refuses({ claims, userinfo: { email_verified: true } }, 'email-unverified')
  await refuses({ claims, userinfo: { sub: 'ann', email: 'ann@x.org', email_verified: true } }, 'untrusted-answer')
})

test('email_verified says nothing of another claim beside an e-mail address', async () => {
  const claim = await startBerthWith({ after }, { evil: { ...provider.fields, email_claim: 'mail' } })
  await refuses({ claims: { mail: 'ann@x.org' } }, 'email-unverified', claim)
})

/** RFC 6749, 5.2, and what else a token endpoint can answer. */
const tokenAnswers: Readonly<Record<string, string>> = {
  invalid_request: 'provider-misconfigured',
  invalid_client: 'provider-misconfigured',
  invalid_grant: 'attempt-lost',
  unauthorized_client: 'provider-misconfigured',
  unsupported_grant_type: 'provider-misconfigured',
  invalid_scope: 'provider-misconfigured',
}

for (const [error, problem] of Object.entries(tokenAnswers))
  test(`the error ${error} of the token endpoint signs no user in`, async () => {
    const status = error === 'invalid_client' ? 401 : 400
    await refuses({ answers: { '/token': (response) => json(response, { error }, status) } }, problem)
  })

test('a token endpoint that fails, lies or does not answer signs no user in', async () => {
  const answering = (answer: NonNullable<Hostility['answers']>[string]): Hostility => ({
    answers: { '/token': answer },
  })
  await refuses(
    answering((response) => response.writeHead(503).end('busy')),
    'provider-unavailable',
  )
  await refuses(
    answering((response) => response.destroy()),
    'provider-unavailable',
  )
  await refuses(
    answering((response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()),
    'untrusted-answer',
  )
  await refuses(
    answering((response) => response.writeHead(200).end('<html>')),
    'untrusted-answer',
  )
  await refuses(
    answering((response) => json(response, { access_token: 'a'.repeat(2_000_000) })),
    'untrusted-answer',
  )
  const began = performance.now()
  await refuses(
    answering(() => undefined),
    'provider-unavailable',
  )
  assert.ok(performance.now() - began < timeLimit(8_000))
})

test('a discovery document of another issuer, or none, begins no sign-in', async () => {
  const documents: readonly Hostility[] = [
    { metadata: { issuer: 'https://login.example.org' } },
    { metadata: { authorization_endpoint: undefined } },
    { answers: { '/.well-known/openid-configuration': (response) => response.writeHead(200).end('<html>') } },
  ]
  for (const hostility of documents) {
    provider.hostility = hostility
    const where = await fresh()
    const browser = newBrowser(where)
    await assertProblem(browser, await browser.navigate('/api/auth/oidc/evil/start'), 'untrusted-answer')
  }
})

test('a client that is registered for the secret in the body signs in at a provider that names both ways', async () => {
  const where = await fresh()
  let refused = 0
  const { browser } = await answerWith(
    {
      metadata: { token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'] },
      refusesBasic: () => (refused += 1) > 0,
    },
    where,
  )
  assert.equal((await userOf(browser)).email, 'eve@x.org')
  assert.equal(refused, 1)
})

test('a provider that decodes no credentials signs users in with a secret that has to be encoded', async () => {
  const secret = 'p+q/r=s%t~u'
  const where = await startBerthWith({ after }, { evil: { ...provider.fields, client_secret: secret } })
  const asSent = `Basic ${Buffer.from(`berth:${secret}`).toString('base64')}`
  const attempts: (string | undefined)[] = []
  const refusesBasic = ({ headers }: IncomingMessage) => {
    attempts.push(headers.authorization)
    return headers.authorization !== asSent
  }
  const first = await answerWith({ refusesBasic }, where)
  assert.equal((await userOf(first.browser)).email, 'eve@x.org', where.logs.join(''))
  const second = await answerWith({ refusesBasic }, where)
  assert.equal((await userOf(second.browser)).email, 'eve@x.org')
  assert.deepEqual(
    attempts.map((each) => each === asSent),
    [false, true, true],
  )
})

test('a provider that changes its key, even under the same name, loses one sign-in', async () => {
  const where = await fresh()
  await answerWith({}, where)
  const { privateKey, publicKey } = await generateKeyPair('RS256')
  const jwk = { ...(await exportJWK(publicKey)), kid: 'k', alg: 'RS256', use: 'sig' }
  const changed: Hostility = {
    answers: { '/jwks': (response) => json(response, { keys: [jwk] }) },
    idToken: (claims, { sign }) => sign(claims, {}, privateKey),
  }
  const lost = await answerWith(changed, where)
  await assertProblem(lost.browser, lost.reply, 'untrusted-answer')
  const isSignedIn = async () => (await userOf((await answerWith(changed, where)).browser)) !== undefined
  await waitFor('the new key', async () => (await isSignedIn()) || sleep(500, false))
})

test('a provider that refused the client for a moment signs users in afterwards', async () => {
  // Berth tried the other way to send the secret, was refused as well, and went on with the way that the provider never
  // accepts: until the next discovery, for up to an hour, no user could sign in.
  const where = await fresh()
  const metadata = { token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'] }
  const disturbed = { '/token': (response: ServerResponse) => json(response, { error: 'invalid_client' }, 401) }
  await refuses({ metadata, answers: disturbed }, 'provider-misconfigured', where)
  // The way that was tried last is refused once more, and the other one is used for good.
  const { browser } = await answerWith({ metadata, refusesPost: true }, where)
  assert.equal((await userOf(browser)).email, 'eve@x.org')
})

test('a clock that is half a minute late or early is no fault', async () => {
  const late = await fresh()
  const { browser } = await answerWith({ claims: { exp: now() - 30, iat: now() + 30 } }, late)
  assert.equal((await userOf(browser)).email, 'eve@x.org')
})

test('nothing that a provider said is in the log but names of errors and claims', () => {
  const logged = berth.logs.join('')
  assert.match(logged, /"problem":"untrusted-answer".*aud/)
  assert.match(logged, /"problem":"provider-misconfigured".*invalid_client/)
  assert.doesNotMatch(logged, /eyJ|ann@x\.org|eve@x\.org/)
})

function json(response: Parameters<NonNullable<Hostility['answers']>[string]>[0], body: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

// It was 400 with JSON, which the browser of a person who signs in shows in the place of a page.
test('parameters that are repeated or too long count as missing, and the browser is led to a page', async () => {
  const own = await fresh()
  const browser = newBrowser(own)
  const end = '/api/auth/oidc/evil/callback'
  const lost = ['state=a&state=b&code=x', `state=${'s'.repeat(513)}&code=x`, 'state=a&error=x&error=y']
  for (const query of [...lost, `state=a&error=access_denied&error_description=${'d'.repeat(4_097)}`]) {
    const { status, headers } = await browser.navigate(`${end}?${query}`)
    assert.deepEqual([status, headers.get('location')], [302, '/login?problem=attempt-lost'], query)
  }
  const started = await browser.navigate('/api/auth/oidc/evil/start?next=/a&next=/b')
  assert.equal(started.status, 302)
  assert.match(started.headers.get('location') ?? '', /^https?:\/\/(?!spawner)/)
  // Of an attempt that is known: the provider's answer without its code, and one whose words are too long.
  const answer = provider.callback(await begin(browser, 'evil'))
  answer.searchParams.append('code', 'another')
  const twice = await finish(browser, answer)
  assert.match(twice.headers.get('location') ?? '', /^\/login\?problem=/)
  const cancelled = provider.callback(await begin(browser, 'evil'))
  cancelled.searchParams.delete('code')
  cancelled.searchParams.set('error', 'access_denied')
  cancelled.searchParams.set('error_description', 'd'.repeat(4_097))
  assert.equal((await finish(browser, cancelled)).headers.get('location'), '/login?problem=cancelled')
  assert.deepEqual(await accountsOf(own), [])
})

test('an answer lets in once, although the provider redeems its code again and the browser keeps the attempt', async () => {
  const own = await fresh()
  provider.hostility = { claims: { email: 'ann@x.org', email_verified: true } }
  const browser = newBrowser(own)
  const answer = provider.callback(await begin(browser, 'evil'))
  const name = /spawner_oidc_\w+/.exec(browser.cookiesFor(answer.pathname))?.[0] ?? ''
  const kept = `${name}=${browser.valueOf(name)}; Path=/api/auth/oidc`
  const locations: (string | null)[] = []
  const bring = async () => void locations.push((await finish(browser, answer)).headers.get('location'))
  await Promise.all([bring(), bring()])
  browser.take(kept)
  await bring()
  assert.deepEqual(locations.sort(), ['/', '/login?problem=attempt-lost', '/login?problem=attempt-lost'])
})
