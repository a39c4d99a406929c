import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import { maxClientConnections } from '@berth/gateway/clients/client-connections.ts'
import { routeTo, startGatewayHarness } from '#test/support/gateway/gateway-harness.ts'
import { headOf, keptHead, switching, upgradeHead } from '#test/support/gateway/http-text.ts'
import { clientFrom, get, rawClient, until, type RawClient, isOver } from '#test/support/gateway/raw-client.ts'
import { echoApp, httpApp, rawApp } from '#test/support/gateway/test-apps.ts'
import { ann, annToken, bob, bobToken } from '#test/support/gateway/tokens.ts'
import { pollUntil } from '#test/support/control-plane.ts'
import { observationTime } from '#test/support/observation-time.ts'

test('one person cannot use up the gateway: too many requests at once get 429, those of others pass', async (t) => {
  let slow = 0
  const app = httpApp((request, response) => (request.url === '/slow' ? void slow++ : void response.end('ok')))
  const bobs = { ...routeTo('bob-dev', 2, 1) }
  const { port, gateway, route } = await startGatewayHarness(t, app, {
    options: { limits: { requestsPerPerson: 5 } },
    rules: { access: 'authenticated' },
    places: [bobs],
  })
  for (let each = 0; each < 5; each++) (await rawClient(t, port)).write(keptHead('GET /ann-dev/slow HTTP/1.1'))
  await until('five are there', () => slow === 5)
  const { status, headers, body } = await get(port, '/ann-dev/', { headers: ann })
  assert.equal(status, 429)
  assert.match(headers['retry-after'] ?? '1', /^\d+$/)
  assert.deepEqual(Object.keys(JSON.parse(body)), ['error'])
  assert.equal((await get(port, '/ann-dev/', { headers: bob })).body, 'ok')
  await gateway.apply([{ kind: 'route', route: { ...route, where: { ...route.where, containerId: 'next' } as never } }])
  await pollUntil(
    async () => (await get(port, '/ann-dev/', { headers: ann })).body === 'ok',
    () => 'the count does not go down again',
  )
})

test("one person's WebSockets do not count for another", async (t) => {
  const { port } = await startGatewayHarness(
    t,
    rawApp((socket) => socket.write(switching)),
    {
      options: { limits: { webSocketsPerPerson: 2 } },
      rules: { access: 'authenticated' },
    },
  )
  const open = async (token: string) => {
    const client = await rawClient(t, port)
    client.write(upgradeHead().replace(annToken, token))
    return /HTTP\/1\.1 (\d+)/.exec(await client.expect(/HTTP\/1\.1 \d+/))?.[1]
  }
  assert.deepEqual([await open(annToken), await open(annToken)], ['101', '101'])
  assert.match((await open(annToken)) ?? '', /429|503/)
  assert.equal(await open(bobToken), '101')
})

test('where too many connections are open the longest idle are closed, and those that carry something go on', async (t) => {
  const answerSlow = Promise.withResolvers<void>()
  let isAsked = false
  const app = httpApp((request, response) => {
    if (request.url !== '/slow') return void response.end('ok')
    isAsked = true
    void answerSlow.promise.then(() => response.end('ok'))
  })
  const { port, gateway } = await startGatewayHarness(t, app, { options: { limits: { connections: 10 } } })
  const busy = await clientFrom(t, port, '127.0.0.2')
  busy.write(keptHead('GET /ann-dev/slow HTTP/1.1'))
  await until('the app is asked', () => isAsked)
  const idle: RawClient[] = []
  for (let each = 0; each < 9; each++) {
    idle.push(await clientFrom(t, port, `127.0.1.${each}`))
    await sleep(60)
  }
  const late = await clientFrom(t, port, '127.0.0.3')
  await until('the first is closed', () => idle.slice(0, 1).every(isOver))
  late.write(keptHead('GET /ann-dev/ HTTP/1.1'))
  await late.expect(/^HTTP\/1\.1 200 /)
  answerSlow.resolve()
  await busy.expect(/^HTTP\/1\.1 200 [^]*ok$/)
  assert.ok(idle.slice(1).every((client) => !isOver(client)))
  const counts = await gateway.counts()
  assert.equal(counts['berth_gateway_connections_evicted_total'], 1)
  assert.equal(counts['berth_gateway_connections'], 10)
})

test('one address cannot take the last connection, however it holds them', async (t) => {
  const { port, gateway } = await startGatewayHarness(
    t,
    httpApp(() => undefined),
    { options: { limits: { connections: 10 } } },
  )
  const greedy: RawClient[] = []
  for (let each = 0; each < 12; each++) {
    const client = await clientFrom(t, port, '127.0.0.2')
    client.write(keptHead('GET /ann-dev/ HTTP/1.1'))
    greedy.push(client)
    await sleep(40)
  }
  await until('half of all are kept', () => greedy.filter((client) => !isOver(client)).length === 5)
  const other = await clientFrom(t, port, '127.0.0.3')
  other.write(headOf('GET /ann-dev/ HTTP/1.1', 'Host: a'))
  await other.expect(/^HTTP\/1\.1 401 /)
  assert.equal((await gateway.counts())['berth_gateway_connections_refused_total'], 7)
})

const openUpgrade = () =>
  headOf(
    'GET /ann-dev/ HTTP/1.1',
    'Host: spawner.test',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  )

const strangersHead = () => headOf('GET /ann-dev/ HTTP/1.1', 'Host: spawner.test')

for (const [what, head] of [
  ['requests that are never answered', strangersHead],
  ['WebSockets', openUpgrade],
] as const)
  test(`visitors of a public app cannot take all connections by ${what}: only their own oldest connections are closed`, async (t) => {
    const app = rawApp((socket, text) => void (/upgrade: websocket/i.test(text) && socket.write(switching)))
    const { port } = await startGatewayHarness(t, app, {
      rules: { access: 'public' },
      options: { limits: { connections: 10 } },
    })
    const owner = await clientFrom(t, port, '127.0.0.9')
    owner.write(keptHead('GET /ann-dev/ HTTP/1.1'))
    await sleep(60)
    const strangers: RawClient[] = []
    for (let each = 0; each < 9; each++) {
      const client = await clientFrom(t, port, `127.0.0.${each % 2 === 0 ? 2 : 3}`)
      client.write(head())
      strangers.push(client)
      await sleep(60)
    }
    const late = await clientFrom(t, port, '127.0.0.4')
    late.write(headOf('GET /max-dev/ HTTP/1.1', 'Host: a'))
    await late.expect(/^HTTP\/1\.1 \d/)
    await until('the oldest is closed', () => strangers.slice(0, 1).every(isOver))
    assert.deepEqual(
      strangers.map((client) => isOver(client)),
      strangers.map((_, at) => at === 0),
    )
    assert.ok(!isOver(owner))
  })

test('unknown clients of one network have as many requests and WebSockets open at one app as a person, and others theirs', async (t) => {
  let atApp = 0
  const app = rawApp((socket, text) => {
    if (/upgrade: websocket/i.test(text)) socket.write(switching)
    else atApp++
  })
  const { port } = await startGatewayHarness(t, app, {
    rules: { access: 'public' },
    options: { limits: { requestsPerPerson: 3, webSocketsPerPerson: 2 } },
  })
  const ask = async (address: string, text: string) => {
    const client = await clientFrom(t, port, address)
    const [before, status] = [atApp, () => /^HTTP\/1\.1 (\d+)/.exec(client.text())?.[1]]
    client.write(text)
    await until('it is refused, or the app has it', () => status() !== undefined || atApp > before)
    return { client, status: status() ?? 'open' }
  }
  const several = async (count: number, address: string, text: string) => {
    const all: Awaited<ReturnType<typeof ask>>[] = []
    for (let each = 0; each < count; each++) all.push(await ask(address, text))
    return all
  }
  const sockets = await several(3, '127.0.0.2', openUpgrade())
  assert.deepEqual(
    sockets.map(({ status }) => status),
    ['101', '101', '429'],
  )
  const requests = await several(4, '127.0.0.2', strangersHead())
  assert.deepEqual(
    requests.map(({ status }) => status),
    ['open', 'open', 'open', '429'],
  )
  assert.equal((await ask('127.0.0.3', strangersHead())).status, 'open')
  assert.equal((await ask('127.0.0.3', openUpgrade())).status, '101')
  for (const { client } of [...sockets, ...requests]) client.socket.destroy()
  for (const [text, wanted] of [
    [strangersHead(), 'open'],
    [openUpgrade(), '101'],
  ] as const)
    await pollUntil(
      async () => (await ask('127.0.0.2', text)).status === wanted,
      () => `not ${wanted} although those before are over`,
    )
})

test('a proxy that is trusted speaks for many, and may open all connections', async (t) => {
  const changes = { settings: { trustedProxies: ['127.0.0.2'] }, options: { limits: { connections: 10 } } }
  const { port } = await startGatewayHarness(
    t,
    httpApp(() => undefined),
    changes,
  )
  const clients: RawClient[] = []
  for (let each = 0; each < 10; each++) clients.push(await clientFrom(t, port, '127.0.0.2'))
  await observationTime(100)
  assert.ok(clients.every((client) => !isOver(client)))
})

test('bytes of unfinished heads are bounded in all: those that began first are closed', async (t) => {
  const { port, gateway } = await startGatewayHarness(t, echoApp(), {
    options: { limits: { unfinishedHeads: 300_000 } },
  })
  const clients: RawClient[] = []
  for (let each = 0; each < 20; each++) {
    const client = await clientFrom(t, port, `127.0.1.${each}`)
    client.write(`GET / HTTP/1.1\r\nHost: a\r\nX-A: ${'x'.repeat(30_000)}`)
    clients.push(client)
    await sleep(20)
  }
  const held = async () => (await gateway.counts())['berth_gateway_unfinished_head_bytes'] ?? 0
  assert.ok((await held()) <= 300_000 && (await held()) > 200_000, `${await held()} bytes`)
  await until('the first are closed', () => clients.slice(0, 10).every(isOver))
  const last = clients.at(-1) as RawClient
  last.write('\r\n\r\n')
  await last.expect(/^HTTP\/1\.1 /)
  for (const { socket } of clients) socket.destroy()
  for (let turn = 0; turn < 100 && (await held()) > 0; turn++) await sleep(20)
  assert.equal(await held(), 0)
})

test('how many connections there may be follows from how many files the process may open', () => {
  const limits = (count: string) =>
    `Limit  Soft Limit  Hard Limit\nMax open files            ${count}    ${count}   files\n`
  assert.equal(maxClientConnections(limits('1048576')), 20_000)
  assert.equal(maxClientConnections(limits('4096')), 1_536)
  assert.equal(maxClientConnections(limits('300')), 64)
  assert.equal(maxClientConnections(limits('unlimited')), 20_000)
  assert.equal(maxClientConnections(''), 20_000)
})
