// Part of npm run test:more: a second scheme of what other journeys have over http.
import assert from 'node:assert/strict'
import path from 'node:path'
import { after, test } from 'node:test'
import { tokenBy, until } from '#test/support/api-calls.ts'
import { startBerth } from '#test/support/berth.ts'
import { openTab, steadily } from '#test/support/browser.ts'
import { noCreateRuntime } from '#test/support/engine/faulty-runtimes.ts'
import { startTlsProxy } from '#test/support/gateway/tls-proxy.ts'

/**
 * Ann's browser reaches Berth by https, and a page of a container of hers tries to make it another user's: it sets
 * cookies of the token's name, which its own owner, Eve, could have put there.
 */
const host = 'spawner.berth.test'
const proxy = await startTlsProxy({ after }, host)
const webDir = path.resolve(import.meta.dirname, '../../../web/dist')
const env = {
  PREFERRED_URL_SCHEME: 'https',
  BASE_DOMAIN: `berth.test:${proxy.port}`,
  TRUSTED_PROXIES: '127.0.0.1',
  MAGIC_LINK_RATE_LIMIT: '20',
}
const berth = await startBerth({ after }, { webDir, env, wrapRuntime: noCreateRuntime })
proxy.leadTo(berth.app.port)
const eve = await berth.signUp('eve@x.org')
await berth.signUp('ann@x.org')
const { page } = await openTab({ after }, host)

const companion = '__Host-Http-spawner_bind'
const cookies = async (name: string) => (await page.context().cookies()).filter((cookie) => cookie.name === name)
/** Stands for what Ann's container answers: what counts is that it is a page of this origin. */
await page.route('**/ann-dev/page', (route) => route.fulfill({ contentType: 'text/html', body: '<p>an app</p>' }))

const open = (address: string) => steadily(() => page.goto(address))
const openContainer = () => open(`${berth.app.spawnerUrl}/ann-dev/page`)
const statusOf = (address: string) =>
  steadily(() => page.evaluate(async (target) => (await fetch(target)).status, address))
const emailNow = () =>
  steadily(() => page.evaluate(async () => (await (await fetch('/api/user/me')).json()).user?.email ?? null))
/**
 * As a script of a container's page: the token of another user, wherever it may be put. Resolves when the browser would send
 * them: it stores a script's cookies a moment after the script, which failed this test once on a busy machine.
 */
async function toss(): Promise<void> {
  await page.evaluate(
    ([name, token]) => {
      for (const where of [
        'path=/api',
        'path=/api/user',
        'path=/ann-dev/',
        'path=/',
        'path=/; domain=spawner.berth.test',
      ])
        document.cookie = `spawner_token=${token}; ${where}; secure`
      for (const attributes of ['path=/; secure', 'path=/; secure; max-age=0'])
        document.cookie = `${name}=x; ${attributes}`
    },
    [companion, eve.token],
  )
  await until(async () => (await cookies('spawner_token')).length > 3)
}

test('signing in leaves the token and its companion, which no script can read', async () => {
  await steadily(async () => {
    const link = await tokenBy(berth, 'login', 'ann@x.org')
    await page.goto(`${berth.app.frontendUrl}/verify-login?token=${link}`)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Your containers' }).waitFor()
  })
  const [token] = await cookies('spawner_token')
  const [bind] = await cookies(companion)
  assert.deepEqual([token?.secure, token?.httpOnly, token?.domain], [true, true, '.berth.test'])
  assert.deepEqual([bind?.secure, bind?.httpOnly, bind?.domain], [true, true, host])
  assert.equal(await page.evaluate(() => document.cookie), '')
})

test('tokens that a page tosses in change nothing: API and gateway believe the one that was delivered here', async () => {
  await openContainer()
  const [before] = await cookies(companion)
  await toss()
  assert.deepEqual(await cookies(companion), [before], 'no script sets or removes the companion')
  assert.equal(await emailNow(), 'ann@x.org')
  // There is no container; Eve would be told that this one is not hers.
  for (const status of [await statusOf('/ann-dev/'), await statusOf('/ann-dev/x')])
    assert.ok(status !== 401 && status !== 403, `the gateway answers ${status}`)
})

test('without the companion no token is accepted, and a tossed cookie is removed with the rest', async () => {
  await page.context().clearCookies({ name: companion })
  assert.equal(await statusOf('/api/user/me'), 401)
  assert.equal(await emailNow(), null, 'not Eve')
  const left = (await cookies('spawner_token')).map((cookie) => cookie.path)
  assert.deepEqual(left, ['/ann-dev/'], 'only what was not sent to that address')
})
