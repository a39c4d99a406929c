import assert from 'node:assert/strict'
import net from 'node:net'
import tls from 'node:tls'
import { suite, test, type TestContext } from 'node:test'
import { certificateFiles } from '#test/doctor/certificate.ts'
import { startGatewayHarness, type GatewayHarness, type HarnessOptions } from '#test/support/gateway/gateway-harness.ts'
import { headOf, requestHead } from '#test/support/gateway/http-text.ts'
import { rawApp } from '#test/support/gateway/test-apps.ts'

const untilClose = `${headOf('HTTP/1.1 200 OK')}hello`
const inChunks = `${headOf('HTTP/1.1 200 OK', 'Transfer-Encoding: chunked')}5\r\nhello\r\n`

/** Answers whose end the client learns from the end of the connection alone: what the app sends, and the client's version. */
const answers = [
  ['without a length', untilClose, 'HTTP/1.1'],
  ['in chunks, to a client of HTTP/1.0,', inChunks, 'HTTP/1.0'],
] as const

/** What an app may do in the middle of its answer. */
const breaks: Record<string, (app: net.Socket, bench: GatewayHarness) => unknown> = {
  'the app breaks off': (app) => app.resetAndDestroy(),
  'the container stops': (_app, { gateway, route }) =>
    gateway.apply([{ kind: 'route', route: { ...route, where: { reason: 'crashed', exitCode: 1 } } }]),
}

/** How a client sees the end of an answer whose beginning it has, after `then`: as `end`, or as an error by its code. */
async function endSeen(
  t: TestContext,
  answer: string,
  version: string,
  then: (app: net.Socket, bench: GatewayHarness) => unknown,
  changes: HarnessOptions = {},
): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  let atApp: net.Socket | undefined
  const app = rawApp((socket) => {
    atApp = socket
    socket.write(answer)
  })
  const bench = await startGatewayHarness(t, app, changes)
  const where = { port: bench.port, host: '127.0.0.1' }
  const client = changes.tls ? tls.connect({ ...where, rejectUnauthorized: false }) : net.connect(where)
  t.after(() => client.destroy())
  client.write(requestHead(`GET /ann-dev/ ${version}`))
  let received = ''
  client.on('data', (bytes) => {
    const had = received.includes('hello')
    received += bytes.toString()
    if (!had && received.includes('hello') && atApp) void then(atApp, bench)
  })
  client.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
  client.on('end', () => resolve('end'))
  return promise
}

// It was closed as a whole answer is: half a file was saved as if it were all of it.
suite('an answer that is cut is not taken for a whole one', { concurrency: true }, () => {
  for (const [what, answer, version] of answers)
    for (const [cause, then] of Object.entries(breaks))
      test(`${what} when ${cause}`, async (t) => {
        assert.equal(await endSeen(t, answer, version, then), 'ECONNRESET')
      })

  test('with TLS, too', async (t) => {
    const { cert, key } = await certificateFiles(t, 'localhost', 30)
    const changes = { tls: { certFile: cert, keyFile: key } }
    assert.equal(await endSeen(t, untilClose, 'HTTP/1.1', (app) => app.resetAndDestroy(), changes), 'ECONNRESET')
  })

  test('one that the app ends is whole', async (t) => {
    assert.equal(await endSeen(t, untilClose, 'HTTP/1.1', (app) => app.end()), 'end')
    assert.equal(await endSeen(t, inChunks, 'HTTP/1.0', (app) => app.end('0\r\n\r\n')), 'end')
  })
})
