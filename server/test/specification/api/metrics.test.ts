import assert from 'node:assert/strict'
import { get } from 'node:http'
import { createServer } from 'node:net'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { assertOk, assertRefused } from '../../support/api-calls.ts'
import { startBerth } from '../../support/berth.ts'
import { noCreateRuntime } from '../../support/engine/faulty-runtimes.ts'
import { firstOfList } from '#test/support/extent.ts'

/** Who may read the metrics: they tell, among other things, whether a mail was sent to an address just typed. */

const wrapRuntime = noCreateRuntime
const berth = await startBerth({ after }, { wrapRuntime })
const METRICS_TOKEN = 'a-token-for-prometheus'
const guarded = await startBerth({ after }, { wrapRuntime, env: { METRICS_TOKEN } })
const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })

test('without a token of their own, the metrics are for this machine', async () => {
  const reply = await berth.call('GET', '/metrics')
  assertOk(reply)
  assert.match(reply.text, /^berth_mail_accepted_total \d+$/m)
})

const forwarding = ['X-Forwarded-For', 'x_forwarded_for', 'Forwarded', 'Via', 'X-Real-IP', 'X-Forwarded-Host']
for (const [index, header] of forwarding.entries())
  test(
    `what a proxy on this machine passes on (${header}) is not this machine's, trusted or not`,
    firstOfList(index),
    async (t) => {
      const headers = { [header]: '127.0.0.1' }
      assertRefused(await berth.call('GET', '/metrics', { headers }), 403)
      const behind = await startBerth(t, { wrapRuntime, env: { TRUSTED_PROXIES: '127.0.0.1' } })
      assertRefused(await behind.call('GET', '/metrics', { headers }), 403)
    },
  )

// nginx with `proxy_pass` alone sends neither X-Forwarded-For nor the Host that was asked for: the metrics were public.
test('a proxy that sends no forwarding header is not this machine: neither a trusted one, nor one that keeps Host', async (t) => {
  const behind = await startBerth(t, { wrapRuntime, env: { TRUSTED_PROXIES: '127.0.0.1' } })
  assertRefused(await behind.call('GET', '/metrics'), 403)
  assertOk(await behind.operate('GET', '/metrics'))
  const status = async (host: string) => (await rawGet(berth.url, host)).status
  const { port } = new URL(berth.url)
  for (const host of [
    'berth.example.org',
    `192.0.2.1:${port}`,
    'localhost.evil.example',
    'notlocalhost',
    '127.0.0.1.nip.io',
  ])
    assert.equal(await status(host), 403, host)
  for (const host of [
    'localhost',
    `localhost:${port}`,
    `127.0.0.1:${port}`,
    '127.9.9.9',
    '[::1]',
    `[::1]:${port}`,
    'a.localhost',
  ])
    assert.equal(await status(host), 200, host)
})

test('no header of a client passes for what the gateway says of it', async () => {
  for (const name of ['X-Berth-Proxy', 'x_berth_proxy', 'X.Berth.Proxy']) {
    const headers = { [name]: 'none', 'x-forwarded-for': '127.0.0.1' }
    assertRefused(await berth.call('GET', '/metrics', { headers }), 403)
  }
})

test('with METRICS_TOKEN they are for clients that send it, from any address, and for no other', async () => {
  for (const options of [{}, bearer('another-token-12345678'), bearer(''), bearer(`${METRICS_TOKEN}x`)])
    assertRefused(await guarded.call('GET', '/metrics', options), 403)
  assertOk(await guarded.call('GET', '/metrics', bearer(METRICS_TOKEN)))
  const { headers } = bearer(METRICS_TOKEN)
  assertOk(await guarded.call('GET', '/metrics', { headers: { ...headers, 'x-forwarded-for': '203.0.113.1' } }))
  assertOk(await guarded.operate('GET', '/metrics'))
  assert.doesNotMatch(guarded.logs.join(''), new RegExp(METRICS_TOKEN))
})

test('an administrator by session is refused: the token is for programs', async () => {
  const { token } = await guarded.administrator()
  assertRefused(await guarded.call('GET', '/metrics', { token }), 403)
})

test('the refusal is said in the language of who asks', async () => {
  const headers = { 'accept-language': 'de' }
  assert.match((await guarded.call('GET', '/metrics', { headers })).body.error, /nicht öffentlich/)
})

test('many who ask within a second are answered with one text', async () => {
  const begun = performance.now()
  const replies = await Promise.all(Array.from({ length: 20 }, () => berth.call('GET', '/metrics')))
  const texts = new Set(replies.map(({ text }) => text))
  // One for each second that the answers took, and one that was kept from before.
  const allowed = 1 + Math.ceil((performance.now() - begun) / 1_000)
  assert.ok(texts.size <= allowed, `${texts.size} texts, ${allowed} allowed`)
  // The text is kept for a second.
  await sleep(1_100)
  assert.ok(!texts.has((await berth.call('GET', '/metrics')).text))
})

test('METRICS_LISTEN has a listener of its own, and the public one says 404', async (t) => {
  const port = await freePort()
  const env = { METRICS_LISTEN: `127.0.0.1:${port}` }
  const apart = await startBerth(t, { wrapRuntime, env: { ...env, METRICS_TOKEN } })
  assertRefused(await apart.call('GET', '/metrics', bearer(METRICS_TOKEN)), 404)
  const own = (path: string, init?: object) => fetch(`http://127.0.0.1:${port}${path}`, init)
  const { status, headers } = await own('/metrics', bearer(METRICS_TOKEN))
  assert.equal(status, 200)
  assert.match(headers.get('content-type') ?? '', /^text\/plain/)
  assert.equal((await own('/metrics')).status, 403)
  for (const path of ['/', '/api/user/me', '/metrics/x', '/healthz'])
    assert.equal((await own(path, bearer(METRICS_TOKEN))).status, 404, path)
  assert.equal((await own('/metrics', { method: 'POST', ...bearer(METRICS_TOKEN) })).status, 404)
  await apart.close()
  await assert.rejects(own('/metrics'))
})

test('a METRICS_LISTEN that is in use blocks no sign-in, is reported, and is bound when it is free', async (t) => {
  const port = await freePort()
  const other = createServer().listen(port, '127.0.0.1')
  t.after(() => void other.close())
  const apart = await startBerth(t, { wrapRuntime, env: { METRICS_LISTEN: `127.0.0.1:${port}` } })
  const { token } = await apart.administrator()
  const warnings = async () => (await apart.call('GET', '/api/admin/system', { token })).body.warnings.join('\n')
  assert.match(await warnings(), /METRICS_LISTEN=127.0.0.1:\d+ could not be started: EADDRINUSE/)
  await new Promise((resolve) => other.close(resolve))
  for (let n = 0; n < 100 && (await warnings()).includes('METRICS_LISTEN'); n++) await sleep(100)
  assert.doesNotMatch(await warnings(), /METRICS_LISTEN/)
  assert.equal((await fetch(`http://127.0.0.1:${port}/metrics`)).status, 200)
})

/** `fetch` sends no other `Host` than that of the address. */
async function rawGet(url: string, host: string): Promise<{ status: number | undefined }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number | undefined }>()
  get(`${url}/metrics`, { headers: { host } }, (response) => {
    response.resume()
    resolve({ status: response.statusCode })
  }).on('error', reject)
  return promise
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' ? (address?.port ?? 0) : 0
}
