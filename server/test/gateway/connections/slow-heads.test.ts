import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Server } from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { suite, test, type TestContext } from 'node:test'
import { createRedirectListener } from '@berth/gateway/clients/redirect-listener.ts'
import { createListener } from '#/http/listener.ts'
import { onlyLong, timeLimit } from '#test/support/extent.ts'
import { startGatewayHarness } from '#test/support/gateway/gateway-harness.ts'
import { echoApp } from '#test/support/gateway/test-apps.ts'

/**
 * How long a head may take that comes byte by byte, with the limits of a Berth as it is installed. Node looks for such heads every 30 s
 * unless it is told otherwise: the redirect to https, which faces the network, kept one for 35 s, where 5 s are meant.
 */
suite('slow heads', { concurrency: true }, () => {
  test('the redirect to https ends a head that takes more than 5 s', async (t) => {
    const port = await listen(
      t,
      createRedirectListener(() => 443),
    )
    await endsAfter(t, port, 5_000)
  })

  test('the gateway ends a head that takes more than 15 s', onlyLong, async (t) => {
    const { port } = await startGatewayHarness(t, echoApp())
    await endsAfter(t, port, 15_000)
  })

  test('the listener of the API ends a head that takes more than 15 s', onlyLong, async (t) => {
    await endsAfter(
      t,
      await listen(
        t,
        createListener(() => undefined),
      ),
      15_000,
    )
  })
})

/** Not before the limit, and two seconds after it at the latest. @param limit ms */
async function endsAfter(t: TestContext, port: number, limit: number): Promise<void> {
  const begun = performance.now()
  const socket = net.connect(port, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\nHost: a\r\nX-Slow: '))
  const drip = setInterval(() => socket.write('x'), 200)
  const giveUp = setTimeout(() => socket.destroy(), limit + timeLimit(10_000))
  t.after(() => {
    clearInterval(drip)
    clearTimeout(giveUp)
    socket.destroy()
  })
  // Written after its end.
  socket.on('error', () => undefined).resume()
  // `once` of events would reject with the reset that answers such a write.
  await new Promise<void>((done) => socket.once('close', () => done()))
  const took = performance.now() - begun
  assert.ok(took > limit - 200 && took < limit + timeLimit(2_500), `after ${took} ms`)
}

async function listen(t: TestContext, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}
