import assert from 'node:assert/strict'
import crypto, { randomBytes } from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { after, test } from 'node:test'
import { endpoints, type Endpoint } from '@berth/api/endpoints.ts'
import { refusals } from '#/refusals/errors.ts'
import { assertOk, assertRefused, tokenBy, verify } from '../../support/api-calls.ts'
import { startBerth, type Berth, type Reply } from '../../support/berth.ts'
import { noCreateRuntime } from '../../support/engine/faulty-runtimes.ts'
import { rawCall } from '../../support/raw-request.ts'

const berth = await startBerth({ after }, { wrapRuntime: noCreateRuntime, env: { BASE_DOMAIN: 'berth.example:8080' } })
const ann = await berth.signUpWithoutContainer('ann@x.org')
const bob = await berth.signUpWithoutContainer('bob@x.org')

const meWith = (headers: Record<string, string>) => berth.call('GET', '/api/user/me', { headers })

/** `Set-Cookie` lines of a verification that was asked for under this host name. */
async function cookiesFor(of: Berth, email: string, host: string): Promise<string[]> {
  const token = await tokenBy(of, 'login', email)
  const { headers } = await rawCall(of, 'GET', `/api/auth/verify-login?token=${token}`, { host })
  return (headers['set-cookie'] ?? []).filter(isTokenLine)
}
const isTokenLine = (line: string) => line.startsWith('spawner_token=')

test('the JWT is also delivered as a cookie spawner_token for all subdomains of the base domain', async () => {
  const cookies = await cookiesFor(berth, 'ann@x.org', 'spawner.berth.example:8080')
  assert.equal(cookies.length, 1)
  const [value, ...attributes] = (cookies[0] ?? '').split('; ')
  assert.match(value ?? '', /^spawner_token=[\w-]+\.[\w-]+\.[\w-]+$/)
  const wanted = ['Domain=berth.example', 'HttpOnly', 'Max-Age=3600', 'Path=/', 'SameSite=Lax']
  assert.deepEqual(attributes.sort(), wanted)
})

test('the value of the cookie is the access token of the answer', async () => {
  const reply = await verify(berth, 'login', await tokenBy(berth, 'login', 'bob@x.org'))
  for (const cookie of reply.headers.getSetCookie().filter(isTokenLine))
    assert.ok(cookie.startsWith(`spawner_token=${reply.body.access_token};`))
})

test('who came by a host outside the base domain gets a host-only twin as well', async () => {
  const cookies = await cookiesFor(berth, 'ann@x.org', '127.0.0.1:8080')
  assert.equal(cookies.length, 2)
  assert.equal(cookies.filter((cookie) => cookie.includes('Domain=')).length, 1)
})

test('with https the cookie is Secure', async (t) => {
  const secure = await startBerth(t, { wrapRuntime: noCreateRuntime, env: { PREFERRED_URL_SCHEME: 'https' } })
  const reply = await verify(secure, 'signup', await tokenBy(secure, 'signup', 'ann@x.org'))
  for (const cookie of reply.headers.getSetCookie()) assert.match(cookie, /; Secure(;|$)/)
})

const https = { PREFERRED_URL_SCHEME: 'https', BASE_DOMAIN: 'berth.example' }
const bindName = '__Host-Http-spawner_bind'
/** Name and value of each cookie of an answer. */
const pairsOf = (reply: Reply) => reply.headers.getSetCookie().map((line) => line.split(';')[0] ?? '')

test('with https a companion says which session was begun; it is host-only, lasts as long, and goes with it', async (t) => {
  const secure = await startBerth(t, { wrapRuntime: noCreateRuntime, env: https })
  const reply = await verify(secure, 'signup', await tokenBy(secure, 'signup', 'ann@x.org'))
  const [line, ...more] = reply.headers.getSetCookie().filter((cookie) => cookie.startsWith(bindName))
  assert.equal(more.length, 0)
  const [pair = '', ...attributes] = (line ?? '').split('; ')
  assert.match(pair, /^__Host-Http-spawner_bind=[\w-]{43}$/)
  assert.deepEqual(attributes.sort(), ['HttpOnly', 'Max-Age=7776000', 'Path=/', 'SameSite=Lax', 'Secure'])
  const out = await secure.call('POST', '/api/auth/logout', { token: reply.body.access_token })
  assert.ok(pairsOf(out).includes(`${bindName}=`))
})

test('without https there is no companion: browsers would drop it', async () => {
  const reply = await verify(berth, 'login', await tokenBy(berth, 'login', 'bob@x.org'))
  assert.ok(!reply.headers.getSetCookie().some((cookie) => cookie.startsWith('__Host')))
})

test('of several valid tokens the one that the companion belongs to is believed, by API and gateway', async (t) => {
  const secure = await startBerth(t, { wrapRuntime: noCreateRuntime, env: https })
  const own = await verify(secure, 'signup', await tokenBy(secure, 'signup', 'own@x.org'))
  const eve = await secure.signUpWithoutContainer('eve@x.org')
  const bind = pairsOf(own).find((pair) => pair.startsWith(bindName)) ?? ''
  const [ownPair, evePair] = [`spawner_token=${own.body.access_token}`, `spawner_token=${eve.token}`]
  const ask = (path: string, ...pairs: string[]) => secure.call('GET', path, { headers: { cookie: pairs.join('; ') } })
  for (const pairs of [
    [evePair, ownPair, bind],
    [bind, ownPair, evePair],
    [ownPair, bind],
  ]) {
    assert.equal((await ask('/api/user/me', ...pairs)).body.user?.id, own.body.user.id)
    assert.notEqual((await ask('/own-dev/', ...pairs)).status, 401)
    assert.equal((await ask('/eve-dev/', ...pairs)).status, 403)
  }
  for (const pairs of [
    [evePair, bind],
    [ownPair, `${bindName}=x`],
    [ownPair, bind, `${bindName}=x`],
  ]) {
    assertRefused(await ask('/api/user/me', ...pairs), 401)
    assert.equal((await ask('/own-dev/', ...pairs)).status, 401)
  }
})

/** A browser's request of a page, and what programs send: nothing, or what the `fetch` of Node.js does. */
const ofBrowser = { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }
const ofPrograms = [{}, { 'sec-fetch-mode': 'cors' }]

test('with https a browser’s token counts with its companion alone, by API, gateway and pages; a program’s without', async (t) => {
  const secure = await startBerth(t, { wrapRuntime: noCreateRuntime, env: https })
  const own = await verify(secure, 'signup', await tokenBy(secure, 'signup', 'own@x.org'))
  const bind = pairsOf(own).find((pair) => pair.startsWith(bindName)) ?? ''
  const token = `spawner_token=${own.body.access_token}`
  const ask = (target: string, cookie: string, headers: Record<string, string>) =>
    secure.call('GET', target, { headers: { ...headers, cookie } })
  const page = { ...ofBrowser, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', accept: 'text/html' }
  for (const headers of ofPrograms) {
    assertOk(await ask('/api/user/me', token, headers))
    assert.notEqual((await ask('/own-dev/', token, headers)).status, 401)
  }
  assertOk(await ask('/api/user/me', `${token}; ${bind}`, ofBrowser))
  assert.notEqual((await ask('/own-dev/', `${token}; ${bind}`, ofBrowser)).status, 401)
  assert.match((await ask('/', `${token}; ${bind}`, page)).text, /own@x\.org/)

  const refused = await ask('/api/user/me', token, ofBrowser)
  assertRefused(refused, 401)
  assert.deepEqual(refused.headers.getSetCookie(), [], 'another host of the base domain may have the companion')
  assert.equal((await ask('/own-dev/', token, ofBrowser)).status, 401)
  assert.doesNotMatch((await ask('/', token, page)).text, /own@x\.org/)
  // The `fetch` of Node.js has its own `Sec-Fetch-Mode`.
  const led = await rawCall(secure, 'GET', '/own-dev/', { ...page, cookie: token })
  assert.equal(led.status, 302)
  assert.match(String(led.headers.location), /\/api\/auth\/continue/)
})

test('on the way to a container’s host a browser’s token without its companion opens nothing, and is removed', async (t) => {
  const hosts = { ...https, CONTAINER_ROUTING: 'subdomain' }
  const secure = await startBerth(t, { wrapRuntime: noCreateRuntime, env: hosts })
  const own = await verify(secure, 'signup', await tokenBy(secure, 'signup', 'own@x.org'))
  const token = `spawner_token=${own.body.access_token}`
  const bind = pairsOf(own).find((pair) => pair.startsWith(bindName)) ?? ''
  const navigation = { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
  const enter = (cookie: string) =>
    rawCall(secure, 'GET', `/api/auth/enter?container=own-dev&browser=${'a'.repeat(43)}`, {
      ...navigation,
      host: 'spawner.berth.example',
      cookie,
    })
  const led = await enter(token)
  assert.match(String(led.headers.location), /^\/api\/auth\/continue/)
  // Otherwise public containers would lead it here again and again.
  assert.ok(led.headers['set-cookie']?.some((line) => /^spawner_token=;.*Domain=berth.example/.test(line)))
  assert.match(String((await enter(`${token}; ${bind}`)).headers.location), /\/\.berth\/enter\?code=/)
})

test('without https, and where people sign in at another host than the containers’, a browser’s token needs no companion', async (t) => {
  const cookie = `spawner_token=${ann.token}`
  assertOk(await meWith({ ...ofBrowser, cookie }))
  const elsewhere = { ...https, FRONTEND_URL: 'https://start.berth.example' }
  const other = await startBerth(t, { wrapRuntime: noCreateRuntime, env: elsewhere })
  const eve = await other.signUpWithoutContainer('eve@x.org')
  const headers = { ...ofBrowser, cookie: `spawner_token=${eve.token}` }
  assertOk(await other.call('GET', '/api/user/me', { headers }))
  assert.notEqual((await other.call('GET', '/eve-dev/', { headers })).status, 401)
})

test('a browser that sent several valid tokens is made to forget all that it may have sent, at every path and domain', async (t) => {
  const secure = await startBerth(t, { wrapRuntime: noCreateRuntime, env: https })
  const [own, eve] = [
    await secure.signUpWithoutContainer('own@x.org'),
    await secure.signUpWithoutContainer('eve@x.org'),
  ]
  const cookie = `spawner_token=${eve.token}; spawner_token=${own.token}`
  for (const path of ['/api/user/me', '/own-dev/', '/']) {
    const reply = await rawCall(secure, 'GET', path, { host: 'spawner.berth.example', cookie })
    assert.equal(reply.status, path === '/' ? 200 : 401)
    const lines = reply.headers['set-cookie'] ?? []
    for (const line of lines) assert.match(line, /=; .*Max-Age=0; HttpOnly; SameSite=Lax; Secure/)
    const has = (...parts: string[]) =>
      lines.some((line) => parts.every((part) => `; ${line};`.includes(`; ${part};`)) && line.includes('spawner_token'))
    const domains = ['Domain=berth.example', 'Domain=spawner.berth.example']
    for (const each of [path, '/', ...(path.startsWith('/api') ? ['/api', '/api/', '/api/user', '/api/user/'] : [])]) {
      for (const domain of domains) assert.ok(has(`Path=${each}`, domain), `${each} ${domain}`)
      assert.ok(lines.some((line) => line.includes(`Path=${each};`) && !line.includes('Domain')))
    }
    assert.ok(lines.some((line) => line.startsWith(`${bindName}=;`)))
  }
})

test('of a page that is navigated to, the way to the login page makes the browser forget, too', async () => {
  const cookie = `spawner_token=${bob.token}; spawner_token=${ann.token}`
  const headers = { cookie, accept: 'text/html', 'sec-fetch-mode': 'navigate' }
  const reply = await rawCall(berth, 'GET', '/ann-dev/', headers)
  assert.equal(reply.status, 302)
  assert.ok((reply.headers['set-cookie'] ?? []).some((line) => line.includes('Path=/ann-dev/;')))
})

test('the cookie is accepted in place of the header', async () => {
  const reply = await meWith({ cookie: `theme=dark; spawner_token=${ann.token}` })
  assertOk(reply)
  assert.equal(reply.body.user.id, ann.id)
})

test('a bad Authorization header is 401, however good the cookie', async () => {
  for (const authorization of ['Bearer x', 'Bearer ', 'Basic eDp5', 'x'])
    assertRefused(await meWith({ authorization, cookie: `spawner_token=${ann.token}` }), 401)
})

test('the header counts, not the cookie of another user', async () => {
  const reply = await meWith({ authorization: `Bearer ${ann.token}`, cookie: `spawner_token=${bob.token}` })
  assert.equal(reply.body.user.id, ann.id)
})

test('two different valid cookies are 401; a bad one beside a good one, in either order, does no harm', async () => {
  const [good, bad] = [`spawner_token=${ann.token}`, 'spawner_token=EVIL']
  assertRefused(await meWith({ cookie: `${good}; spawner_token=${bob.token}` }), 401)
  for (const cookie of [`${good}; ${bad}`, `${bad}; ${good}`, `${good}; ${good}`])
    assert.equal((await meWith({ cookie })).body.user?.id, ann.id)
})

test('logout expires the cookie and its twin', async () => {
  const { token } = await berth.signUpWithoutContainer('out@x.org')
  const reply = await berth.call('POST', '/api/auth/logout', { headers: { cookie: `spawner_token=${token}` } })
  assertOk(reply)
  const cookies = reply.headers.getSetCookie()
  assert.equal(cookies.length, 3)
  for (const cookie of cookies) assert.match(cookie, /^(spawner_token|berth_session)=;.* Max-Age=0;/)
  assertRefused(await meWith({ cookie: `spawner_token=${token}` }), 401)
})

test('a browser that sends only the cookie changes nothing without the proof that only our own pages have', async () => {
  const cookie = `spawner_token=${ann.token}`
  for (const site of ['same-origin', 'same-site', 'cross-site']) {
    const headers = { cookie, origin: berth.url, 'sec-fetch-mode': 'cors', 'sec-fetch-site': site }
    assertRefused(await berth.call('POST', '/api/auth/logout', { headers }), 403)
  }
  assertOk(await meWith({ cookie }))
})

test('by the cookie a page of a container reads of its visitor what an app knows anyway, and nothing else', async () => {
  // It read names of files in homes of other types, each time with a look of up to 20 s into the home; and who shares what.
  const downloads = ['readDownload', 'readFile', 'readHomeDownload']
  const open = ['me', 'listContainers', 'containerStatus', 'listOwnGroups', ...downloads]
  const params: Record<string, string> = { container_type: 'dev', id: '1', user_id: '1', ticket: 'x' }
  const rows = Object.entries<Endpoint>(endpoints).filter(([, row]) => row.method === 'GET' && row.access === 'user')
  assert.ok(rows.length > open.length)
  for (const [name, row] of rows) {
    const target = row.path.replaceAll(/\{(\w+)\}/g, (_, key: string) => params[key] ?? key)
    const headers = { cookie: `spawner_token=${bob.token}`, 'sec-fetch-mode': 'cors', 'sec-fetch-site': 'same-origin' }
    const { status, body } = await berth.call('GET', target, { headers })
    const isForgeable = status === 403 && body.error === refusals.forgeable().message
    assert.equal(isForgeable, !open.includes(name), `${name}: ${status} ${JSON.stringify(body)}`)
  }
})

test('the proof is in a page that a person navigated to, not in one that a script fetched', async () => {
  const cookie = `spawner_token=${bob.token}`
  const document = { cookie, accept: 'text/html', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
  const fetched = { cookie, accept: 'text/html', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }
  const proofIn = async (headers: Record<string, string>): Promise<string | null> =>
    JSON.parse(/id="boot"[^>]*>(.*?)<\/script>/.exec((await rawCall(berth, 'GET', '/', headers)).text)?.[1] ?? '').csrf
  assert.equal(await proofIn(fetched), null)
  // A container's service worker can have such a navigation answered to itself, and a server in front redirect it to `/`.
  for (const value of ['true', ''])
    assert.equal(await proofIn({ ...document, 'service-worker-navigation-preload': value }), null)
  const proof = await proofIn(document)
  const headers = { cookie, origin: berth.url, 'sec-fetch-site': 'same-origin', 'x-csrf-token': String(proof) }
  assertOk(await berth.call('POST', '/api/auth/logout', { headers }))
})

/** Browsers send cookies with longer paths first; a hostile page can add as many as it likes. */
test('junk cookies of our name, however many, neither sign a user in nor lock their owner out', async () => {
  const [own, other] = [
    await berth.signUpWithoutContainer('toss-own@x.org'),
    await berth.signUpWithoutContainer('toss-other@x.org'),
  ]
  const junk = Array.from({ length: 30 }, (_, index) => `spawner_token=junk${index}`)
  const me = (...values: string[]) =>
    berth.call('GET', '/api/user/me', {
      headers: { cookie: [...junk, ...values.map((value) => `spawner_token=${value}`)].join('; ') },
    })
  assert.equal((await me(own.token)).body.user.id, own.id)
  assert.equal((await me(other.token, own.token)).status, 401)
})

/** Not signed, but in every other way like ours. */
const forgeries = (of: string, count: number) => {
  const [head, claims] = of.split('.')
  return Array.from({ length: count }, () => `spawner_token=${head}.${claims}.${randomBytes(64).toString('base64url')}`)
}

test('forged tokens, however many, neither push the real one out nor take long', async () => {
  const [own, other] = [
    await berth.signUpWithoutContainer('forged-own@x.org'),
    await berth.signUpWithoutContainer('forged-other@x.org'),
  ]
  const cookie = () => [...forgeries(other.token, 25), `spawner_token=${own.token}`].join('; ')
  for (const path of ['/api/user/me', '/forged-own-dev/']) {
    const verified = await countVerifications(async () => {
      const { status, text } = await berth.call('GET', path, { headers: { cookie: cookie() } })
      assert.ok(status !== 401 && status !== 431, text)
    })
    assert.ok(verified >= 1 && verified <= 10, `${verified} signatures were checked`)
  }
})

/** How many signatures are checked meanwhile, in this process, which API and gateway share here. */
async function countVerifications(work: () => Promise<void>): Promise<number> {
  const verifySignature = crypto.verify
  let count = 0
  const counted = (...given: Parameters<typeof verifySignature>) => {
    count += 1
    return verifySignature(...given)
  }
  crypto.verify = counted as typeof verifySignature
  syncBuiltinESMExports()
  try {
    await work()
  } finally {
    crypto.verify = verifySignature
    syncBuiltinESMExports()
  }
  return count
}
