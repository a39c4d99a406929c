import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { WebSocket } from 'ws'
import { startBerth } from './support/berth.ts'
import { execInContainer } from './support/engine/exec-in-container.ts'
import { waitLimit } from './support/extent.ts'
import { portsApp } from './support/engine/ports-app.ts'
import { eventually } from './support/engine/runtimes.ts'
import { get } from './support/gateway/raw-client.ts'
import { browser } from './support/gateway/tokens.ts'

/** Ports of containers with path routing, through the real whole: section "Ports of a container" of what Berth promises. */
const berth = await startBerth(
  { after },
  {
    env: {
      SHARING: 'people',
      CONTAINER_TEMPLATES: JSON.stringify({
        dev: { ...portsApp, display_name: 'Development' },
        shut: { ...portsApp, ports: 'none' },
        few: { ...portsApp, ports: [3000] },
        asked: { ...portsApp, idle_probe: 'code-server' },
        'dev:4444': { ...portsApp, display_name: 'Type with a colon' },
        open: { ...portsApp, access: 'public' },
        tls: tlsApp(),
      }),
    },
  },
)
const boss = await berth.administrator()
const [ann, bob] = [await berth.signUp('ann@x.org'), await berth.signUp('bob@x.org')]
const at = `/${ann.slug}-dev`

/** An app whose main port speaks TLS, with a certificate of its own for another name; a further port does not. */
function tlsApp(): object {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-tls-port-'))
  const [key, cert] = ['key.pem', 'cert.pem'].map((name) => path.join(folder, name)) as [string, string]
  const kind = [
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-subj',
    '/CN=elsewhere',
  ]
  execFileSync('openssl', ['req', ...kind, '-keyout', key, '-out', cert], { stdio: 'ignore' })
  const texts = JSON.stringify({ key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') })
  rmSync(folder, { recursive: true })
  const script = `
    const say = (words) => (request, response) => response.end(words + ' ' + request.url)
    require('node:https').createServer(${texts}, say('TLS')).listen(8443)
    require('node:http').createServer(say('plain')).listen(3000)`
  return { ...portsApp, port: 8443, scheme: 'https', command: ['node', '--eval', script] }
}

/** A navigation of Ann's browser. */
const navigate = (path: string) =>
  get(Number(new URL(berth.url).port), path, { headers: { ...browser, authorization: `Bearer ${ann.token}` } })

/** Ann's container of type `dev`, as administrators see it. */
async function annContainer(): Promise<{ readonly id: number; readonly container_id: string }> {
  const { users } = (await boss.call('GET', '/api/admin/users?q=ann@x.org')).body
  return users[0].containers.find((each: { container_type: string }) => each.container_type === 'dev')
}

/** Opens a port in Ann's container, and waits until it answers. */
async function open(port: number, host: string, prefix = at): Promise<void> {
  await eventually(async () =>
    assert.equal((await ann.call('GET', `${prefix}/open?port=${port}&host=${host}`)).status, 200),
  )
}

await open(3000, '0.0.0.0')
await open(3001, '127.0.0.1')

test('of a template without further ports the list of containers says so', async () => {
  const { body } = await ann.call('GET', '/api/user/containers')
  const entries = body.containers as { type: string; ports_off?: true }[]
  const off = entries.filter(({ ports_off: isOff }) => isOff)
  assert.deepEqual(
    off.map(({ type }) => type),
    ['shut'],
  )
})

test('a port of the container is reached, without the prefix, whichever address of the container it listens on', async () => {
  for (const port of [3000, 3001]) {
    const { status, body } = await ann.call('GET', `${at}:${port}/some/path?a=b`)
    assert.equal(status, 200, String(port))
    assert.equal(body.port, port)
    assert.equal(body.path, '/some/path?a=b')
    assert.equal(body.headers['x-forwarded-prefix'], `${at}:${port}`)
    assert.equal(body.headers['x-berth-user'], 'ann@x.org')
    assert.notEqual(body.headers.authorization, `Bearer ${ann.token}`)
  }
})

test('its main port has such an address, too', async () => {
  const { body } = await ann.call('GET', `${at}:8080/x`)
  assert.deepEqual([body.port, body.path], [8080, '/x'])
})

test('it is its owner’s: 401 without a token, 403 with another user’s, also where the app is public', async () => {
  for (const port of [3000, 3001, 3999]) {
    assert.equal((await berth.call('GET', `${at}:${port}/`)).status, 401)
    assert.equal((await bob.call('GET', `${at}:${port}/`)).status, 403)
  }
  await ann.call('POST', '/api/container/launch/open')
  const prefix = `/${ann.slug}-open`
  await open(3000, '127.0.0.1', prefix)
  assert.equal((await bob.call('GET', `${prefix}/`)).status, 200)
  assert.equal((await bob.call('GET', `${prefix}:3000/`)).status, 403)
  assert.equal((await ann.call('GET', `${prefix}:3000/`)).status, 200)
})

test('its app gets the container’s token in place of the owner’s', async () => {
  const { body } = await berth.call('GET', `${at}:3001/`, { headers: { cookie: `spawner_token=${ann.token}; own=1` } })
  assert.match(body.headers.cookie, /own=1; spawner_token=ey/)
  assert.ok(!body.headers.cookie.includes(ann.token))
})

test('cookies, redirects and workers stay below its own prefix, and the platform’s cookie is taken out', async () => {
  const cookies = (await ann.call('GET', `${at}:3001/cookie`)).headers.getSetCookie()
  assert.deepEqual(cookies, [`own=1; Path=${at}:3001/`])
  assert.equal((await ann.call('GET', `${at}:3001/redirect`)).headers.get('location'), `${at}:3001/there`)
  const worker = await ann.call('GET', `${at}:3001/worker.js`)
  assert.equal(worker.headers.get('service-worker-allowed'), `${at}:3001/`)
  const script = { 'service-worker': 'script' }
  assert.equal((await ann.call('GET', `${at}:3001`, { headers: script })).status, 403)
})

test('a navigation to the bare prefix is led to the one with a slash', async () => {
  const { status, headers } = await navigate(`${at}:3000?a=b`)
  assert.deepEqual([status, headers.location], [308, `${at}:3000/?a=b`])
})

test('answers stream through, and large bodies both ways', async () => {
  for (const port of [3000, 3001]) {
    const headers = { authorization: `Bearer ${ann.token}` }
    const answer = await fetch(`${berth.url}${at}:${port}/slow`, { headers })
    const reader = answer.body?.getReader()
    assert.equal(Buffer.from((await reader?.read())?.value ?? []).toString(), 'first\n')
    await ann.call('GET', `${at}:${port}/go`)
    assert.equal(Buffer.from((await reader?.read())?.value ?? []).toString(), 'second\n')
    const sent = Buffer.alloc(8_000_000, 'bytes ')
    const echoed = await fetch(`${berth.url}${at}:${port}/body`, { method: 'POST', headers, body: sent })
    assert.ok(Buffer.from(await echoed.arrayBuffer()).equals(sent))
  }
})

test('a WebSocket passes through, and a block cuts it', async () => {
  const sockets = await Promise.all([3000, 3001].map((port) => openSocket(port)))
  for (const socket of sockets) {
    socket.send('hello')
    assert.equal(await nextMessage(socket), 'hello')
  }
  const closed = sockets.map((socket) => new Promise<void>((resolve) => socket.once('close', () => resolve())))
  const container = await annContainer()
  await boss.call('POST', `/api/admin/containers/${container.id}/block`)
  await Promise.all(closed)
  assert.equal((await ann.call('GET', `${at}:3000/`)).status, 403)
  await boss.call('POST', `/api/admin/containers/${container.id}/unblock`)
  await ann.call('POST', '/api/container/launch/dev')
  for (const [port, host] of [
    [3000, '0.0.0.0'],
    [3001, '127.0.0.1'],
  ] as const)
    await open(port, host)
})

async function openSocket(port: number): Promise<WebSocket> {
  const url = `${berth.url.replace('http', 'ws')}${at}:${port}/socket`
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${ann.token}` } })
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
  return socket
}

const nextMessage = (socket: WebSocket) =>
  new Promise<string>((resolve) => socket.once('message', (data) => resolve(String(data))))

test('a share of a port opens that port and nothing else, and its end closes it', async () => {
  const share = (body: object) =>
    ann.call('POST', '/api/container/shares/dev', {
      body: { emails: ['bob@x.org'], may: 'use', expires_at: new Date(Date.now() + 3_600_000).toISOString(), ...body },
    })
  const statuses = async () =>
    Promise.all([`${at}/`, `${at}:3000/`, `${at}:3001/`].map(async (path) => (await bob.call('GET', path)).status))
  assert.equal((await share({ port: 3001 })).status, 200)
  assert.deepEqual(await statuses(), [403, 403, 200])
  const [shared] = (await bob.call('GET', '/api/user/shared')).body.containers
  assert.deepEqual([shared.port, new URL(shared.service_url).pathname], [3001, `${at}:3001`])
  assert.equal((await share({})).status, 200)
  assert.deepEqual(await statuses(), [200, 403, 200])
  const { shares } = (await ann.call('GET', '/api/container/shares/dev')).body
  assert.deepEqual(
    shares.map(({ port }: { port: number | null }) => port),
    [3001, null],
  )
  const url = `${berth.url.replace('http', 'ws')}${at}:3001/socket`
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${bob.token}` } })
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
  const closed = new Promise((resolve) => socket.once('close', resolve))
  assert.equal((await ann.call('DELETE', `/api/container/shares/dev/${shares[0].id}`)).status, 200)
  await closed
  assert.deepEqual(await statuses(), [200, 403, 403])
  assert.equal((await share({ port: 80 })).status, 400)
})

test('where nothing listens an API client gets 502 with an error', async () => {
  const { status, body } = await ann.call('GET', `${at}:3999/`)
  assert.equal(status, 502)
  assert.match(body.error, /Nothing listens on port 3999/)
})

test('a browser gets a page that says so, says what listens instead, and asks again by itself', async () => {
  const page = await navigate(`${at}:3999/x?y=1`)
  assert.equal(page.status, 502)
  assert.match(page.body, /<h1>Nothing listens on port 3999<\/h1>/)
  assert.match(page.body, /href="[^"]*:3001\/">3001</)
  assert.ok(page.body.includes(`<meta http-equiv="refresh" content="3; url=${at}:3999/x?y=1">`))
  await open(3999, '127.0.0.1')
  assert.equal(JSON.parse((await navigate(`${at}:3999/x?y=1`)).body).port, 3999)
  await ann.call('GET', `${at}/close?port=3999`)
  await eventually(async () => assert.equal((await ann.call('GET', `${at}:3999/`)).status, 502))
})

test('no client can ask the API for a connection into a container', async () => {
  for (const [person, path] of [
    [bob, `/.berth-ports/${ann.slug}-dev/3001`],
    [ann, `/.berth-ports/${ann.slug}-dev/3001`],
    [ann, `/api/../.berth-ports/${ann.slug}-dev/3001`],
  ] as const) {
    const headers = { authorization: `Bearer ${person.token}`, connection: 'Upgrade', upgrade: 'berth-port' }
    const { status, headers: answered } = await get(Number(new URL(berth.url).port), path, { headers })
    assert.ok(status === 404 || status === 400, `${path}: ${status}`)
    assert.equal(answered.upgrade, undefined)
  }
})

test('ports below 1024, above 65535 and in another spelling are no container’s', async () => {
  for (const port of ['80', '1023', '65536', '03000', '+3000', '3000x', '0xbb8'])
    assert.equal((await ann.call('GET', `${at}:${port}/`)).status, 404, port)
})

test('a template allows no further port, or some; what is not allowed is 404', async () => {
  for (const type of ['shut', 'few']) {
    await ann.call('POST', `/api/container/launch/${type}`)
    const prefix = `/${ann.slug}-${type}`
    await open(3000, '127.0.0.1', prefix)
    await open(3001, '127.0.0.1', prefix)
    assert.equal((await ann.call('GET', `${prefix}:3000/`)).status, type === 'few' ? 200 : 404)
    assert.equal((await ann.call('GET', `${prefix}:3001/`)).status, 404)
    const { ports } = (await ann.call('GET', `/api/container/ports/${type}`)).body
    const listed = ports.map(({ port }: { port: number }) => port)
    assert.deepEqual(listed, type === 'few' ? [3000, 8080] : [8080])
  }
})

test('the port at which Berth asks an editor whether it is used has no address, and cannot be shared', async () => {
  await ann.call('POST', '/api/container/launch/asked')
  const prefix = `/${ann.slug}-asked`
  await open(3000, '127.0.0.1', prefix)
  await open(8479, '0.0.0.0', prefix)
  assert.equal((await ann.call('GET', `${prefix}:3000/`)).status, 200)
  assert.equal((await ann.call('GET', `${prefix}:8479/`)).status, 404)
  const { ports } = (await ann.call('GET', '/api/container/ports/asked')).body
  assert.deepEqual(
    ports.map(({ port }: { port: number }) => port),
    [3000, 8080],
  )
  const share = { emails: ['bob@x.org'], may: 'use', expires_at: new Date(Date.now() + 3_600_000).toISOString() }
  assert.equal((await ann.call('POST', '/api/container/shares/asked', { body: { ...share, port: 8479 } })).status, 400)
})

test('an app whose main port speaks TLS is reached, its certificate unchecked, and its further ports without TLS', async () => {
  const launched = await ann.call('POST', '/api/container/launch/tls')
  assert.equal(launched.status, 200, launched.text)
  const prefix = `/${ann.slug}-tls`
  for (const [address, words] of [
    [`${prefix}/x`, 'TLS /x'],
    [`${prefix}:8443/x`, 'TLS /x'],
    [`${prefix}:3000/x`, 'plain /x'],
  ] as const)
    await eventually(async () => assert.equal((await ann.call('GET', address)).text, words))
})

test('a type whose own name has a colon wins', async () => {
  // Its own ports as well: the last colon is that of a port.
  for (const port of ['', ':5000']) {
    const { status, headers } = await ann.call('GET', `${at}:4444${port}/x?y`)
    assert.deepEqual([status, headers.get('location')], [308, `/${ann.slug}-dev%3A4444${port}/x?y`])
  }
  assert.equal((await bob.call('GET', `${at}:4444:5000/x`)).status, 403)
})

test('the list says what listens now, sorted, with addresses that lead there', async () => {
  const { status, body } = await ann.call('GET', '/api/container/ports/dev')
  assert.equal(status, 200)
  const { origin } = new URL((await ann.call('GET', '/api/user/me')).body.container.service_url)
  const address = (path: string) => `${origin}${path}`
  assert.deepEqual(body.ports, [
    { port: 3000, is_main: false, is_loopback: false, url: address(`${at}:3000/`) },
    { port: 3001, is_main: false, is_loopback: true, url: address(`${at}:3001/`) },
    { port: 8080, is_main: true, is_loopback: false, url: address(`${at}/`) },
  ])
})

test('a token of the API needs the scope containers:read for the list, and opens no port', async () => {
  const made = async (scopes: readonly string[]) =>
    (await ann.call('POST', '/api/user/tokens', { body: { name: 'x', scopes, expires_in: 600 } })).body.token as string
  const [reads, none] = [await made(['containers:read']), await made(['containers:write'])]
  assert.equal((await berth.call('GET', '/api/container/ports/dev', { token: reads })).status, 200)
  assert.equal((await berth.call('GET', '/api/container/ports/dev', { token: none })).status, 200)
  assert.equal((await berth.call('GET', `${at}:3000/`, { token: reads })).status, 401)
  assert.equal((await berth.call('GET', '/api/container/ports/dev')).status, 401)
  assert.equal((await ann.call('GET', '/api/container/ports/nothing')).status, 400)
  // Nothing of a type that was never launched runs, as when it is stopped.
  assert.equal((await bob.call('GET', '/api/container/ports/open')).status, 409)
})

test('a container that does not run has no list: 409; a request for its port wakes it', async () => {
  await ann.call('POST', '/api/container/stop/dev')
  await eventually(async () => assert.equal((await ann.call('GET', '/api/container/ports/dev')).status, 409))
  const woken = await navigate(`${at}:3000/`)
  assert.ok([502, 503].includes(woken.status), String(woken.status))
  await eventually(
    async () => assert.equal((await ann.call('GET', '/api/container/ports/dev')).status, 200),
    waitLimit(20_000),
  )
})

test('a connection to a program on loopback ends in the container with its client', async () => {
  await open(3001, '127.0.0.1')
  const away = new AbortController()
  const headers = { authorization: `Bearer ${ann.token}` }
  const answer = await fetch(`${berth.url}${at}:3001/slow`, { headers, signal: away.signal })
  await answer.body?.getReader().read()
  const { container_id: id } = await annContainer()
  const tools = async () =>
    (await execInContainer(id, 'cat /proc/[0-9]*/comm 2>/dev/null | grep -c berth-tool || true')).trim()
  assert.equal(await tools(), '1')
  away.abort()
  await eventually(async () => assert.equal(await tools(), '0'))
})
