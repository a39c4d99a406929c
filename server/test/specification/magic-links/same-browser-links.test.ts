import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertOk, assertRefused } from '../../support/api-calls.ts'
import { CookieBrowser } from '../../support/cookie-browser.ts'
import { startEnginelessBerth, tokenIn } from '../../support/berth-without-engine.ts'

/** A link is used without a press only in the browser that asked for it; see decision 028 for what that has to stand. */
const env = {
  BASE_DOMAIN: 'berth.example',
  MAGIC_LINK_RATE_LIMIT: '1000',
  PREFERRED_URL_SCHEME: 'https',
  SUPPORT_CONTACT: 'room </script> 12',
}
const berth = await startEnginelessBerth({ after }, { env })
const cookieName = '__Host-Http-spawner_asked'

const linkTo = (email: string): string => tokenIn(berth.mails.findLast(({ to }) => to === email) ?? { text: '' })
/** A page asks for a link, with its proof, for this address. */
async function askIn(browser: CookieBrowser, email: string, what = 'login', page = '/login') {
  const { visit } = await browser.open(page)
  const reply = await browser.ask('POST', `/api/auth/${what}`, { proof: visit, body: { email } })
  assertOk(reply)
  return reply
}
const isAskedHere = async (browser: CookieBrowser, email: string, page = '/verify-login') =>
  (await browser.open(`${page}?token=${linkTo(email)}`)).asked_here

for (const email of ['ann@x.org', 'eve@x.org', 'bob@x.org', 'cat@x.org']) {
  assertOk(await berth.call('POST', '/api/auth/signup', { body: { email } }))
  assertOk(await berth.call('GET', `/api/auth/verify-signup?token=${linkTo(email)}`))
}

test('led to the endpoint itself, the browser that asked for the link is signed in, and no other one', async () => {
  const [mine, theirs] = [new CookieBrowser(berth), new CookieBrowser(berth)]
  for (const [browser, email] of [
    [mine, 'eve@x.org'],
    [theirs, 'ann@x.org'],
  ] as const)
    await askIn(browser, email)
  const link = linkTo('ann@x.org')
  await mine.open(`/api/auth/verify-login?token=${link}`)
  assert.equal(mine.valueOf('spawner_token'), undefined)
  await askIn(theirs, 'ann@x.org')
  await theirs.open(`/api/auth/verify-login?token=${linkTo('ann@x.org')}`)
  assert.ok(theirs.valueOf('spawner_token'))
})

test('the browser that asked on one of our pages learns so when the link is opened, and no other one', async () => {
  for (const [page, what] of [
    ['/', 'login'],
    ['/login', 'signup'],
    ['/signup', 'link'],
    ['/check-mail', 'login'],
  ] as const) {
    const browser = new CookieBrowser(berth)
    await askIn(browser, 'ann@x.org', what, page)
    assert.equal(await isAskedHere(browser, 'ann@x.org'), true, page)
    assert.equal(await isAskedHere(new CookieBrowser(berth), 'ann@x.org'), false)
  }
})

test('a signup link, and one that is asked for again, count as well', async () => {
  const browser = new CookieBrowser(berth)
  await askIn(browser, 'new@x.org', 'signup')
  assert.equal(await isAskedHere(browser, 'new@x.org', '/verify-signup'), true)
  const again = new CookieBrowser(berth)
  await askIn(again, 'new@x.org', 'resend-verification')
  assert.equal(await isAskedHere(again, 'new@x.org', '/verify-signup'), true)
  assert.equal(await isAskedHere(again, 'new@x.org', '/verify-login'), false)
})

test('after a lost answer the same page of the same browser may use its link again, for the same session, and nothing else may', async () => {
  const browser = new CookieBrowser(berth)
  await askIn(browser, 'cat@x.org')
  const path = `/api/auth/verify-login?token=${linkTo('cat@x.org')}`
  const { visit } = await browser.open('/login')
  const sessionsOf = async (token: string) =>
    (await berth.call('GET', '/api/user/sessions', { token })).body.sessions.map(({ id }: { id: number }) => id)
  const first = await browser.ask('GET', path, { proof: visit })
  assertOk(first)
  const before = await sessionsOf(first.body.access_token)
  const again = await browser.ask('GET', path, { proof: visit })
  assertOk(again)
  assert.deepEqual(await sessionsOf(again.body.access_token), before)
  assertRefused(await browser.ask('GET', path), 400)
  const other = new CookieBrowser(berth)
  assertRefused(await other.ask('GET', path, { proof: (await other.open('/login')).visit }), 400)
  assertRefused(await berth.call('GET', path), 400)
  assertOk(await berth.call('POST', '/api/auth/logout', { token: again.body.access_token }))
  assertRefused(await browser.ask('GET', path, { proof: visit }), 400)
})

test('looking uses nothing up, and what is used up is no link any more', async () => {
  const browser = new CookieBrowser(berth)
  await askIn(browser, 'ann@x.org')
  const { visit } = await browser.open(`/verify-login?token=${linkTo('ann@x.org')}`)
  assert.equal(await isAskedHere(browser, 'ann@x.org'), true)
  assertOk(await browser.ask('GET', `/api/auth/verify-login?token=${linkTo('ann@x.org')}`, { proof: visit }))
  assert.equal(await isAskedHere(browser, 'ann@x.org'), false)
})

test('the cookie is the same kind for an unknown address, and none can be read from it', async () => {
  const [known, unknown] = [new CookieBrowser(berth), new CookieBrowser(berth)]
  const lines = [await askIn(known, 'ann@x.org'), await askIn(unknown, 'nobody@x.org')].map(
    ({ headers }) => headers.getSetCookie().find((line) => line.startsWith(cookieName)) ?? '',
  )
  for (const line of lines)
    assert.match(
      line,
      /^__Host-Http-spawner_asked=\d{10}-[\w-]{22}; Path=\/; Max-Age=900; HttpOnly; SameSite=Lax; Secure$/,
    )
})

test("a page of a container's cannot make its visitor's browser one that asked for its author's link", async () => {
  const [victim, eve] = [new CookieBrowser(berth), new CookieBrowser(berth)]
  await askIn(victim, 'ann@x.org')
  const proofOfEve = (await eve.open('/login')).visit
  for (const proof of [null, 'guess', proofOfEve])
    await victim.ask('POST', '/api/auth/login', { proof, body: { email: 'eve@x.org' } })
  assert.equal(await isAskedHere(victim, 'eve@x.org'), false)
  // With https no script can set the cookie; were it set all the same, it is of another visit.
  await askIn(eve, 'eve@x.org')
  assert.equal(await isAskedHere(eve, 'eve@x.org'), true)
  const value = eve.valueOf(cookieName) ?? ''
  victim.take(`${cookieName}=${value}; Path=/verify-login`)
  assert.equal(await isAskedHere(victim, 'eve@x.org'), false)
  victim.take(`${cookieName}=; Path=/verify-login; Max-Age=0`)
  victim.take(`${cookieName}=${value}; Path=/`)
  assert.equal(await isAskedHere(victim, 'eve@x.org'), false)
})

test('nor does a link count that is fetched, prefetched, or asked for by a plain client', async () => {
  const browser = new CookieBrowser(berth)
  await askIn(browser, 'ann@x.org')
  const address = `/verify-login?token=${linkTo('ann@x.org')}`
  const cookie = browser.cookiesFor('/verify-login')
  const navigation = { accept: 'text/html', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
  const saysSo = async (headers: Record<string, string>) => {
    const led = new CookieBrowser(berth)
    for (const pair of cookie.split('; ')) led.take(pair)
    const clean = (await led.navigate(address)).headers.get('location') ?? ''
    const sent = { ...headers, cookie: led.cookiesFor('/verify-login') }
    return /"asked_here":true/.test((await berth.call('GET', clean, { headers: sent })).text)
  }
  assert.equal(await saysSo(navigation), true)
  assert.equal(await saysSo({ ...navigation, 'sec-purpose': 'prefetch;prerender' }), false)
  assert.equal(await saysSo({ ...navigation, 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }), false)
  assert.equal(await saysSo({ ...navigation, 'sec-fetch-dest': 'iframe' }), false)
  assert.equal(await saysSo({ accept: 'text/html' }), false)
  const plain = await berth.call('POST', '/api/auth/login', { body: { email: 'ann@x.org' } })
  assert.deepEqual(plain.headers.getSetCookie(), [])
})

test('of several addresses the last three are remembered', async () => {
  const browser = new CookieBrowser(berth)
  const all = ['ann@x.org', 'bob@x.org', 'cat@x.org', 'eve@x.org']
  for (const email of all) await askIn(browser, email)
  await askIn(browser, 'eve@x.org')
  const told: boolean[] = []
  for (const email of all) told.push(await isAskedHere(browser, email))
  assert.deepEqual(told, [false, true, true, true])
})

test('the first page gives the proof to users who are not signed in, and the others to all', async () => {
  const browser = new CookieBrowser(berth)
  const { visit } = await browser.open('/')
  assert.ok(visit)
  await askIn(browser, 'bob@x.org')
  assertOk(await browser.ask('GET', `/api/auth/verify-login?token=${linkTo('bob@x.org')}`, { proof: visit }))
  assert.equal((await browser.open('/')).visit, null)
  for (const page of ['/login', '/signup', '/check-mail']) assert.equal((await browser.open(page)).visit, visit)
  assert.equal((await browser.open('/sessions')).visit, null)
})

test('every page says whom the operator wants to be asked for help, whatever that is', async () => {
  for (const page of ['/', '/login', '/sessions']) {
    const { contact } = await new CookieBrowser(berth).open(page)
    assert.equal(contact, 'room </script> 12')
  }
})
