import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import https from 'node:https'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { WebSocket, WebSocketServer } from 'ws'
import { startGatewayHarness } from '#test/support/gateway/gateway-harness.ts'
import { get } from '#test/support/gateway/raw-client.ts'
import { ann } from '#test/support/gateway/tokens.ts'

/** An app whose main port speaks TLS, with a certificate that it has signed itself: `scheme: https` of a template. */
function selfSigned(t: TestContext): { readonly key: string; readonly cert: string } {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-tls-app-'))
  t.after(() => rmSync(folder, { recursive: true }))
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
  return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
}

const megabytes = Buffer.alloc(3_000_000, 'over TLS ').toString('latin1')

function tlsApp(t: TestContext): https.Server {
  return https.createServer(selfSigned(t), (request, response) => {
    if (request.url === '/redirect') response.setHeader('location', `https://${request.headers.host}/there`)
    if (request.url === '/body') return void request.pipe(response)
    response.end(`${request.url} ${request.headers['x-forwarded-proto']}`)
  })
}

test('requests, large bodies and WebSockets reach it, and its certificate is not checked', async (t) => {
  const app = tlsApp(t)
  const sockets = new WebSocketServer({ server: app })
  t.after(() => sockets.close())
  sockets.on('connection', (socket) => socket.on('message', (data) => socket.send(String(data))))
  const { port } = await startGatewayHarness(t, app, { rules: { scheme: 'https', readyPath: 'healthz' } })
  for (const target of ['/one', '/two'])
    assert.equal((await get(port, `/ann-dev${target}`, { headers: ann })).body, `${target} http`)
  const sent = await get(port, '/ann-dev/body', { method: 'POST', headers: ann, body: megabytes })
  assert.equal(sent.body, megabytes)
  const { headers } = await get(port, '/ann-dev/redirect', { headers: ann })
  assert.equal(new URL(headers.location ?? '', 'http://x').pathname, '/ann-dev/there')
  const socket = new WebSocket(`ws://127.0.0.1:${port}/ann-dev/`, { headers: ann })
  await once(socket, 'open')
  socket.send('hello')
  assert.equal(String((await once(socket, 'message'))[0]), 'hello')
  socket.terminate()
})
