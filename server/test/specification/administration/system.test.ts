import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Runtime } from '#/engines/runtime.ts'
import { assertOk, assertRefused } from '../../support/api-calls.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import { startBerth } from '../../support/berth.ts'
import { unreachableRuntime, noCreateRuntime, type Fault } from '../../support/engine/faulty-runtimes.ts'

const deafness: Fault = { active: false }
let pings = 0
const counted = (runtime: Runtime): Runtime =>
  new Proxy(runtime, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name)
      if (name === 'ping') pings++
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
const berth = await startBerth(
  { after },
  {
    wrapRuntime: (runtime) => counted(unreachableRuntime(noCreateRuntime(runtime), deafness)),
    env: { BASE_DOMAIN: 'berth.example' },
  },
)

test('GET /healthz is 200 while the process lives, engine or not', async () => {
  assertOk(await berth.call('GET', '/healthz'))
  deafness.active = true
  const reply = await berth.call('GET', '/healthz')
  deafness.active = false
  assertOk(reply)
  assert.deepEqual(reply.body, { status: 'ok' })
})

test('GET /readyz is 200 when store and engine answer', async () => {
  const reply = await berth.call('GET', '/readyz')
  assertOk(reply)
  assert.deepEqual(reply.body, { status: 'ready', parts: { store: 'ok', engine: 'ok', gateway: 'ok' } })
})

// Clients without an account could have store and engine asked as often as they liked.
test('GET /readyz asks store and engine once a second, however often it is asked itself', async () => {
  // An answer is kept for a second.
  await sleep(1_100)
  const [before, begun] = [pings, performance.now()]
  const replies = await Promise.all(Array.from({ length: 50 }, () => berth.call('GET', '/readyz')))
  for (const reply of replies) assertOk(reply)
  // One for each second that the answers took, and one of the engine's health monitor.
  const allowed = Math.ceil((performance.now() - begun) / 1_000) + 1
  assert.ok(pings - before <= allowed, `${pings - before} pings of the engine, ${allowed} allowed`)
})

test('GET /readyz is 503 and names the part that does not answer, and nothing more', async () => {
  // An answer is kept for a second.
  await sleep(1_100)
  deafness.active = true
  const reply = await berth.call('GET', '/readyz')
  deafness.active = false
  assert.equal(reply.status, 503)
  assert.equal(reply.body.parts.store, 'ok')
  assert.notEqual(reply.body.parts.engine, 'ok')
  assert.doesNotMatch(reply.text, /\.sock|ECONN|secret/)
})

test('GET /metrics is Prometheus text, without any address, token or id', async () => {
  const { token } = await berth.signUpWithoutContainer('ann@x.org')
  assertOk(await berth.call('GET', '/api/user/me', { token }))
  const reply = await berth.call('GET', '/metrics')
  assertOk(reply)
  assert.match(reply.headers.get('content-type') ?? '', /^text\/plain/)
  assert.match(reply.text, /^berth_http_requests_total\{.*route="\/api\/user\/me".*\} \d+$/m)
  assert.doesNotMatch(reply.text, /ann|token=/)
  const named = new Set(reply.text.match(/^berth_[a-z_]+?(?=(_bucket|_sum|_count)?[{ ])/gm))
  assert.ok(named.size > 15)
  for (const name of named) assert.match(reply.text, new RegExp(`^# HELP ${name} \\S`, 'm'))
})

test('GET /api/openapi.json travels compressed, and not at all to a client that has it', async () => {
  const get = (headers: Record<string, string>) => fetch(`${url}/api/openapi.json`, { headers })
  const url = `http://127.0.0.1:${berth.app.port}`
  for (const coding of ['br', 'gzip']) {
    const response = await get({ 'accept-encoding': coding })
    assert.equal(response.headers.get('content-encoding'), coding)
    assert.ok(Number(response.headers.get('content-length')) < 60_000)
    assert.equal(response.headers.get('vary'), 'Accept-Encoding')
    const document = (await response.json()) as { openapi: string }
    assert.match(document.openapi, /^3\.1\./)
    const again = await get({ 'accept-encoding': coding, 'if-none-match': response.headers.get('etag') ?? '' })
    assert.equal(again.status, 304)
    assert.equal(await again.text(), '')
  }
  const plain = await get({ 'accept-encoding': 'identity' })
  assert.equal(plain.headers.get('content-encoding'), null)
  assert.match(plain.headers.get('content-type') ?? '', /^application\/json/)
  assert.ok((await plain.text()).length > 100_000)
})

test('GET /api/openapi.json is an OpenAPI 3.1 document of this installation', async () => {
  const reply = await berth.call('GET', '/api/openapi.json')
  assertOk(reply)
  assert.match(reply.body.openapi, /^3\.1\./)
  assert.deepEqual(reply.body.servers, [{ url: 'http://spawner.berth.example' }])
})

test('every path of the API carries the prefix /api with no version segment', async () => {
  const { paths } = (await berth.call('GET', '/api/openapi.json')).body
  const own = Object.keys(paths).filter((path) => path !== '/healthz' && path !== '/readyz')
  for (const path of own) assert.match(path, /^\/api\/(?!v\d)/)
  assertRefused(await berth.call('POST', '/api/v1/auth/login', { body: { email: 'a@x.org' } }), 404)
  assertRefused(await berth.call('POST', '/API/auth/login', { body: { email: 'a@x.org' } }), 404)
})
