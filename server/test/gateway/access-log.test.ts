import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, renameSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import net from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import type { AccessLogSettings } from '@berth/gateway/port/gateway.ts'
import { pollUntil } from '#test/support/control-plane.ts'
import { refuseSecrets } from '#test/support/no-secrets.ts'
import { startGatewayHarness, type GatewayHarness, type HarnessOptions } from '#test/support/gateway/gateway-harness.ts'
import { exchange, get } from '#test/support/gateway/raw-client.ts'
import { httpApp } from '#test/support/gateway/test-apps.ts'
import { ann, annToken } from '#test/support/gateway/tokens.ts'
import { webSocketHeaders } from '../support/web-socket-headers.ts'
import { waitLimit } from '#test/support/extent.ts'

/** What the access log says of requests, and what it never says. */

interface Logged {
  readonly harness: GatewayHarness
  readonly file: string
  /** Lines, once there are so many. */
  lines(count: number): Promise<string[]>
  /** Paths that the app was asked for. */
  readonly seen: readonly string[]
}

const app = (seen: string[] = []) => {
  const server = httpApp((request, response) => {
    seen.push(request.url ?? '')
    if (request.url === '/slow') return
    response.writeHead(request.url === '/teapot' ? 418 : 200).end('0123456789')
  })
  return server.on('upgrade', (_, socket: net.Socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n')
    socket.on('error', () => {}).pipe(socket)
  })
}

async function startLogged(
  t: TestContext,
  format: AccessLogSettings['format'],
  changes: HarnessOptions = {},
): Promise<Logged> {
  const folder = await mkdtemp(path.join(tmpdir(), 'berth-access-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const file = path.join(folder, 'access.log')
  const settings = { ...changes.settings, accessLog: { format, file } }
  const seen: string[] = []
  const harness = await startGatewayHarness(t, app(seen), { ...changes, settings })
  const read = () => readFileSync(file, 'utf8').split('\n').slice(0, -1)
  const lines = async (count: number) => {
    await pollUntil(
      () => read().length >= count,
      () => `${read().length} lines of ${count}`,
    )
    return read()
  }
  return { harness, file, lines, seen }
}

test('common: a line for each request in the Common Log Format, with client, user, status and bytes', async (t) => {
  const { harness, lines } = await startLogged(t, 'common', { settings: { trustedProxies: ['127.0.0.1'] } })
  const { port } = harness
  await get(port, '/ann-dev/notebook', { headers: { ...ann, 'x-forwarded-for': '203.0.113.9' } })
  await get(port, '/ann-dev/teapot', { method: 'DELETE', headers: ann })
  await get(port, '/ann-dev/')
  const [one = '', two = '', three = ''] = await lines(3)
  const date = String.raw`\[\d\d/[A-Z][a-z]{2}/20\d\d:\d\d:\d\d:\d\d \+0000\]`
  assert.match(
    one,
    new RegExp(String.raw`^203\.0\.113\.9 - ann ${date} "GET /ann-dev/notebook HTTP/1\.1" 200 [1-9]\d+$`),
  )
  assert.match(two, new RegExp(String.raw`^127\.0\.0\.1 - ann ${date} "DELETE /ann-dev/teapot HTTP/1\.1" 418 \d+$`))
  assert.match(three, new RegExp(String.raw`^127\.0\.0\.1 - - ${date} "GET /ann-dev/ HTTP/1\.1" 401 \d+$`))
})

test('json: source, duration and the id of the answer, which leads to the log of Berth', async (t) => {
  const platform = httpApp((_, response) => response.end('from the API'))
  const { harness, lines } = await startLogged(t, 'json', { platform })
  const refused = await get(harness.port, '/ann-dev/')
  await get(harness.port, '/ann-dev/', { headers: ann })
  await get(harness.port, '/api/user/me')
  const [own, ofApp, ofApi] = (await lines(3)).map((line) => JSON.parse(line) as Record<string, unknown>)
  assert.deepEqual([own?.source, ofApp?.source, ofApi?.source], ['gateway', 'app', 'api'])
  assert.equal(own?.request_id, refused.headers['x-request-id'])
  assert.deepEqual([ofApp?.user, ofApp?.path, ofApp?.status], ['ann', '/ann-dev/', 200])
  assert.ok(Number(ofApp?.ms) >= 0 && Number(ofApp?.bytes) > 10)
  assert.match(String(ofApi?.request_id), /^[\da-f-]{36}$/)
})

test('a WebSocket has its line when it ends, a client that leaves before the answer has status 0, bad requests have one', async (t) => {
  const { harness, lines, seen } = await startLogged(t, 'json')
  const socket = net.connect(harness.port, '127.0.0.1')
  const headers = Object.entries({ host: 'x', ...webSocketHeaders(annToken) }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  )
  socket.write(`GET /ann-dev/ws HTTP/1.1\r\n${headers.join('')}\r\n`)
  await once(socket, 'data')
  socket.destroy()
  await lines(1)
  const leaving = net.connect(harness.port, '127.0.0.1')
  leaving.write(`GET /ann-dev/slow HTTP/1.1\r\nHost: x\r\nAuthorization: ${ann.authorization}\r\n\r\n`)
  await pollUntil(
    () => seen.includes('/slow'),
    () => `the app was asked for ${seen.join()}`,
  )
  leaving.destroy()
  await lines(2)
  await exchange(harness.port, 'NOT HTTP\r\n\r\n')
  const entries = (await lines(3)).map((line) => JSON.parse(line) as Record<string, unknown>)
  const summary = entries.map(({ path: target, status }) => [target, status])
  assert.deepEqual(summary, [
    ['/ann-dev/ws', 101],
    ['/ann-dev/slow', 0],
    [undefined, 400],
  ])
})

test('no link, code, token, cookie or header value is in the log, wherever a client puts it', async (t) => {
  for (const format of ['common', 'json'] as const) {
    const platform = httpApp((_, response) => response.end())
    const { harness, file, lines } = await startLogged(t, format, { platform })
    const { port } = harness
    const secret = `S3cret${'x9Y'.repeat(13)}`
    const targets = [
      `/verify-signup?token=${secret}`,
      `/api/auth/verify-login?token=${secret}`,
      `/api/auth/oidc/x/callback?code=${secret}&state=s`,
      `/.berth/enter?code=${secret}`,
      `/ann-dev/?token=${annToken}`,
      `/ann-dev/lab/${annToken}`,
      `/${secret}`,
      `/${annToken}/x`,
      `/verify-login%3Ftoken=${secret}`,
      `/verify-login;token=${secret}`,
      `/%76erify-login?${secret}`,
      `/ann-dev/x?${secret}`,
      `//${secret}`,
    ]
    for (const target of targets)
      await get(port, target, {
        headers: {
          ...ann,
          cookie: `spawner_token=${annToken}`,
          referer: `http://x/?token=${secret}`,
          'user-agent': secret,
          'x-request-id': secret,
        },
      })
    await exchange(port, `${secret} / HTTP/1.1\r\nHost: ${secret}\r\nConnection: close\r\n\r\n`)
    await exchange(port, `GET http://x/verify?token=${secret} HTTP/1.1\r\nHost: x\r\n\r\n`)
    await lines(targets.length + 2)
    const text = readFileSync(file, 'utf8')
    refuseSecrets(text, [annToken, secret, secret.slice(0, 12), annToken.slice(0, 20)])
  }
})

test('a target cannot forge a line or a field', async (t) => {
  for (const format of ['common', 'json'] as const) {
    const { harness, lines } = await startLogged(t, format)
    await get(harness.port, '/ann-dev/"%20200%200%0a\\"}{"a":"', { headers: ann })
    const all = await lines(1)
    assert.equal(all.length, 1)
    if (format === 'common')
      assert.match(all[0] ?? '', /"GET \/ann-dev\/\\"%20200%200%0a\\\\\\"\}\{\\"a\\":\\" HTTP\/1\.1" \d{3} \d+$/)
    else assert.equal(JSON.parse(all[0] ?? '').a, undefined)
  }
})

test('after a rename the log goes on in a new file, and no line is lost', async (t) => {
  const { harness, file, lines } = await startLogged(t, 'common')
  await get(harness.port, '/ann-dev/one', { headers: ann })
  await lines(1)
  renameSync(file, `${file}.1`)
  await get(harness.port, '/ann-dev/two', { headers: ann })
  harness.gateway.reopenAccessLog()
  await get(harness.port, '/ann-dev/three', { headers: ann })
  assert.match((await lines(1))[0] ?? '', /three/)
  await pollUntil(
    () => /two/.test(readFileSync(`${file}.1`, 'utf8')),
    () => 'the old file',
  )
})

test('a log that takes nothing delays no request: lines are dropped and counted', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'berth-access-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const file = path.join(folder, 'pipe')
  execFileSync('mkfifo', [file])
  // A reader that never reads; without one the pipe could not be opened.
  const { openSync, closeSync, constants } = await import('node:fs')
  const reader = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK)
  t.after(() => closeSync(reader))
  const settings = { accessLog: { format: 'json' as const, file } }
  const { port, gateway } = await startGatewayHarness(t, app(), { settings })
  const long = `/ann-dev/${'long/'.repeat(90)}`
  const begun = performance.now()
  const dropped = async () => (await gateway.counts()).berth_gateway_access_log_dropped_total ?? 0
  for (let sent = 0; (await dropped()) === 0 && sent < 20_000; sent += 200)
    await Promise.all(Array.from({ length: 200 }, () => get(port, long, { headers: ann })))
  assert.ok((await dropped()) > 0)
  assert.ok(performance.now() - begun < waitLimit(60_000))
})

test('a file that cannot be opened is reported, and requests are answered all the same; off, there is no file and no metric', async (t) => {
  const settings = { accessLog: { format: 'json' as const, file: '/nowhere/access.log' } }
  const { port, calls } = await startGatewayHarness(t, app(), { settings })
  assert.equal((await get(port, '/ann-dev/', { headers: ann })).status, 200)
  assert.deepEqual(calls.reports, ['ACCESS_LOG_FILE cannot be opened: ENOENT'])
  const off = await startGatewayHarness(t, app())
  assert.equal((await get(off.port, '/ann-dev/', { headers: ann })).status, 200)
  assert.equal((await off.gateway.counts()).berth_gateway_access_log_dropped_total, undefined)
  assert.ok(!existsSync('/nowhere'))
})
