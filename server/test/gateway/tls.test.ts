import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import net, { createServer } from 'node:net'
import { Agent, get, request } from 'node:https'
import http, { type IncomingMessage } from 'node:http'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { test, type TestContext } from 'node:test'
import { connect, type TLSSocket } from 'node:tls'
import { randomBytes } from 'node:crypto'
import WebSocket from 'ws'
import { readConfig } from '#/config/config.ts'
import { echoSockets } from '#test/support/gateway/echo-web-sockets.ts'
import { startGatewayHarness } from '#test/support/gateway/gateway-harness.ts'
import { echoApp, httpApp, listen } from '#test/support/gateway/test-apps.ts'
import { ann } from '#test/support/gateway/tokens.ts'
import { runProgram, waitFor } from '#test/support/program.ts'
import { onlyLong } from '#test/support/extent.ts'

/** TLS in Berth itself: real certificates, the program with both processes. */

interface Pair {
  readonly cert: string
  readonly key: string
}

/** Creates a self-signed certificate. */
function makePair(folder: string, name: string, days = 30): Pair {
  const pair = { cert: path.join(folder, `${name}.pem`), key: path.join(folder, `${name}.key`) }
  const subject = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=DNS:spawner.berth.localhost,IP:127.0.0.1']
  const files = ['-keyout', pair.key, '-out', pair.cert]
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', String(days)]
  execFileSync('openssl', ['req', '-x509', ...kind, ...subject, ...files], { stdio: 'ignore' })
  return pair
}

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-tls-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

function replace(used: Pair, next: Pair): void {
  copyFileSync(next.cert, used.cert)
  copyFileSync(next.key, used.key)
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

/** Name in the certificate that a new connection gets. */
async function nameAt(port: number): Promise<string> {
  const socket: TLSSocket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const { subject } = socket.getPeerCertificate()
  socket.destroy()
  return String(subject.CN)
}

async function ask(port: number, target: string, ca: string): Promise<IncomingMessage> {
  const headers = { host: `spawner.berth.localhost:${port}` }
  const [answer] = (await once(get({ port, host: '127.0.0.1', path: target, ca, headers }), 'response')) as [
    IncomingMessage,
  ]
  return answer.resume()
}

test('Berth speaks TLS itself: pages with HSTS, a redirect from http, and a new certificate without a restart', async (t) => {
  const folder = folderOf(t)
  const [used, next, foreign] = [makePair(folder, 'first'), makePair(folder, 'second'), makePair(folder, 'third')]
  const ca = readFileSync(used.cert, 'utf8')
  const redirectPort = await freePort()
  const program = runProgram(t, {
    TLS_CERT_FILE: used.cert,
    TLS_KEY_FILE: used.key,
    PREFERRED_URL_SCHEME: 'https',
    HTTP_REDIRECT_PORT: String(redirectPort),
  })
  const [, digits] = await program.said(/listening on 127\.0\.0\.1:(\d+)/)
  const port = Number(digits)
  await program.said(/Berth is ready: https:/)

  const page = await ask(port, '/login', ca)
  assert.equal(page.statusCode, 200)
  assert.equal(page.headers['strict-transport-security'], 'max-age=31536000')

  const headers = { host: 'spawner.berth.localhost:8080' }
  const asked = http.get({ port: redirectPort, host: '127.0.0.1', path: '/login?next=%2F', headers })
  const [redirect] = (await once(asked, 'response')) as [IncomingMessage]
  assert.equal(redirect.resume().statusCode, 308)
  assert.equal(redirect.headers.location, `https://spawner.berth.localhost:${port}/login?next=%2F`)
  const odd = http.get({ port: redirectPort, host: '127.0.0.1', headers: { host: 'x.org/@evil.org' } })
  const [refused] = (await once(odd, 'response')) as [IncomingMessage]
  assert.equal(refused.resume().statusCode, 400)

  assert.equal(await nameAt(port), 'first')
  copyFileSync(foreign.key, used.key)
  await program.said(/the new certificate is not used, the old one stays: the key in .* does not belong/)
  assert.equal(await nameAt(port), 'first')
  replace(used, next)
  await waitFor('the new certificate', async () => (await nameAt(port)) === 'second')
  assert.equal((await ask(port, '/login', readFileSync(next.cert, 'utf8'))).statusCode, 200)
  assert.doesNotMatch(program.output(), /PRIVATE KEY/)
})

test(
  'WebSockets and bodies of megabytes pass through TLS both ways, and an unfinished handshake is no connection',
  onlyLong,
  async (t) => {
    const folder = folderOf(t)
    const { cert, key } = makePair(folder, 'first')
    const ca = readFileSync(cert, 'utf8')
    const app = echoSockets()
    const { port, gateway } = await startGatewayHarness(t, app, {
      tls: { certFile: cert, keyFile: key },
      settings: { scheme: 'https' },
    })
    const idle = net.connect(port, '127.0.0.1')
    t.after(() => idle.destroy())
    const socket = new WebSocket(`wss://127.0.0.1:${port}/ann-dev/socket`, ['chat'], { headers: ann, ca })
    t.after(() => socket.terminate())
    await once(socket, 'message')
    for (const size of [1, 65_536, 5_000_000]) {
      const large = Buffer.alloc(size, size % 251)
      socket.send(large)
      const [echo] = (await once(socket, 'message')) as [Buffer]
      assert.ok(echo.equals(large), String(size))
    }
    assert.equal((await gateway.counts()).berth_gateway_connections, 1)
  },
)

test('a chain that is half-written or cannot be reached leaves the certificate before it in use', async (t) => {
  // A copy of a chain, not renamed into place, was read between its first and its second certificate. OpenSSL refused it
  // in the timer that looks at the files, which ended the gateway process and with it every connection.
  const folder = folderOf(t)
  const [used, next] = [makePair(folder, 'first'), makePair(folder, 'second')]
  const files = { certFile: used.cert, keyFile: used.key }
  const { port, gateway, calls } = await startGatewayHarness(
    t,
    httpApp(() => {}),
    { tls: files },
  )
  const look = () => gateway.listen('127.0.0.1', port, { ...files, redirectPort: null })
  const second = readFileSync(next.cert, 'utf8')
  writeFileSync(used.cert, readFileSync(used.cert, 'utf8') + second.slice(0, 300))
  await look()
  assert.match(calls.reports.at(-1) ?? '', /the old one stays: .*bad end line/)
  rmSync(used.cert)
  symlinkSync(used.cert, used.cert)
  await look()
  assert.match(calls.reports.at(-1) ?? '', /the old one stays: .*ELOOP/)
  assert.equal(await nameAt(port), 'first')
  rmSync(used.cert)
  replace(used, next)
  await look()
  assert.equal(await nameAt(port), 'second')
})

test('clients that connect and send nothing, or stay idle, keep no other client out of TLS', async (t) => {
  // As many connections as the gateway keeps, without a single byte: Node refused all others until their timeout, before
  // the gateway could close an idle connection.
  const folder = folderOf(t)
  const { cert, key } = makePair(folder, 'first')
  const limits = { connections: 8 }
  const app = httpApp((_, response) => void response.end('hello'))
  const { port } = await startGatewayHarness(t, app, { tls: { certFile: cert, keyFile: key }, options: { limits } })
  const open = async () => {
    const socket = net.connect(port, '127.0.0.1').on('error', () => {})
    t.after(() => socket.destroy())
    await once(socket, 'connect')
    return socket
  }
  const silent = await Promise.all(Array.from({ length: 20 }, open))
  assert.equal(await nameAt(port), 'first')
  await waitFor('the oldest handshakes to be closed', () => silent.filter(({ closed }) => closed).length >= 18)

  for (let number = 0; number < 12; number++) {
    const idle = connect({ port, host: '127.0.0.1', rejectUnauthorized: false }).on('error', () => {})
    t.after(() => idle.destroy())
    await once(idle, 'secureConnect')
  }
  const [answer] = (await once(
    get({ port, host: '127.0.0.1', path: '/ann-dev/', headers: ann, ca: readFileSync(cert) }),
    'response',
  )) as [IncomingMessage]
  assert.equal(answer.resume().statusCode, 200)
})

test('an upload and a download of 20 MB through TLS arrive unchanged', async (t) => {
  const folder = folderOf(t)
  const { cert, key } = makePair(folder, 'first')
  const app = httpApp((incoming, response) => void incoming.pipe(response))
  const { port } = await startGatewayHarness(t, app, { tls: { certFile: cert, keyFile: key } })
  const bytes = randomBytes(20_000_000)
  const headers = { ...ann, 'content-length': bytes.length }
  const ca = readFileSync(cert)
  const sent = request({ port, host: '127.0.0.1', ca, method: 'POST', path: '/ann-dev/', headers })
  sent.end(bytes)
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  assert.equal(answer.statusCode, 200)
  assert.ok(Buffer.concat((await answer.toArray()) as Buffer[]).equals(bytes))
})

test('an upload in records of a few bytes arrives unchanged at an app that reads slowly', async (t) => {
  const folder = folderOf(t)
  const { cert, key } = makePair(folder, 'first')
  const app = httpApp(async (incoming, response) => {
    const pieces: Buffer[] = []
    for await (const piece of incoming) {
      pieces.push(piece as Buffer)
      if (pieces.length % 50 === 1) await sleep(5)
    }
    response.end(Buffer.concat(pieces))
  })
  const { port } = await startGatewayHarness(t, app, { tls: { certFile: cert, keyFile: key } })
  const bytes = randomBytes(300_000)
  const headers = { ...ann, 'content-length': bytes.length }
  const sent = request({ port, host: '127.0.0.1', ca: readFileSync(cert), method: 'POST', path: '/ann-dev/', headers })
  for (let at = 0; at < bytes.length; at += 7) {
    sent.write(bytes.subarray(at, at + 7))
    if (at % 700 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  sent.end()
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  assert.ok(Buffer.concat((await answer.toArray()) as Buffer[]).equals(bytes))
})

/** Content types of the TLS records that the gateway sends through this, each a byte (RFC 8446, 5.1); 23 is encrypted. */
async function recordsOf(t: TestContext, gateway: number): Promise<{ port: number; types: number[] }> {
  const types: number[] = []
  const relay = createServer((client) => {
    const server = net.connect(gateway, '127.0.0.1')
    client.pipe(server)
    server.pipe(client)
    let rest = Buffer.alloc(0)
    server.on('data', (bytes: Buffer) => {
      rest = Buffer.concat([rest, bytes])
      while (rest.length >= 5 && rest.length >= 5 + rest.readUInt16BE(3)) {
        types.push(rest[0] ?? 0)
        rest = rest.subarray(5 + rest.readUInt16BE(3))
      }
    })
  })
  return { port: await listen(t, relay), types }
}

test('through TLS, head and body of a small answer leave as one record', async (t) => {
  const { cert, key } = makePair(folderOf(t), 'first')
  const app = httpApp((_, response) => void response.end('x'.repeat(9_000)))
  const { port: gateway } = await startGatewayHarness(t, app, { tls: { certFile: cert, keyFile: key } })
  const { port, types } = await recordsOf(t, gateway)
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: readFileSync(cert) })
  t.after(() => agent.destroy())
  const length = async () => {
    const asked = get({ port, host: '127.0.0.1', agent, path: '/ann-dev/', headers: ann })
    const [answer] = (await once(asked, 'response')) as [IncomingMessage]
    return Buffer.concat((await answer.toArray()) as Buffer[]).length
  }
  await length()
  const before = types.length
  assert.equal(await length(), 9_000)
  assert.deepEqual(types.slice(before), [23])
})

test('a client of TLS 1.2 that asks for another handshake loses its connection, and no other client theirs', async (t) => {
  const { cert, key } = makePair(folderOf(t), 'first')
  const { port } = await startGatewayHarness(t, echoApp(), { tls: { certFile: cert, keyFile: key } })
  const ca = readFileSync(cert)
  const client = connect({ port, host: '127.0.0.1', ca, minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' })
  t.after(() => client.destroy())
  await once(client, 'secureConnect')
  const closed = once(client, 'close')
  client.on('error', () => {})
  client.renegotiate({}, () => {})
  await closed
  const asked = get({ port, host: '127.0.0.1', ca, path: '/ann-dev/', headers: ann })
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  assert.equal(answer.resume().statusCode, 200)
})

test('settings of TLS that cannot work are refused, each with what to do', (t) => {
  const folder = folderOf(t)
  const [pair, other] = [makePair(folder, 'first'), makePair(folder, 'second')]
  const problems = (env: Record<string, string>) => readConfig(env, () => '').problems
  const right = { TLS_CERT_FILE: pair.cert, TLS_KEY_FILE: pair.key, PREFERRED_URL_SCHEME: 'https' }
  assert.deepEqual(problems(right), [])
  assert.deepEqual(problems({ TLS_CERT_FILE: pair.cert }), ['TLS_CERT_FILE and TLS_KEY_FILE: set both, or neither'])
  assert.deepEqual(problems({ HTTP_REDIRECT_PORT: '80' }), ['HTTP_REDIRECT_PORT: needs TLS_CERT_FILE and TLS_KEY_FILE'])
  assert.match(problems({ ...right, PREFERRED_URL_SCHEME: 'http' })[0] ?? '', /needs PREFERRED_URL_SCHEME=https/)
  assert.match(problems({ ...right, TLS_KEY_FILE: other.key })[0] ?? '', /does not belong to the certificate/)
  assert.match(problems({ ...right, TLS_CERT_FILE: '/nowhere' })[0] ?? '', /no such file/)
  chmodSync(pair.key, 0o644)
  assert.match(problems(right)[0] ?? '', /every account of this machine can use .*\. Run: chmod o= /)
})
