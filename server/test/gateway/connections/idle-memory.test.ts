import assert from 'node:assert/strict'
import http from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { test } from 'node:test'
import { startGatewayHarness } from '#test/support/gateway/gateway-harness.ts'
import { headOf } from '#test/support/gateway/http-text.ts'
import { rawClient, until, type RawClient } from '#test/support/gateway/raw-client.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** Bytes of the heap and of buffers, without what nothing refers to. */
async function memory(): Promise<{ heap: number; buffers: number }> {
  for (let turn = 0; turn < 5; turn++) {
    await nextTurn()
    collectGarbage()
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return { heap: heapUsed, buffers: arrayBuffers }
}

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
    const before = await memory()
    await ask(2, `spawner_token=x; p=${'a'.repeat(31_000)}`)
    const after = await memory()
    const grown = [after.heap - before.heap, after.buffers - before.buffers].map((bytes) => bytes / connections)
    assert.ok(Math.max(...grown) < 10_000, `bytes of heap and buffers for each: ${grown.join(', ')}`)
  })
