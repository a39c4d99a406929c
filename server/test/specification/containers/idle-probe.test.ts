import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import WebSocket from 'ws'
import { assertOk, engineState, recordOf } from '#test/support/api-calls.ts'
import { startBerth, testTemplates, type Berth, type Lifetime, type Person } from '#test/support/berth.ts'
import { fragile, outside, pollUntil } from '#test/support/control-plane.ts'
import { execInContainer } from '#test/support/engine/exec-in-container.ts'
import { nodeImage } from '#test/support/engine/ports-app.ts'
import { openStream } from '#test/support/event-stream.ts'
import { get } from '#test/support/gateway/raw-client.ts'
import { selfSigned } from '#test/support/gateway/tls-proxy.ts'
import { slowness, waitLimit } from '#test/support/extent.ts'
import { observationTime } from '#test/support/observation-time.ts'

/** What a page sends that is open in a browser, and what a person who opens one does. */
const ofPage = { headers: { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' } }
const toPage = { accept: 'text/html', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }

/** Accepts every WebSocket (RFC 6455, 4.2.2), and sends back what comes through it. */
const echo = `require('http').createServer((_, answer) => answer.end('ok')).on('upgrade', ({ headers }, socket) => {
  const key = headers['sec-websocket-key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
  const accept = require('crypto').createHash('sha1').update(key).digest('base64')
  socket.write('HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\nSec-WebSocket-Accept: ' + accept + '\\r\\n\\r\\n')
  socket.on('error', () => undefined).resume()
}).listen(8080)`

/** In s, after which an unused container is suspended: a slow machine has to be in time with what keeps it awake. */
const idleSeconds = Math.ceil(3 * slowness)

/** In s: a warning comes in the last quarter, and with 8 s a slow machine had none of the two looks of a second left for it. */
const warned = Math.ceil(16 * slowness)

/** In ms, after which each of them would have been suspended, had nothing kept it awake. */
const longEnough = 3_000 * idleSeconds

/** `jobs` says how much goes on, by JSON in the home that a test writes; `kernels` is a small Jupyter. */
const probes = {
  jobs: { idle_probe: { path: 'state', active: '/jobs~1now/0' }, idle_timeout: idleSeconds },
  public: { idle_probe: { path: 'state', active: '/jobs~1now/0' }, idle_timeout: idleSeconds, access: 'public' },
  visited: {
    idle_probe: { path: 'state', active: '/jobs~1now/0' },
    idle_pause: idleSeconds,
    idle_timeout: 3 * idleSeconds,
    access: 'public',
  },
  paused: { idle_probe: { path: 'state', active: '/jobs~1now/0' }, idle_pause: idleSeconds },
  kernels: { idle_probe: 'jupyter', idle_timeout: 2 * idleSeconds },
  editor: { idle_probe: 'code-server', idle_timeout: 2 * idleSeconds },
  limited: { idle_probe: { path: 'state', active: '/jobs~1now/0' }, idle_timeout: 600, max_lifetime: 6 },
  ignoring: { idle_ignore: ['/live/*', '/metrics'], idle_timeout: idleSeconds + 1 },
  plain: { idle_timeout: 600 },
  sockets: {
    idle_ignore: ['/live/*'],
    idle_timeout: idleSeconds + 2,
    image: nodeImage,
    command: ['node', '-e', echo],
  },
  warned: { idle_probe: { path: 'state', active: '/jobs~1now/0' }, idle_timeout: warned },
  secure: {
    idle_probe: { path: 'state', active: '/jobs~1now/0' },
    idle_timeout: idleSeconds,
    scheme: 'https',
    image: nodeImage,
    command: [
      'node',
      '-e',
      'require("https").createServer({ key: process.env.KEY, cert: process.env.CERT }, (asked, answer) => require("fs").readFile("/home/berth" + asked.url, (error, text) => answer.writeHead(error ? 404 : 200).end(text))).listen(8080)',
    ],
  },
}

/** A user with a container of one of the types, and what its application says. */
interface Used extends Omit<Person, 'id'> {
  readonly type: keyof typeof probes
  readonly id: string
  readonly userId: number
  /** Writes a file that the application serves. */
  says(file: string, content: string): Promise<unknown>
  /** A page that stays open: it asks for something ten times a second. @returns its last answers, and what ends it */
  keepOpen(path?: string, options?: typeof ofPage): { readonly statuses: number[]; end(): void }
  open(): ReturnType<typeof get>
  entry(): Promise<{ status: string; idle?: { at: string; why: string } }>
  untilState(state: string): Promise<void>
}

async function start(lifetime: Lifetime): Promise<Berth> {
  const { dev } = JSON.parse(await testTemplates(fragile)) as { dev: Record<string, unknown> }
  const { key, cert } = await selfSigned('elsewhere')
  const secure = { ...dev, ...probes.secure, env: { KEY: String(key), CERT: String(cert) } }
  const types = Object.entries(probes).map(([type, fields]) => [type, { ...dev, ...fields }])
  // The primary container, which each of them has as well, is never asked.
  const env = { CONTAINER_TEMPLATES: JSON.stringify({ dev, ...Object.fromEntries(types), secure }), MAX_PER_USER: '2' }
  const berth = await startBerth(lifetime, { env })
  await berth.administrator()
  return berth
}

async function use(berth: Berth, name: string, type: keyof typeof probes): Promise<Used> {
  const person = await berth.signUpWithoutContainer(`${name}@x.org`)
  assertOk(await person.call('POST', `/api/container/launch/${type}`))
  const entry = async () => {
    const { body } = await person.call('GET', '/api/user/containers')
    return body.containers.find((each: { type: string }) => each.type === type)
  }
  const id = (await entry()).container_id as string
  const keepOpen = (path = '/', options = ofPage) => {
    const statuses: number[] = []
    const timer = setInterval(() => {
      const asked = person.call('GET', `/${person.slug}-${type}${path}`, options)
      // One that is still under way when Berth ends, as on a slow machine, is answered no more.
      asked.then(
        ({ status }) => statuses.push(status),
        () => undefined,
      )
    }, 100)
    return { statuses, end: () => clearInterval(timer) }
  }
  return {
    ...person,
    type,
    id,
    userId: person.id,
    keepOpen,
    says: (file, content) =>
      execInContainer(id, `cd /home/berth && mkdir -p "$(dirname ${file})" && printf '%s' '${content}' > ${file}`),
    open: () =>
      get(berth.app.port, `/${person.slug}-${type}/`, {
        headers: { authorization: `Bearer ${person.token}`, ...toPage },
      }),
    entry,
    untilState: (state) =>
      pollUntil(
        async () => (await engineState(berth, id)) === state,
        () => `the container of ${name} is not ${state}`,
      ),
  }
}

/** A start that takes longer than a second is shown by a page first. */
const untilOpen = (person: Used) =>
  pollUntil(
    async () => (await person.open()).status === 200,
    () => 'the page is not opened',
  )

suite('idle by what the application says', { concurrency: 10 }, () => {
  const started = start({ after })

  test('a page that is left open keeps nothing awake and wakes nothing; who opens one has it running again', async () => {
    const ann = await use(await started, 'ann', 'jobs')
    await ann.says('state', '{"jobs/now": [0]}')
    const tab = ann.keepOpen()
    try {
      await ann.untilState('exited')
      tab.statuses.length = 0
      await observationTime(1_000)
      assert.deepEqual([...new Set(tab.statuses)], [503])
      assert.equal(await engineState(await started, ann.id), 'exited')
      assert.equal((await ann.entry()).idle, undefined)
      await untilOpen(ann)
      assert.equal(await engineState(await started, ann.id), 'running')
    } finally {
      tab.end()
    }
  })

  test('a page that is left open does not end a pause either', async () => {
    const pat = await use(await started, 'pat', 'paused')
    await pat.says('state', '{"jobs/now": [0]}')
    const tab = pat.keepOpen()
    try {
      await pat.untilState('paused')
      await observationTime(1_000)
      assert.equal(await engineState(await started, pat.id), 'paused')
      await untilOpen(pat)
    } finally {
      tab.end()
    }
  })

  // Each of its requests began the whole idle time anew, so that the container was never stopped.
  test('the program of a visitor has it go on after a pause, and does not keep it from being stopped', async () => {
    const roy = await use(await started, 'roy', 'visited')
    await roy.says('state', '{"jobs/now": [0]}')
    const { port } = (await started).app
    const statuses = new Set<number>()
    const ask = async () => statuses.add((await get(port, `/${roy.slug}-visited/`, { headers: {} })).status)
    await roy.untilState('paused')
    await ask()
    // The next pause, which a visitor postpones, and not the last one.
    assert.ok(Date.parse((await roy.entry()).idle?.at ?? '') > Date.now() + 200 * idleSeconds)
    const timer = setInterval(() => void ask().catch(() => undefined), 200)
    await roy.untilState('exited').finally(() => clearInterval(timer))
    assert.ok(statuses.has(200), [...statuses].join())
  })

  test('while the application says that something goes on, it runs without any page, and is suspended after that', async () => {
    const bob = await use(await started, 'bob', 'jobs')
    await bob.says('state', '{"jobs/now": [2]}')
    await observationTime(longEnough)
    assert.equal(await engineState(await started, bob.id), 'running')
    const { idle } = await bob.entry()
    assert.equal(idle?.why, 'app')
    const left = Date.parse(idle?.at ?? '') - Date.now()
    assert.ok(left <= 1_000 * idleSeconds && left > -waitLimit(2_000), `${left} ms`)
    await bob.says('state', `{"jobs/now": ["${new Date(0).toISOString()}"]}`)
    await bob.untilState('exited')
  })

  // The open page of a visitor started it as well, as often as it was suspended.
  test('without an answer traffic counts, and what an open page of its owner asks for wakes it', async () => {
    const cat = await use(await started, 'cat', 'public')
    await cat.says('state', '{"jobs": 1}')
    const tab = cat.keepOpen()
    try {
      await observationTime(longEnough)
      assert.equal(await engineState(await started, cat.id), 'running')
      assert.equal((await cat.entry()).idle?.why, 'traffic')
    } finally {
      tab.end()
    }
    await cat.untilState('exited')
    const target = `/${cat.slug}-public/`
    assert.equal((await get((await started).app.port, target, ofPage)).status, 503)
    assert.equal(await engineState(await started, cat.id), 'exited')
    assertOk(await cat.call('GET', target, ofPage))
  })

  test('a page that was opened in the last five minutes counts', async () => {
    const dan = await use(await started, 'dan', 'jobs')
    await dan.says('state', '{"jobs/now": [0]}')
    const opened = Date.now()
    assert.equal((await dan.open()).status, 200)
    await observationTime(longEnough)
    assert.equal(await engineState(await started, dan.id), 'running')
    const { idle } = await dan.entry()
    assert.equal(idle?.why, 'page')
    const after = Date.parse(idle?.at ?? '') - opened
    assert.ok(
      Math.abs(after - 300_000 - 1_000 * idleSeconds) < waitLimit(2_000),
      `suspended ${after} ms after the page was opened`,
    )
  })

  test('Jupyter: a kernel that is busy and a terminal that prints are use, a page that polls is none', async () => {
    const eve = await use(await started, 'eve', 'kernels')
    const longAgo = '2026-01-01T00:00:00.000000Z'
    const kernel = (state: string) =>
      JSON.stringify([{ id: 'k', name: 'python3', execution_state: state, last_activity: longAgo, connections: 1 }])
    await eve.says('api/kernels', kernel('busy'))
    await eve.says('api/terminals', '[]')
    const tab = eve.keepOpen('/api/kernels')
    try {
      await observationTime(longEnough)
      assert.equal(await engineState(await started, eve.id), 'running')
      await eve.says('api/kernels', kernel('idle'))
      const terminal = () =>
        eve.says('api/terminals', `[{"name": "1", "last_activity": "${new Date().toISOString()}"}]`)
      for (const end = Date.now() + longEnough; Date.now() < end; await sleep(500)) await terminal()
      assert.equal(await engineState(await started, eve.id), 'running')
      assert.equal((await eve.entry()).idle?.why, 'app')
      await eve.untilState('exited')
    } finally {
      tab.end()
    }
  })

  test('code-server: its last heartbeat counts', async () => {
    const fay = await use(await started, 'fay', 'editor')
    const heart = (at: number, status: string) => fay.says('healthz', `{"status": "${status}", "lastHeartbeat": ${at}}`)
    for (const end = Date.now() + longEnough; Date.now() < end; await sleep(500)) await heart(Date.now(), 'alive')
    assert.equal(await engineState(await started, fay.id), 'running')
    await heart(Date.now() - 60_000, 'expired')
    const tab = fay.keepOpen()
    await fay.untilState('exited').finally(() => tab.end())
  })

  for (const [name, said] of [
    ['gus', '5'],
    // As an application says that lies about its future.
    ['lea', `"${new Date(Date.UTC(3000, 0)).toISOString()}"`],
  ] as const)
    test(`no application keeps its container beyond max_lifetime: ${said}`, async () => {
      const person = await use(await started, name, 'limited')
      await person.says('state', `{"jobs/now": [${said}]}`)
      await person.untilState('exited')
      await observationTime(2_000)
      assert.equal(await engineState(await started, person.id), 'exited')
    })

  test('an application that speaks TLS is asked as well', async () => {
    const sue = await use(await started, 'sue', 'secure')
    await sue.says('state', '{"jobs/now": [1]}')
    await observationTime(longEnough)
    assert.equal(await engineState(await started, sue.id), 'running')
    assert.equal((await sue.entry()).idle?.why, 'app')
    const tab = sue.keepOpen('/state')
    try {
      await pollUntil(
        async () => tab.statuses.includes(200),
        () => `the page is answered with ${[...new Set(tab.statuses)]}`,
      )
      await sue.says('state', '{"jobs/now": [0]}')
      await sue.untilState('exited')
    } finally {
      tab.end()
    }
  })

  test('its owner is warned by what the application says: not while it works, and however much an open page asks', async () => {
    const wes = await use(await started, 'wes', 'warned')
    await wes.says('state', '{"jobs/now": [1]}')
    const stream = await openStream(await started, wes.token)
    const warnings = () => stream.events.filter(({ name }) => name === 'idle')
    const tab = wes.keepOpen()
    try {
      await observationTime(1_000 * warned + 2_000)
      assert.deepEqual(warnings(), [])
      await wes.says('state', '{"jobs/now": [0]}')
      await wes.untilState('exited')
      assert.deepEqual(
        warnings()
          .slice(0, 1)
          .map(({ data }) => [data.type, data.action, data.reason]),
        [['warned', 'stop', undefined]],
      )
    } finally {
      tab.end()
      stream.close()
    }
  })

  test('last_used is what the application says, and not what an open page asks', async () => {
    const berth = await started
    const sam = await use(berth, 'sam', 'jobs')
    const lastUse = new Date().toISOString()
    await sam.says('state', `{"jobs/now": ["${lastUse}"]}`)
    // Until the application has answered, traffic counts: on a busy machine that was after the first request of the tab.
    await pollUntil(
      async () => [undefined, 'app'].includes((await sam.entry()).idle?.why),
      () => 'the application is not asked',
    )
    const tab = sam.keepOpen()
    await sam.untilState('exited').finally(() => tab.end())
    const admin = await berth.administrator()
    await pollUntil(
      async () => (await recordOf(admin, sam.userId, 'jobs')).last_used === lastUse,
      () => `last_used is not ${lastUse}`,
    )
  })

  test('paths of idle_ignore neither keep it awake nor wake it; others do', async () => {
    const hal = await use(await started, 'hal', 'ignoring')
    for (const file of ['live/feed', 'metrics', 'metrics-all']) await hal.says(file, 'x')
    const tabs = [hal.keepOpen('/live/feed'), hal.keepOpen('/metrics?since=1')]
    try {
      await hal.untilState('exited')
      for (const { statuses } of tabs) statuses.length = 0
      await observationTime(1_000)
      assert.deepEqual([...new Set(tabs.flatMap(({ statuses }) => statuses))], [503])
      assert.equal(await engineState(await started, hal.id), 'exited')
    } finally {
      for (const tab of tabs) tab.end()
    }
    const used = hal.keepOpen('/metrics-all')
    try {
      await hal.untilState('running')
      await observationTime(longEnough)
      assert.equal(await engineState(await started, hal.id), 'running')
    } finally {
      used.end()
    }
  })

  test('a WebSocket of such a path is no use either, whatever is sent through it; another one is', async () => {
    const kim = await use(await started, 'kim', 'sockets')
    const talk = async (path: string) => {
      const target = `ws://127.0.0.1:${(await started).app.port}/${kim.slug}-sockets${path}`
      const socket = new WebSocket(target, { headers: { authorization: `Bearer ${kim.token}` } })
      socket.on('error', () => undefined)
      await once(socket, 'open')
      const timer = setInterval(() => socket.send('hello'), 100)
      return () => {
        clearInterval(timer)
        socket.terminate()
      }
    }
    await untilOpen(kim)
    const end = await talk('/socket')
    try {
      await observationTime(longEnough)
      assert.equal(await engineState(await started, kim.id), 'running')
    } finally {
      end()
    }
    const endIgnored = await talk('/live/socket')
    await kim.untilState('exited').finally(endIgnored)
  })

  test('who keeps a container has its idle time begun anew, and the list says so', async () => {
    const ida = await use(await started, 'ida', 'plain')
    assert.equal((await ida.entry()).idle?.why, 'started')
    assertOk(await ida.call('POST', '/api/container/keep/plain'))
    const { idle } = await ida.entry()
    assert.equal(idle?.why, 'kept')
    assert.ok(Math.abs(Date.parse(idle?.at ?? '') - Date.now() - 600_000) < waitLimit(3_000))
    await outside.stop(ida.id)
    await pollUntil(
      async () => (await ida.entry()).idle === undefined,
      () => 'a container that does not run has an idle time',
    )
  })
})
