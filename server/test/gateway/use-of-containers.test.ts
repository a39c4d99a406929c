import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import WebSocket, { WebSocketServer } from 'ws'
import type { TypeRules, WakeRight } from '@berth/gateway/port/gateway.ts'
import { asleep, startGatewayHarness } from '#test/support/gateway/gateway-harness.ts'
import { get } from '#test/support/gateway/raw-client.ts'
import { closedPort } from '#test/support/gateway/test-apps.ts'
import { annCookie } from '#test/support/gateway/tokens.ts'

/** What counts as use of a container, as its template says (`idle_ignore`, `idle_probe`). */

const page = { accept: 'text/html', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
const poll = { accept: '*/*', 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' }

function echoServer(): http.Server {
  const app = http.createServer((_, response) => response.end('ok'))
  const sockets = new WebSocketServer({ server: app })
  sockets.on('connection', (socket) => socket.on('message', (data) => socket.send(data)))
  return app
}

test('requests and WebSockets of ignored paths are no use of a container; all others are', async (t) => {
  const rules: Partial<TypeRules> = { ignoredPaths: ['/live/*', '/metrics'] }
  const bench = await startGatewayHarness(t, echoServer(), { rules })
  const isUsed = async (use: () => Promise<unknown>) => {
    await sleep(300)
    await use()
    return !(await bench.gateway
      .hold('ann-dev', 250)
      .finally(() => bench.gateway.apply([{ kind: 'route', route: bench.route }])))
  }
  const ask = (path: string) => isUsed(() => get(bench.port, `/ann-dev${path}`, { headers: { ...poll, ...annCookie } }))
  const talk = (path: string) =>
    isUsed(async () => {
      const socket = new WebSocket(`ws://127.0.0.1:${bench.port}/ann-dev${path}`, { headers: annCookie })
      await once(socket, 'open')
      socket.send('hello')
      await once(socket, 'message')
      socket.terminate()
    })
  for (const path of ['/metrics', '/metrics?x=1', '/live/', '/live/a/b'])
    assert.deepEqual([path, await ask(path)], [path, false])
  for (const path of ['/', '/metrics/', '/metricsx', '/live', '/a/live/b', '/%6detrics'])
    assert.deepEqual([path, await ask(path)], [path, true])
  assert.equal(await talk('/live/socket'), false)
  assert.equal(await talk('/socket'), true)
})

test('where the application says whether it is used, a page that was opened prevents a suspension, and nothing else', async (t) => {
  const bench = await startGatewayHarness(t, echoServer(), { rules: { isAskedForUse: true } })
  const ask = (headers: Record<string, string>) =>
    get(bench.port, '/ann-dev/', { headers: { ...headers, ...annCookie } })
  await ask(poll)
  assert.equal(await bench.gateway.hold('ann-dev', 60_000), false)
  assert.equal(await bench.gateway.hold('ann-dev', 60_000, 'navigation'), true)
  await bench.gateway.apply([{ kind: 'route', route: bench.route }])
  await ask(page)
  assert.equal(await bench.gateway.hold('ann-dev', 60_000, 'navigation'), false)
})

test('of a container that sleeps: an open page says that it polls, an ignored path asks for nothing, programs and pages start it', async (t) => {
  const rights: (WakeRight | undefined)[] = []
  const bench = await startGatewayHarness(t, echoServer(), {
    rules: { isAskedForUse: true, ignoredPaths: ['/live'], access: 'public' },
    control: { wake: async (_prefix, _requestId, right) => (rights.push(right), asleep) },
  })
  await bench.gateway.apply([{ kind: 'route', route: { ...bench.route, where: asleep } }])
  const sent = async (headers: Record<string, string>, path = '/') => {
    rights.length = 0
    const { status } = await get(bench.port, `/ann-dev${path}`, { headers: { ...headers, ...annCookie } })
    return [status, ...rights]
  }
  assert.deepEqual(await sent(page), [503, 'start'])
  assert.deepEqual(await sent(poll), [503, 'poll'])
  // On plain http browsers do not say what a request is for.
  for (const name of ['origin', 'referer'])
    assert.deepEqual(await sent({ [name]: `http://127.0.0.1:${bench.port}` }), [503, 'poll'])
  assert.deepEqual(await sent({ 'user-agent': 'Mozilla/5.0 (X11)' }), [503, 'poll'])
  assert.deepEqual(await sent({ 'user-agent': 'curl/8' }), [503, 'use'])
  assert.deepEqual(await sent({}, '/live'), [503])
  rights.length = 0
  assert.equal((await get(bench.port, '/ann-dev/', { headers: poll })).status, 503)
  assert.deepEqual(rights, [], 'the page of a visitor starts nothing')
  const paused = { ...bench.route.where, isPaused: true } as never
  await bench.gateway.apply([{ kind: 'route', route: { ...bench.route, where: paused } }])
  await get(bench.port, '/ann-dev/', { headers: poll })
  assert.deepEqual(rights, ['visitor-poll'])
})

test('a further port is not the application that the template is about: all of its paths are use, and its pages count', async (t) => {
  const app = echoServer()
  const rights: (WakeRight | undefined)[] = []
  const bench = await startGatewayHarness(t, app, {
    rules: { isAskedForUse: true, ignoredPaths: ['/live'] },
    control: { wake: async (_prefix, _requestId, right) => (rights.push(right), asleep) },
  })
  const { port } = app.address() as AddressInfo
  const ask = (path: string, headers: Record<string, string>) =>
    get(bench.port, `/ann-dev:${port}${path}`, { headers: { ...headers, ...annCookie } })
  await ask('/', page)
  assert.equal(await bench.gateway.hold('ann-dev', 60_000, 'navigation'), false)
  await bench.gateway.apply([{ kind: 'route', route: { ...bench.route, where: asleep } }])
  await ask('/live', {})
  assert.deepEqual(rights, ['use'])
})

// A tab that was left open at a port had the container started within three seconds of each stop.
test('the page of a dead port, which asks again by itself, starts no container', async (t) => {
  const rights: (WakeRight | undefined)[] = []
  const bench = await startGatewayHarness(t, echoServer(), {
    control: { wake: async (_prefix, _requestId, right) => (rights.push(right), asleep) },
  })
  const target = `/ann-dev:${await closedPort()}/`
  const ask = (cookie: string) => get(bench.port, target, { headers: { ...page, cookie } })
  const dead = await ask(annCookie.cookie)
  assert.match(dead.body, /http-equiv="refresh"/)
  const [waits = ''] = String(dead.headers['set-cookie']).split(';')
  await bench.gateway.apply([{ kind: 'route', route: { ...bench.route, where: asleep } }])
  const again = await ask(`${annCookie.cookie}; ${waits}`)
  assert.equal(again.status, 503)
  assert.doesNotMatch(again.body, /http-equiv="refresh"/)
  assert.deepEqual(rights, [])
  await ask(annCookie.cookie)
  assert.deepEqual(rights, ['start'], 'a person who opens it starts the container')
})
