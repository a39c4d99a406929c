import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { test, type TestContext } from 'node:test'
import WebSocket, { WebSocketServer } from 'ws'
import type { ControlPlane, RouteEntry, Unavailable, WakeRight } from '@berth/gateway/port/gateway.ts'
import {
  asleep,
  routeTo,
  startGatewayHarness,
  type GatewayHarness,
  type HarnessOptions,
} from '#test/support/gateway/gateway-harness.ts'
import { get } from '#test/support/gateway/raw-client.ts'
import { closedPort, echoApp, httpApp, listen, plainApp } from '#test/support/gateway/test-apps.ts'
import { ann, annCookie, bob, browser } from '#test/support/gateway/tokens.ts'
import { routeStates } from '#/containers/routes/routing-snapshot.ts'
import { timeLimit } from '#test/support/extent.ts'

/** Reasons for which a container is not woken. */
const reasons = ['missing', 'crashed', 'out-of-memory', 'no-image', 'failed', 'unknown'] as const
/** Reasons for which a request of the owner wakes it. */
const sleeping = ['asleep', 'evicted', 'node-lost'] as const

const missing: Unavailable = { reason: 'missing', exitCode: null }

const explained = (unavailable: Unavailable): Pick<ControlPlane, 'explain'> => ({
  explain: async () => ({ unavailable, lastLines: [], displayName: 'Development' }),
})

interface Sleeper {
  readonly bench: GatewayHarness
  readonly wakes: string[]
}

/** A container that sleeps; waking it takes 150 ms, then its address is published. */
async function startSleeper(t: TestContext, changes: HarnessOptions = {}, running = plainApp()): Promise<Sleeper> {
  const wakes: string[] = []
  const awake = routeTo('ann-dev', 1, await listen(t, running))
  const bench: GatewayHarness = await startGatewayHarness(t, echoApp(), {
    place: { where: asleep },
    control: {
      wake: async (prefix) => {
        wakes.push(prefix)
        await sleep(150)
        await bench.gateway.apply([{ kind: 'route', route: awake }])
        return undefined
      },
    },
    ...changes,
  })
  return { bench, wakes }
}

test('a program of the owner waits while a container wakes, and gets the answer of the app', async (t) => {
  const { bench, wakes } = await startSleeper(t)
  const answers = await Promise.all([1, 2, 3].map(() => get(bench.port, '/ann-dev/', { headers: ann })))
  assert.deepEqual(
    answers.map(({ body }) => body),
    ['the app', 'the app', 'the app'],
  )
  assert.ok(wakes.length >= 1 && wakes.every((prefix) => prefix === 'ann-dev'))
})

test('a body that is sent to a sleeping container arrives whole', async (t) => {
  const running = httpApp(async (request, response) => {
    response.end(String(Buffer.concat(await request.toArray()).length))
  })
  const { bench } = await startSleeper(t, {}, running)
  const body = Buffer.alloc(3_000_000, 1)
  assert.equal((await get(bench.port, '/ann-dev/', { method: 'POST', headers: ann, body })).body, '3000000')
})

test('a WebSocket of the owner waits while a container wakes', async (t) => {
  const running = plainApp()
  const sockets = new WebSocketServer({ server: running })
  t.after(() => sockets.close())
  const { bench } = await startSleeper(t, {}, running)
  const socket = new WebSocket(`ws://127.0.0.1:${bench.port}/ann-dev/`, { headers: ann })
  t.after(() => socket.terminate())
  await once(socket, 'open')
})

test('a browser sees progress and moves on by itself once the app answers', async (t) => {
  const { bench } = await startSleeper(t)
  const page = await get(bench.port, '/ann-dev/x?y', { headers: { ...browser, ...annCookie } })
  if (page.body === 'the app') return
  assert.equal(page.status, 503)
  assert.match(page.headers['retry-after'] ?? '', /^\d+$/)
  assert.match(page.headers['content-type'] ?? '', /^text\/html/)
  assert.match(page.body, /http-equiv="refresh"/)
  assert.equal((await get(bench.port, '/ann-dev/x?y', { headers: { ...browser, ...annCookie } })).body, 'the app')
})

test('pages say how long a start usually takes here, once three of the type were seen', async (t) => {
  const { bench } = await startSleeper(t)
  const put = (where: Unavailable) =>
    bench.gateway.apply([{ kind: 'route', route: { ...routeTo('ann-dev', 1, 1), where } }])
  const pageOfMissing = async () => {
    await put(missing)
    return (await get(bench.port, '/ann-dev/', { headers: { ...browser, ...annCookie } })).body
  }
  for (let start = 0; start < 3; start++) {
    assert.doesNotMatch(await pageOfMissing(), /usually takes/)
    await put(asleep)
    assert.equal((await get(bench.port, '/ann-dev/', { headers: { ...browser, ...annCookie } })).body, 'the app')
  }
  assert.match(await pageOfMissing(), /Starting usually takes about \d+ s here\./)
})

test('each reason for which nothing runs either lets a request of the owner wake the container, or does not', async (t) => {
  assert.deepEqual([...sleeping, ...reasons, 'paused', 'running'].sort(), [...routeStates].sort())
  for (const reason of [...sleeping, ...reasons]) {
    const { bench, wakes } = await startSleeper(t, { place: { where: { reason, exitCode: null } } })
    const { status } = await get(bench.port, '/ann-dev/', { headers: ann })
    const expected = reason === 'asleep' || reason === 'evicted' || reason === 'node-lost' ? [200, 1] : [503, 0]
    assert.deepEqual([status, wakes.length], expected, reason)
  }
})

test('of its owner, a page may start a container that was stopped by request, and what an open tab sends may not', async (t) => {
  const rights: (WakeRight | undefined)[] = []
  const bench = await startGatewayHarness(t, echoApp(), {
    place: { where: asleep },
    control: { wake: async (_prefix, _requestId, right) => (rights.push(right), asleep) },
  })
  const sent = async (headers: Record<string, string>, method = 'GET') => {
    rights.length = 0
    const { status } = await get(bench.port, '/ann-dev/', { method, headers: { ...headers, ...annCookie } })
    return [status, ...rights]
  }
  const html = { accept: 'text/html,*/*' }
  assert.deepEqual(await sent({ ...html, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }), [503, 'start'])
  assert.deepEqual(await sent(html), [503, 'start'], 'on plain http browsers say no more')
  for (const [headers, method] of [
    [{ accept: '*/*' }],
    [{ accept: 'application/json', 'x-requested-with': 'XMLHttpRequest' }],
    [{ ...html, 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }],
    [{ accept: 'image/*', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }],
    [{ ...html, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }],
    // What a browser fetches ahead, such as an address that is being typed, had a container started.
    [{ ...html, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', 'sec-purpose': 'prefetch;prerender' }],
    [html, 'POST'],
  ] as const)
    assert.deepEqual(await sent(headers, method), [503, 'use'], JSON.stringify(headers))

  rights.length = 0
  const socket = new WebSocket(`ws://127.0.0.1:${bench.port}/ann-dev/`, { headers: annCookie })
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, http.IncomingMessage]
  assert.deepEqual([response.statusCode, ...rights], [503, 'use'])
  response.destroy()
})

test('only its owner wakes a container', async (t) => {
  const { bench, wakes } = await startSleeper(t, { rules: { access: 'public' } })
  for (const headers of [bob, {}]) {
    const { status, headers: received, body } = await get(bench.port, '/ann-dev/', { headers })
    assert.equal(status, 503)
    assert.match(received['retry-after'] ?? '', /^\d+$/)
    assert.deepEqual(Object.keys(JSON.parse(body)), ['error'])
  }
  assert.deepEqual(wakes, [])
})

test('a paused container is woken for every caller with access, before a byte reaches it', async (t) => {
  const heard: string[] = []
  const running = httpApp((_, response) => {
    heard.push('request')
    response.end('the app')
  })
  const awake = routeTo('ann-dev', 1, await listen(t, running))
  const paused: RouteEntry = { ...awake, where: { ...awake.where, isPaused: true } as never }
  const bench: GatewayHarness = await startGatewayHarness(t, echoApp(), {
    place: paused,
    rules: { access: 'public' },
    control: {
      wake: async () => {
        heard.push('wake')
        await sleep(50)
        await bench.gateway.apply([{ kind: 'route', route: awake }])
        return undefined
      },
    },
  })
  assert.equal((await get(bench.port, '/ann-dev/', { headers: bob })).body, 'the app')
  assert.deepEqual(heard, ['wake', 'request'])
})

test('a container that cannot be woken is reported with the reason', async (t) => {
  for (const reason of reasons) {
    const unavailable: Unavailable = { reason, exitCode: reason === 'crashed' ? 137 : null }
    const { port } = await startGatewayHarness(t, echoApp(), {
      place: { where: asleep },
      control: {
        wake: async () => unavailable,
        explain: async () => ({ unavailable, lastLines: ['what it wrote last'], displayName: 'Development' }),
      },
    })
    const { status, headers, body } = await get(port, '/ann-dev/', { headers: ann })
    assert.equal(status, 503, `${reason}: ${body}`)
    assert.match(headers['retry-after'] ?? '', /^\d+$/)
    assert.deepEqual(Object.keys(JSON.parse(body)), ['error'])
  }
})

test('each absence has its own page, with the last words for the owner only', async (t) => {
  const titles = new Set<string | undefined>()
  for (const reason of reasons) {
    const unavailable: Unavailable = { reason, exitCode: null }
    const { port, calls } = await startGatewayHarness(t, echoApp(), {
      place: { where: unavailable },
      rules: { access: 'authenticated' },
      control: { explain: async () => ({ unavailable, lastLines: ['<last> words'], displayName: 'My <Dev>' }) },
    })
    const page = await get(port, '/ann-dev/', { headers: { ...browser, ...annCookie } })
    assert.equal(page.status, 503, reason)
    assert.match(page.headers['content-type'] ?? '', /^text\/html/)
    assert.match(page.body, /My &lt;Dev&gt;/)
    assert.match(page.body, /&lt;last&gt; words/)
    assert.doesNotMatch(page.body, /<script|<Dev>|<last>/)
    titles.add(/<h1>([^<]*)/.exec(page.body)?.[1])
    const others = await get(port, '/ann-dev/', { headers: { ...browser, ...bob } })
    assert.doesNotMatch(others.body, /words/)
    const json = JSON.parse((await get(port, '/ann-dev/', { headers: ann })).body)
    assert.equal(typeof json.error, 'string')
    assert.deepEqual(calls.wakes, [], 'only a sleeping container wakes by itself')
  }
  assert.equal(titles.size, reasons.length, [...titles].join())
})

test('the page of a missing container leads to where its owner starts it, and back', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp(), { place: { where: missing }, control: explained(missing) })
  const { body } = await get(port, '/ann-dev/x?y=1', { headers: { ...browser, ...annCookie } })
  const [, href = ''] = /href="(http:\/\/spawner\.test\/launch[^"]*)"/.exec(body) ?? []
  const to = new URL(href.replaceAll('&amp;', '&'))
  assert.equal(to.searchParams.get('type'), 'dev')
  assert.equal(to.searchParams.get('next'), '/ann-dev/x?y=1')
})

test('a type of my own that was never launched has the same page; that of others does not exist', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp(), { control: explained(missing) })
  const mine = await get(port, '/ann-prod/', { headers: { ...browser, ...annCookie } })
  assert.equal(mine.status, 503)
  assert.match(mine.body, /launch/)
  // It called itself "prod has not been started yet", by the name in its path.
  assert.match(mine.body, /<h1>Development has not been started yet<\/h1>/)
  const others = await get(port, '/ann-prod/', { headers: bob })
  assert.ok([403, 404].includes(others.status))
})

test('an app that does not listen yet is waited for: running is never followed by a refusal', async (t) => {
  const late = await closedPort()
  const { port } = await startGatewayHarness(t, echoApp(), { place: routeTo('ann-dev', 1, late) })
  const asked = get(port, '/ann-dev/', { headers: ann })
  await sleep(600)
  const running = plainApp().listen(late, '127.0.0.1')
  t.after(() => running.close())
  assert.equal((await asked).body, 'the app')
})

// Its owner launched it, opened its page, and pressed "Stop" before the application listened: it was started again at once.
test('a page that waits for its application does not undo a stop that comes meanwhile', async (t) => {
  const rights: (WakeRight | undefined)[] = []
  const deaf = routeTo('ann-dev', 1, await closedPort())
  const bench = await startGatewayHarness(t, echoApp(), {
    place: deaf,
    control: { wake: async (_prefix, _requestId, right) => (rights.push(right), asleep) },
  })
  const asked = get(bench.port, '/ann-dev/', { headers: { ...browser, ...annCookie } })
  await sleep(600)
  await bench.gateway.apply([{ kind: 'route', route: { ...deaf, where: asleep } }])
  await asked
  assert.deepEqual(rights, ['use'])
})

test('a program that ends after it was woken is not woken again and again: its visitor reads at once why', async (t) => {
  const wakes: string[] = []
  const deaf = routeTo('ann-dev', 1, await closedPort())
  const ended: Unavailable = { reason: 'asleep', exitCode: 0 }
  const bench: GatewayHarness = await startGatewayHarness(t, echoApp(), {
    place: { where: asleep },
    control: {
      ...explained({ reason: 'crashed', exitCode: 0 }),
      wake: async (prefix) => {
        wakes.push(prefix)
        await bench.gateway.apply([{ kind: 'route', route: deaf }])
        setTimeout(() => void bench.gateway.apply([{ kind: 'route', route: { ...deaf, where: ended } }]), 1_200)
        return undefined
      },
    },
  })
  const begun = performance.now()
  const { body } = await get(bench.port, '/ann-dev/', { headers: { ...browser, ...annCookie } })
  assert.match(body, /Starting Development[^]*Waiting for the app to answer[^]*Development has ended[^]*exit code 0/)
  const late = performance.now() - begun - 1_200
  t.diagnostic(`told within ${Math.round(late)} ms after the end`)
  assert.ok(late < timeLimit(1_000), `told ${late} ms after the end`)
  assert.equal(wakes.length, 1)
})

test('a request that waits is let go when its person is blocked or leaves', async (t) => {
  const { bench } = await startSleeper(t, {
    control: { wake: () => new Promise(() => {}) },
  })
  const asked = get(bench.port, '/ann-dev/', { headers: ann }).then(
    ({ status }) => status,
    () => 0,
  )
  const request = http.request({ host: '127.0.0.1', port: bench.port, path: '/ann-dev/', headers: ann, agent: false })
  request.on('error', () => {})
  request.end()
  await sleep(100)
  request.destroy()
  const person = bench.known.users.find(({ userId }) => userId === 1)
  assert.ok(person)
  await bench.gateway.apply([{ kind: 'user', user: { ...person, isBlocked: true } }])
  const status = await Promise.race([asked, sleep(10_000, 'still waits', { ref: false })])
  assert.ok(status === 0 || status === 403, String(status))
})

test('a lost control plane is no reason to refuse what is known: running containers answer on', async (t) => {
  const gone = () => Promise.reject(new Error('unplugged'))
  const { port } = await startGatewayHarness(t, plainApp(), {
    rules: { forwardToken: 'full' },
    control: { wake: gone, explain: gone, scopedToken: gone },
  })
  assert.equal((await get(port, '/ann-dev/', { headers: ann })).body, 'the app')
})

test('without the control plane an absence is still told, without its last words', async (t) => {
  const gone = () => Promise.reject(new Error('unplugged'))
  const { port } = await startGatewayHarness(t, plainApp(), {
    place: { where: asleep },
    control: { wake: gone, explain: gone },
  })
  for (const headers of [ann, { ...browser, ...annCookie }]) {
    const { status, body } = await get(port, '/ann-dev/', { headers })
    assert.equal(status, 503)
    assert.doesNotMatch(body, /unplugged/)
  }
})
