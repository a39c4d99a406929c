import assert from 'node:assert/strict'
import { lstat, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, request, type Server } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { createListener, listenOnSocket } from '#/http/listener.ts'
import { startRig } from '#test/support/control-plane.ts'
import { noCreateRuntime } from '#test/support/engine/faulty-runtimes.ts'

/** The socket that API and front end answer on, without the gateway before it. */

const rig = await startRig({ after }, {}, { wrapRuntime: noCreateRuntime })
const socketPath = rig.gateway.settings?.platformSocket ?? ''

/** What the socket answers to exactly these bytes. */
async function raw(bytes: string): Promise<string> {
  const socket = connect(socketPath)
  socket.end(bytes)
  let text = ''
  for await (const chunk of socket.setEncoding('latin1')) text += String(chunk)
  return text
}

test('only its owner may use the socket', async () => {
  const { mode } = await lstat(socketPath)
  assert.equal(mode & 0o777, 0o600)
  assert.equal((await lstat(path.dirname(socketPath))).mode & 0o077, 0)
})

test('what the parser refuses is answered in words', async () => {
  assert.match(await raw('nonsense\r\n\r\n'), /^HTTP\/1\.1 400 .*\{"error":"This is not a valid HTTP request\."\}$/s)
  assert.match(await raw(`GET / HTTP/1.1\r\nHost: x\r\nA: ${'a'.repeat(70_000)}\r\n\r\n`), /^HTTP\/1\.1 431 /)
})

test('there is nothing to upgrade to', async () => {
  const head = 'Host: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'
  assert.match(await raw(`GET /api/container/events HTTP/1.1\r\n${head}`), /^HTTP\/1\.1 404 .*\{"error":/s)
})

test('a person is where the gateway says they are', async () => {
  const headers = { 'x-forwarded-for': '203.0.113.7', 'content-type': 'application/json' }
  await new Promise((resolve) =>
    request({ socketPath, method: 'POST', path: '/api/auth/signup', headers }, resolve).end('{"email":"far@x.org"}'),
  )
  const links = await rig.berth.database.db.selectFrom('magic_links').select('ip_address').execute()
  assert.ok(links.some(({ ip_address }) => ip_address === '203.0.113.7'))
})

test('the metrics have what the gateway counts', async () => {
  assert.match((await rig.berth.call('GET', '/metrics')).text, /^berth_gateway_requests_total 7$/m)
})

test('a socket that a killed process left is no obstacle, a file that is none of ours is not removed', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'berth-socket-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const [left, file] = [path.join(folder, 'left.sock'), path.join(folder, 'file')]
  const dead = createServer().listen(left)
  await new Promise((resolve) => dead.once('listening', resolve))
  const server = createListener((_request, response) => response.end('new'))
  await listenOnSocket(server, left, () => undefined)
  assert.equal(await bodyFrom(left), 'new')
  await writeFile(file, 'precious')
  await assert.rejects(
    listenOnSocket(
      createListener(() => undefined),
      file,
      () => undefined,
    ),
    /exists and is not a socket/,
  )
  await Promise.all([server, dead].map((each: Server) => new Promise((resolve) => each.close(resolve))))
})

const bodyFrom = (target: string): Promise<string> =>
  new Promise((resolve, reject) => {
    request({ socketPath: target, path: '/', agent: false }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      answer.on('end', () => resolve(text))
    })
      .on('error', reject)
      .end()
  })
