import assert from 'node:assert/strict'
import http from 'node:http'
import { test } from 'node:test'
import { startGatewayHarness } from '#test/support/gateway/gateway-harness.ts'
import { heldMemory } from '#test/support/gateway/held-memory.ts'
import { headOf, switching, upgradeHead } from '#test/support/gateway/http-text.ts'
import { rawClient, until, type RawClient } from '#test/support/gateway/raw-client.ts'
import { rawApp } from '#test/support/gateway/test-apps.ts'

const connections = 200

// It was up to 217 KB each, beside the limit for unfinished heads: 1 to 2 GB on the connections that one address may have.
for (const [what, target, access, status] of [
  ['is refused', '/bob-dev/', 'owner', 401],
  ['a public app has answered', '/ann-dev/', 'public', 200],
] as const)
  test(`an idle connection keeps nothing of a long head that ${what}`, async (t) => {
    const app = http.createServer({ maxHeaderSize: 65_536 }, (_request, response) => void response.end('ok'))
    const { port } = await startGatewayHarness(t, app, { rules: { access } })
    const clients: RawClient[] = []
    for (let each = 0; each < connections; each++) clients.push(await rawClient(t, port))
    const ask = async (count: number, cookie: string) => {
      for (const { write } of clients) write(headOf(`GET ${target} HTTP/1.1`, 'Host: a', `Cookie: ${cookie}`))
      const answered = ({ text }: RawClient) => text().match(new RegExp(`HTTP/1.1 ${status} `, 'g'))?.length === count
      await until('all are answered', () => clients.every(answered))
    }
    await ask(1, 'spawner_token=x')
    const before = await heldMemory()
    await ask(2, `spawner_token=x; p=${'a'.repeat(31_000)}`)
    const after = await heldMemory()
    const grown = [after.heap - before.heap, after.buffers - before.buffers].map((bytes) => bytes / connections)
    assert.ok(Math.max(...grown) < 10_000, `bytes of heap and buffers for each: ${grown.join(', ')}`)
  })

test('an open WebSocket keeps nothing of its head', async (t) => {
  const app = rawApp((socket) => void socket.write(switching))
  const { port } = await startGatewayHarness(t, app, { options: { limits: { webSocketsPerPerson: 3 * connections } } })
  const opened: RawClient[] = []
  /** Bytes for each of so many WebSockets more. */
  const sizeOf = async (cookie: string): Promise<number> => {
    const before = await heldMemory()
    const open = async () => {
      const client = await rawClient(t, port)
      opened.push(client)
      client.write(upgradeHead(`Cookie: ${cookie}`))
      await client.expect(/^HTTP\/1\.1 101 [^]*\r\n\r\n$/)
    }
    await Promise.all(Array.from({ length: connections }, open))
    return ((await heldMemory()).heap - before.heap) / connections
  }
  await sizeOf('p=a')
  const [short, long] = [await sizeOf('p=a'), await sizeOf(`p=${'a'.repeat(3_000)}`)]
  assert.ok(long - short < 1_500, `bytes of heap for each: ${long}, with a short head ${short}`)
})
