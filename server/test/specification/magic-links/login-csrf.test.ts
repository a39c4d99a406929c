import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { tokenBy } from '../../support/api-calls.ts'
import { startBerth, type Berth } from '../../support/berth.ts'
import { noCreateRuntime } from '../../support/engine/faulty-runtimes.ts'
import { rawCall } from '../../support/raw-request.ts'

/**
 * A page that makes a browser use a link must not sign its user in to another account: cookies are set only for a page of
 * Berth's own, for the browser that asked for the link, and for plain clients.
 */
const env = { BASE_DOMAIN: 'berth.example', MAGIC_LINK_RATE_LIMIT: '100' }
const options = (scheme: string) => ({ wrapRuntime: noCreateRuntime, env: { ...env, PREFERRED_URL_SCHEME: scheme } })
const berths = {
  http: await startBerth({ after }, options('http')),
  https: await startBerth({ after }, options('https')),
}
const names = { http: 'spawner_visit', https: '__Host-Http-spawner_visit' }
const host = 'spawner.berth.example'
const navigation = { host, accept: 'text/html', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
const script = { host, 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty', 'sec-fetch-site': 'same-origin' }

/** What a browser has after a person opened a page. */
async function open(berth: Berth, headers: Record<string, string> = {}, page = '/verify-login') {
  const answer = await rawCall(berth, 'GET', page, { ...navigation, ...headers })
  const boot = JSON.parse(/id="boot"[^>]*>(.*?)<\/script>/.exec(answer.text)?.[1] ?? '{}')
  const line = answer.headers['set-cookie']?.find((each) => each.includes('spawner_visit=')) ?? ''
  return { line, cookie: line.split(';')[0] ?? '', proof: boot.visit as string | null }
}
/** Uses a link of this person up. @returns how many cookies were set, other than to take some away */
async function signIn(berth: Berth, headers: Record<string, string>): Promise<number> {
  const link = await tokenBy(berth, 'login', 'eve@x.org')
  const answer = await rawCall(berth, 'GET', `/api/auth/verify-login?token=${link}`, headers)
  assert.equal(answer.status, 200)
  assert.ok(JSON.parse(answer.text).access_token, 'the answer is the specified one in any case')
  return (answer.headers['set-cookie'] ?? []).filter((each) => !each.includes('Max-Age=0')).length
}
for (const berth of Object.values(berths)) await berth.signUpWithoutContainer('eve@x.org')

for (const scheme of ['http', 'https'] as const) {
  const [berth, name] = [berths[scheme], names[scheme]]

  test(`${scheme}: a page that fetches a verify endpoint gets its answer, and the browser no cookie`, async () => {
    for (const site of ['same-origin', 'same-site', 'cross-site'])
      for (const proof of [{}, { 'x-csrf-token': 'guess' }])
        assert.equal(await signIn(berth, { ...script, 'sec-fetch-site': site, ...proof }), 0)
    assert.equal(await signIn(berth, { ...script, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }), 0)
  })

  test(`${scheme}: a page of Berth's own that a person navigated to does`, async () => {
    const { line, cookie, proof } = await open(berth)
    assert.deepEqual(line.split('; ').slice(1).sort(), [
      'HttpOnly',
      'Path=/',
      'SameSite=Lax',
      ...(scheme === 'https' ? ['Secure'] : []),
    ])
    assert.ok(line.startsWith(`${name}=`))
    assert.ok((await signIn(berth, { ...script, cookie, 'x-csrf-token': String(proof) })) > 0)
  })

  test(`${scheme}: the proof is of this browser's own cookie, and neither is enough alone`, async () => {
    const [mine, theirs] = [await open(berth), await open(berth)]
    assert.equal(await signIn(berth, { ...script, cookie: mine.cookie }), 0)
    assert.equal(await signIn(berth, { ...script, 'x-csrf-token': String(mine.proof) }), 0)
    assert.equal(await signIn(berth, { ...script, cookie: mine.cookie, 'x-csrf-token': String(theirs.proof) }), 0)
    const both = `${theirs.cookie}; ${mine.cookie}`
    for (const proof of [mine.proof, theirs.proof])
      assert.equal(await signIn(berth, { ...script, cookie: both, 'x-csrf-token': String(proof) }), 0)
  })

  test(`${scheme}: another site is refused whatever it has`, async () => {
    const { cookie, proof } = await open(berth)
    const headers = { ...script, 'sec-fetch-site': 'cross-site', cookie, 'x-csrf-token': String(proof) }
    assert.equal(await signIn(berth, headers), 0)
  })

  test(`${scheme}: who has the cookie keeps it, so that each of several tabs can sign in`, async () => {
    const first = await open(berth)
    const second = await open(berth, { cookie: first.cookie })
    assert.equal(second.line, '')
    for (const { proof } of [first, second])
      assert.ok((await signIn(berth, { ...script, cookie: first.cookie, 'x-csrf-token': String(proof) })) > 0)
  })

  test(`${scheme}: the pages that people sign in from have the proof when they are navigated to, not when they are fetched`, async () => {
    for (const page of ['/login', '/signup', '/verify-login', '/verify-signup']) {
      assert.ok((await open(berth, {}, page)).proof)
      assert.deepEqual(await open(berth, { 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }, page), {
        line: '',
        cookie: '',
        proof: null,
      })
    }
  })
}

const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'

test('a browser that a mail, a chat program or a page leads to the endpoint itself is given none', async () => {
  for (const berth of Object.values(berths)) {
    for (const site of ['none', 'cross-site', 'same-site', 'same-origin'])
      assert.equal(await signIn(berth, { ...navigation, 'sec-fetch-site': site }), 0, site)
    assert.equal(await signIn(berth, navigation), 0)
    // Plain http away from localhost: no Sec-Fetch headers.
    assert.equal(await signIn(berth, { host, accept: 'text/html,*/*;q=0.8', 'user-agent': firefox }), 0)
  }
})

test('plain clients are given cookies', async () => {
  for (const berth of Object.values(berths)) {
    assert.ok((await signIn(berth, { host })) > 0)
    assert.ok((await signIn(berth, { host, 'sec-fetch-mode': 'cors', 'user-agent': 'node' })) > 0)
    assert.ok((await signIn(berth, { host, accept: '*/*', 'user-agent': 'curl/8.14' })) > 0)
  }
})

test('cookies that were tossed in beside the own one are taken out of the browser, so that the next try succeeds', async () => {
  const berth = berths.http
  const [mine, theirs] = [await open(berth), await open(berth)]
  const link = await tokenBy(berth, 'login', 'eve@x.org')
  const headers = { ...script, cookie: `${theirs.cookie}; ${mine.cookie}`, 'x-csrf-token': String(mine.proof) }
  const answer = await rawCall(berth, 'GET', `/api/auth/verify-login?token=${link}`, headers)
  const lines = answer.headers['set-cookie'] ?? []
  for (const path of ['/', '/api', '/api/', '/api/auth', '/api/auth/verify-login'])
    assert.ok(
      lines.some((line) => line.startsWith('spawner_visit=;') && line.includes(`Path=${path};`)),
      path,
    )
})
