import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { until } from '../../support/api-calls.ts'
import { startEnginelessBerth, tokenIn } from '../../support/berth-without-engine.ts'
import { movableClock } from '../../support/clock.ts'
import { HostBrowser } from '../../support/host-browser.ts'

/** How a browser gets into the host of a container, and what keeps others out (CONTRACT, Subdomain routing). */
const env = {
  CONTAINER_ROUTING: 'subdomain',
  BASE_DOMAIN: 'berth.example',
  MAGIC_LINK_RATE_LIMIT: '1000',
  MAILBOX_RATE_LIMIT: '1000',
}
const clock = movableClock({ after })
const berth = await startEnginelessBerth({ after }, { env })
const platform = 'http://spawner.berth.example'
const hostOf = (prefix: string) => `${prefix}.spawner.berth.example`
const addressOf = (prefix: string) => `http://${hostOf(prefix)}`

async function signedIn(email: string, browser = new HostBrowser(berth)): Promise<HostBrowser> {
  await browser.send('POST', `${platform}/api/auth/signup`, {}, { email })
  const mail = berth.mails.findLast(({ to }) => to === email)
  assert.ok(mail)
  const purpose = mail.text.includes('verify-signup') ? 'signup' : 'login'
  assert.equal((await browser.send('GET', `${platform}/api/auth/verify-${purpose}?token=${tokenIn(mail)}`)).status, 200)
  return browser
}

const claimsOf = (token = '') => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
/** The container was never launched, which is said to its owner alone. */
const isIn = ({ status, text }: { status: number; text: string }) => status === 503 && text.includes('Development')
const codeAddress = /\/\.berth\/enter\?code=/

const ann = await signedIn('ann@x.org')

test('a signed-in browser is led from a container’s host through the platform, and back to the same address', async () => {
  const reply = await ann.navigate(`${addressOf('ann-dev')}/a/b?c=1&d=%2F`)
  assert.ok(isIn(reply), reply.text)
  assert.equal(ann.visited.length, 4)
  assert.match(ann.visited[2] ?? '', /^http:\/\/ann-dev\.spawner\.berth\.example\/\.berth\/enter\?code=[\w-]{43}$/)
  assert.equal(ann.visited.at(-1), `${addressOf('ann-dev')}/a/b?c=1&d=%2F`)
})

test('what it gets is a scoped token for this host alone, which the API refuses', async () => {
  const own = ann.cookies.filter(({ domain }) => domain === hostOf('ann-dev'))
  assert.deepEqual(
    own.map(({ name, path, isHostOnly }) => ({ name, path, isHostOnly })),
    [{ name: 'spawner_token', path: '/', isHostOnly: true }],
  )
  const [{ value } = { value: '' }] = own
  const { sub, is_admin: isAdmin, aud } = claimsOf(value)
  assert.deepEqual([sub, isAdmin, aud], ['1', true, '/ann-dev'])
  const headers = { authorization: `Bearer ${value}`, host: 'spawner.berth.example' }
  assert.equal((await berth.call('GET', '/api/user/me', { headers })).status, 401)
})

test('a second visit goes straight to the app', async () => {
  assert.ok(isIn(await ann.navigate(`${addressOf('ann-dev')}/again`)))
  assert.equal(ann.visited.length, 1)
})

test('the token of one container is 401 at another, at the platform, and in a header', async () => {
  const token = ann.valueOf('spawner_token', hostOf('ann-dev'))
  const at = async (host: string, headers: Record<string, string>, path = '/') =>
    (await berth.call('GET', path, { headers: { host, ...headers } })).status
  const cookie = `spawner_token=${token}`
  assert.equal(await at(hostOf('ann-dev'), { cookie }), 503)
  assert.equal(await at(hostOf('ann-prod'), { cookie }), 401)
  assert.equal(await at('spawner.berth.example', { cookie }, '/api/user/me'), 401)
  assert.equal(await at('spawner.berth.example', { cookie }, '/ann'), 401)
  assert.equal(await at(hostOf('ann-dev'), { authorization: `Bearer ${token}` }), 401)
})

test('the cookie of the platform opens no container’s host', async () => {
  const cookie = `spawner_token=${ann.valueOf('spawner_token', 'berth.example')}`
  assert.equal((await berth.call('GET', '/', { headers: { host: hostOf('ann-dev'), cookie } })).status, 401)
})

test('a program gets in with an access token in its header', async () => {
  const authorization = `Bearer ${ann.valueOf('spawner_token', 'berth.example')}`
  assert.equal((await berth.call('GET', '/', { headers: { host: hostOf('ann-dev'), authorization } })).status, 503)
})

/** A code that was given to this browser, and is not used yet. */
async function codeFor(browser: HostBrowser, prefix: string): Promise<string> {
  browser.cookies = browser.cookies.filter(({ name, domain }) => name !== 'spawner_token' || domain !== hostOf(prefix))
  await browser.navigate(`${addressOf(prefix)}/there`, codeAddress)
  return browser.visited.at(-1) ?? ''
}

test('a code is used once', async () => {
  const code = await codeFor(ann, 'ann-dev')
  const attempt = ann.cookies.filter(({ name }) => name.startsWith('spawner_enter_'))
  assert.equal((await ann.send('GET', code)).status, 302)
  ann.cookies.push(...attempt)
  const again = await ann.send('GET', code)
  assert.deepEqual([again.status, again.headers.getSetCookie()], [400, []])
})

test('of many requests with one code one gets in, and no log has a code', async () => {
  const code = await codeFor(ann, 'ann-dev')
  const cookie = ann.cookiesFor(code)
  const { host, pathname, search } = new URL(code)
  const all = Array.from({ length: 20 }, () => berth.call('GET', pathname + search, { headers: { host, cookie } }))
  const statuses = (await Promise.all(all)).map(({ status }) => status)
  assert.deepEqual(
    statuses.filter((status) => status !== 400),
    [302],
  )
  assert.ok(!berth.logs.some((line) => line.includes(search.slice('?code='.length))))
})

test('a code lasts a minute', async () => {
  const code = await codeFor(ann, 'ann-dev')
  clock.pass(61_000)
  assert.equal((await ann.send('GET', code)).status, 400)
})

test('a code opens nothing at another container, in another browser, or without the browser’s attempt', async () => {
  const code = await codeFor(ann, 'ann-dev')
  const elsewhere = code.replace('ann-dev', 'ann-prod')
  await ann.navigate(`${addressOf('ann-prod')}/`, codeAddress)
  const [bob, stranger] = [await signedIn('bob@x.org'), new HostBrowser(berth)]
  await bob.navigate(`${addressOf('ann-dev')}/`, codeAddress)
  for (const [browser, address] of [
    [ann, elsewhere],
    [bob, code],
    [stranger, code],
  ] as const) {
    const reply = await browser.send('GET', address)
    assert.deepEqual([reply.status, reply.headers.getSetCookie()], [400, []], address)
  }
  assert.equal((await ann.send('GET', code)).status, 302, 'and stays good for the right one')
})

test('thirty tabs that are opened at once get in, each to its own address', async () => {
  const tabs = Array.from({ length: 30 }, (_, tab) => `${addressOf('ann-dev')}/tab/${tab}`)
  ann.cookies = ann.cookies.filter(({ domain }) => domain !== hostOf('ann-dev'))
  const codes: string[] = []
  for (const tab of tabs) {
    const browser = new HostBrowser(berth)
    browser.cookies = ann.cookies.filter(({ name, domain }) => name !== 'spawner_token' || domain !== hostOf('ann-dev'))
    await browser.navigate(tab, codeAddress)
    codes.push(browser.visited.at(-1) ?? '')
    ann.cookies = browser.cookies
  }
  const led = await Promise.all(codes.map(async (code) => (await ann.send('GET', code)).headers.get('location')))
  assert.deepEqual(led, tabs)
})

test('login CSRF: a victim that opens a code of an attacker’s session does not become the attacker', async () => {
  const eve = await signedIn('eve@x.org')
  const victim = new HostBrowser(berth)
  await victim.navigate(`${addressOf('eve-dev')}/`, /login/)
  const reply = await victim.send('GET', await codeFor(eve, 'eve-dev'))
  assert.equal(reply.status, 400)
  assert.equal(victim.valueOf('spawner_token', hostOf('eve-dev')), undefined)
})

test('another user’s browser gets in as who it is, and is refused there', async () => {
  const bob = await signedIn('bob@x.org')
  const reply = await bob.navigate(`${addressOf('ann-dev')}/`)
  assert.equal(reply.status, 403)
  assert.match(reply.text, /belongs to another user/)
})

test('no script, frame, prefetch or HEAD gets a code or uses one up', async () => {
  const query = `container=ann-dev&browser=${'a'.repeat(43)}`
  const enter = `${platform}/api/auth/enter?${query}`
  for (const [name, value] of [
    ['sec-fetch-dest', 'empty'],
    ['sec-fetch-dest', 'iframe'],
    ['sec-purpose', 'prefetch'],
  ] as const)
    assert.ok((await ann.send('GET', enter, { [name]: value })).status >= 400, value)
  assert.equal((await ann.send('HEAD', enter)).status, 405)
  const code = await codeFor(ann, 'ann-dev')
  for (const headers of [{ 'sec-fetch-dest': 'iframe' }, { 'sec-purpose': 'prefetch' }, { 'sec-fetch-dest': 'empty' }])
    assert.equal((await ann.send('GET', code, headers)).status, 400)
  for (const method of ['HEAD', 'POST', 'OPTIONS']) assert.equal((await ann.send(method, code)).status, 400, method)
  assert.equal((await ann.send('GET', code)).status, 302)
})

test('a token that has expired leads through the platform again, and back', async () => {
  clock.pass(3_700_000)
  const before = ann.valueOf('spawner_token', hostOf('ann-dev'))
  await until(async () => (await ann.send('GET', addressOf('ann-dev'))).status === 401)
  assert.ok(isIn(await ann.navigate(`${addressOf('ann-dev')}/notes?x=1`)))
  assert.equal(ann.visited.at(-1), `${addressOf('ann-dev')}/notes?x=1`)
  assert.notEqual(ann.valueOf('spawner_token', hostOf('ann-dev')), before)
})

test('sign-out ends it at every host at once; the next visit asks for a sign-in', async () => {
  const max = await signedIn('max@x.org')
  assert.ok(isIn(await max.navigate(`${addressOf('max-dev')}/`)))
  assert.equal((await max.navigate(`${addressOf('max-prod')}/`)).status, 503)
  const kept = max.cookies.filter(({ domain }) => domain.startsWith('max-'))
  const authorization = `Bearer ${max.valueOf('spawner_token', 'berth.example')}`
  assert.equal((await max.send('POST', `${platform}/api/auth/logout`, { authorization })).status, 200)
  max.cookies.push(...kept)
  for (const type of ['dev', 'prod']) assert.equal((await max.send('GET', addressOf(`max-${type}`))).status, 401)
  await max.navigate(`${addressOf('max-dev')}/`)
  assert.match(max.visited.at(-1) ?? '', /^http:\/\/spawner\.berth\.example\/login\?next=%2Fmax-dev%2F/)
})

test('to others, and to a blocked user, the host says what the path says with path routing', async () => {
  const answer = await berth.call('GET', '/', { headers: { host: hostOf('missing-dev') } })
  assert.deepEqual([answer.status, typeof answer.body.error], [401, 'string'])
  assert.equal((await ann.navigate(`${addressOf('missing-dev')}/`)).status, 404)
})
