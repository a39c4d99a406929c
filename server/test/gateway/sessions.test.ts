import assert from 'node:assert/strict'
import http from 'node:http'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ControlPlane } from '@berth/gateway/port/gateway.ts'
import { isEnded, openStreams, type Streams } from '#test/support/gateway/open-streams.ts'
import { startGatewayHarness } from '#test/support/gateway/gateway-harness.ts'
import { get, isOver, rawClient, until } from '#test/support/gateway/raw-client.ts'
import { annToken, browser, tokenFor } from '#test/support/gateway/tokens.ts'
import { keptHead, upgradeHead } from '#test/support/gateway/http-text.ts'
import { timeLimit } from '#test/support/extent.ts'

/** Within which time a stream must be cut, in ms. */
const limit = timeLimit(1_500)

const isCut = ({ clients }: Streams) =>
  Object.entries(clients).every(([name, client]) =>
    ['events', 'socket'].includes(name) ? isOver(client) : isEnded(client),
  )
const isUncut = ({ clients }: Streams) =>
  Object.entries(clients).every(
    ([name, client]) => !(['events', 'socket'].includes(name) ? isOver(client) : isEnded(client)),
  )
const until90Days = async () => Date.now() + 90 * 86_400_000

/** In seconds. */
const tokenLife = 3
/** Made when the gateway listens, so that it lives when the streams are opened. */
const shortToken = () => tokenFor(1, { sid: 'laptop', expiresIn: tokenLife })

test('what is open lives as long as its session, not as its token, and ends within a second of it', async (t) => {
  const asked: string[] = []
  const sessionEnd = (sid: string) => (asked.push(sid), until90Days())
  const streams = await openStreams(t, shortToken, { control: { sessionEnd } })
  await sleep(4_000)
  assert.ok(isUncut(streams), 'a stream was cut although its session lasts')
  assert.deepEqual(asked, ['laptop'], 'one question for all streams of a session')
  const revocation = { jti: 'laptop', expiresAt: Date.now() + 3_600_000 }
  await streams.bench.gateway.apply([{ kind: 'revoked', revocation }])
  await until('all are cut', () => isCut(streams), limit)
})

test('a session that ends by time ends what it has open', async (t) => {
  let ends = 0
  const token = () => {
    ends = Date.now() + 7_000
    return shortToken()
  }
  const streams = await openStreams(t, token, { control: { sessionEnd: async () => (ends > Date.now() ? ends : 0) } })
  await sleep(3_500)
  assert.ok(isUncut(streams))
  ends = 0
  await until('all are cut', () => isCut(streams), 3_500 + limit)
})

test('while no control plane answers, what is open stays, and is judged once it does', async (t) => {
  const answers: { value: () => Promise<number> } = { value: () => Promise.reject(new Error('it restarts')) }
  const streams = await openStreams(t, shortToken, { control: { sessionEnd: () => answers.value() } })
  await sleep(4_000)
  assert.ok(isUncut(streams))
  answers.value = async () => 0
  await until('all are cut', () => isCut(streams), 1_000 + limit)
})

test('a session that a block ended opens no stream with its token, and requests are answered', async (t) => {
  const token = await tokenFor(1, { sid: 'laptop' })
  const known = await startGatewayHarness(t, app())
  const ended = { jti: 'ended laptop', expiresAt: Date.now() + 3_600_000 }
  await known.gateway.replace({ ...known.known, revoked: [ended] })
  const headers = { authorization: `Bearer ${token}` }
  assert.equal((await get(known.port, '/ann-dev/', { headers })).status, 200)
  const events = { ...headers, accept: 'text/event-stream' }
  const refused = await get(known.port, '/ann-dev/', { headers: events })
  assert.equal(refused.status, 401)
  assert.match(refused.body, /^\{"error":"Your sign-in ended when this account was blocked/)
  const socket = await rawClient(t, known.port)
  socket.write(upgradeHead().replace(annToken, token))
  await socket.expect(/^HTTP\/1\.1 401 [^]*\{"error":"Your sign-in ended when this account was blocked/)
  const other = { ...events, authorization: `Bearer ${await tokenFor(1, { sid: 'next' })}` }
  assert.equal((await get(known.port, '/ann-dev/', { headers: other })).status, 200)
})

test('an answer that goes on and on is cut within a second when a block ended its session, and others go on', async (t) => {
  const endless = http.createServer((_, response) => void response.write('x'))
  const { gateway, port } = await startGatewayHarness(t, endless)
  t.after(() => endless.closeAllConnections())
  const open = async (sid: string) => {
    const client = await rawClient(t, port)
    client.write(keptHead('GET /ann-dev/ HTTP/1.1').replace(annToken, await tokenFor(1, { sid })))
    await client.expect(/x\r\n$/)
    return client
  }
  const [ended, lasting] = [await open('laptop'), await open('phone')]
  const revocation = { jti: 'ended laptop', expiresAt: Date.now() + 3_600_000 }
  await gateway.apply([{ kind: 'revoked', revocation }])
  await until('it is cut', () => isOver(ended), limit)
  const late = await open('laptop')
  await until('a later one is cut, too', () => isOver(late), 500 + limit)
  assert.ok(!isOver(lasting))
})

const endingWithToken = [
  ['a takeover', { sid: 'laptop', acting: '2' }, {}],
  ['a token from before sessions', {}, {}],
  ['sessions that are not renewed', { sid: 'laptop' }, { sessionEpoch: null }],
] as const
for (const [what, terms, settings] of endingWithToken)
  test(`${what}: what is open ends with the token`, async (t) => {
    const token = () => tokenFor(1, { ...terms, expiresIn: tokenLife })
    const streams = await openStreams(t, token, { control: { sessionEnd: until90Days } })
    const { bench } = streams
    await bench.gateway.serve({ ...bench.settings, ...settings }, bench.control)
    await until('all are cut', () => isCut(streams), 3_500 + limit)
  })

test('another key file ends what is open, although its session is stored', async (t) => {
  const streams = await openStreams(t, shortToken, { control: { sessionEnd: until90Days } })
  await sleep(4_000)
  assert.ok(isUncut(streams))
  const { bench } = streams
  await bench.gateway.serve(
    { ...bench.settings, sessionEpoch: 'other' },
    { ...bench.control, sessionEnd: async () => 0 },
  )
  await until('all are cut', () => isCut(streams), limit)
})

const app = () => http.createServer((request, response) => response.end(JSON.stringify(request.headers)))
const oldToken = (sid = 'laptop') => tokenFor(1, { sid, age: 2_000, expiresIn: 1_600 })

/** A gateway whose control plane renews by a cookie that says for whom. */
async function renewing(
  t: Parameters<typeof startGatewayHarness>[0],
  more: object = {},
  control: Partial<ControlPlane> = {},
) {
  const asked: string[] = []
  const renewSession = async (sid: string, userId: number, host: string) => {
    asked.push(`${sid} ${userId} ${host}`)
    return [`spawner_token=renewed-${sid}; Path=/`, 'other=1; Path=/']
  }
  const bench = await startGatewayHarness(t, app(), { control: { renewSession, ...control }, ...more })
  return { ...bench, asked }
}

test('a request by cookie in the second half of its token is answered with a new one, which no app sees', async (t) => {
  const { port, asked } = await renewing(t)
  const cookie = `spawner_token=${await oldToken()}; berth_session=0.secret.x; a=1`
  const reply = await get(port, '/ann-dev/', { headers: { cookie, host: 'spawner.test' } })
  assert.equal(reply.status, 200)
  assert.deepEqual(reply.headers['set-cookie'], ['spawner_token=renewed-laptop; Path=/', 'other=1; Path=/'])
  assert.match(reply.body, /a=1/)
  assert.doesNotMatch(reply.body, /renewed|berth_session|secret/)
  assert.deepEqual(asked, ['laptop 1 spawner.test'])
})

test('many requests at once renew a session once', async (t) => {
  const { port, asked } = await renewing(t)
  const cookie = `spawner_token=${await oldToken()}`
  await Promise.all(Array.from({ length: 20 }, () => get(port, '/ann-dev/', { headers: { cookie } })))
  assert.equal(asked.length, 1)
})

test('the token of a renewal is renewed in its turn, however short its life', async (t) => {
  const { port, asked } = await renewing(t)
  for (const cookie of [`spawner_token=${await oldToken()}`, `spawner_token=${await oldToken()}`])
    await get(port, '/ann-dev/', { headers: { cookie } })
  assert.equal(asked.length, 2)
})

test('a token in the first half, in a header, or of a takeover is not renewed', async (t) => {
  const { port, asked } = await renewing(t)
  const young = { cookie: `spawner_token=${await tokenFor(1, { sid: 'laptop' })}` }
  const byHeader = { authorization: `Bearer ${await oldToken()}` }
  const acting = { cookie: `spawner_token=${await tokenFor(1, { sid: 'x', acting: '2', age: 800, expiresIn: 100 })}` }
  for (const headers of [young, byHeader, acting])
    assert.equal((await get(port, '/ann-dev/', { headers })).headers['set-cookie'], undefined)
  assert.deepEqual(asked, [])
})

test('a control plane that fails or is slow costs a request nothing but a moment', async (t) => {
  const renewSession = () => Promise.reject(new Error('it restarts'))
  const { port } = await renewing(t, {}, { renewSession })
  const reply = await get(port, '/ann-dev/', { headers: { cookie: `spawner_token=${await oldToken()}` } })
  assert.deepEqual([reply.status, reply.headers['set-cookie']], [200, undefined])
})

test('a renewal that failed is tried again after a second, and one that comes late is given to the next request', async (t) => {
  const late = Promise.withResolvers<readonly string[]>()
  const answers = [() => Promise.reject(new Error('it restarts')), () => late.promise]
  const { port } = await renewing(t, {}, { renewSession: async () => (await answers.shift()?.()) ?? [] })
  const cookie = `spawner_token=${await tokenFor(1, { sid: 'laptop', age: 30_000, expiresIn: 20_000 })}`
  const renewed = async () => (await get(port, '/ann-dev/', { headers: { cookie } })).headers['set-cookie']
  const begun = performance.now()
  assert.equal(await renewed(), undefined)
  assert.equal(await renewed(), undefined)
  // On a busy machine the second is over by then.
  if (performance.now() - begun < 900) assert.equal(answers.length, 1, 'not with each request')
  await sleep(1_100)
  assert.equal(await renewed(), undefined, 'it takes longer than a request waits')
  assert.equal(answers.length, 0)
  late.resolve(['spawner_token=late; Path=/'])
  assert.deepEqual(await renewed(), ['spawner_token=late; Path=/'])
})

test('the answer of a public app that renews a token is for no shared cache', async (t) => {
  const { port } = await renewing(t, { rules: { access: 'public' } })
  const reply = await get(port, '/ann-dev/', { headers: { cookie: `spawner_token=${await oldToken()}` } })
  assert.equal(reply.headers['set-cookie']?.length, 2)
  assert.match(String(reply.headers['cache-control']), /private/)
})

test('uses of a session are reported once a minute at most', async (t) => {
  const uses: string[] = []
  const reportSessionUses: ControlPlane['reportSessionUses'] = (all) => uses.push(...all.map(({ sid }) => sid))
  const { port } = await renewing(t, {}, { reportSessionUses })
  const headers = { authorization: `Bearer ${await tokenFor(1, { sid: 'laptop' })}` }
  for (let each = 0; each < 5; each++) await get(port, '/ann-dev/', { headers })
  await until('the use is reported', () => uses.length > 0)
  await sleep(1_200)
  assert.deepEqual(uses, ['laptop'])
})

// A session that ends after seconds ended although its user typed on a WebSocket: the next report was due in a minute.
test('uses of a session that ends soon without them are reported as often as the settings say', async (t) => {
  const uses: number[] = []
  const reportSessionUses: ControlPlane['reportSessionUses'] = (all) => uses.push(...all.map(({ at }) => at))
  const { port } = await renewing(t, { settings: { sessionUseInterval: 100 } }, { reportSessionUses })
  const headers = { authorization: `Bearer ${await tokenFor(1, { sid: 'laptop' })}` }
  for (const count of [1, 2]) {
    await sleep(200)
    await get(port, '/ann-dev/', { headers })
    await until('the use is reported', () => uses.length === count)
  }
})

test('a navigation without a good token goes to the address that renews the session; a program gets 401', async (t) => {
  const { port } = await renewing(t)
  const reply = await get(port, '/ann-dev/a?b=1', { headers: browser })
  assert.equal(reply.status, 302)
  assert.equal(reply.headers.location, 'http://spawner.test/login?next=%2Fann-dev%2Fa%3Fb%3D1')
  assert.equal((await get(port, '/ann-dev/a')).status, 401)
})
