import net from 'node:net'
import type { TestContext } from 'node:test'
import { startGatewayHarness, type GatewayHarness, type HarnessOptions } from '#test/support/gateway/gateway-harness.ts'
import { keptHead, switching, upgradeHead } from '#test/support/gateway/http-text.ts'
import { rawClient, until, type RawClient, isOver } from '#test/support/gateway/raw-client.ts'
import { annToken } from '#test/support/gateway/tokens.ts'

/** An app that never ends what it begins: an event stream, an answer that is awaited, an upload, a WebSocket. */
export function endlessApp(atApp: Set<net.Socket>): net.Server {
  return net.createServer((socket) => {
    atApp.add(socket)
    socket.on('close', () => atApp.delete(socket))
    socket.on('end', () => socket.end())
    socket.once('data', (bytes) => {
      const head = bytes.toString('latin1')
      if (/\r\nupgrade: websocket/i.test(head)) socket.write(switching)
      else if (head.includes('/events')) socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n')
    })
  })
}

export interface Streams {
  readonly bench: GatewayHarness
  readonly clients: Record<string, RawClient>
  readonly atApp: Set<net.Socket>
}

/**
 * One stream of each kind, open, with a token.
 * @param given a token, or what makes one that lives for seconds, once the gateway listens: a busy machine takes as long for that
 */
export async function openStreams(
  t: TestContext,
  given: string | (() => Promise<string>),
  changes: HarnessOptions = {},
): Promise<Streams> {
  const atApp = new Set<net.Socket>()
  const bench = await startGatewayHarness(t, endlessApp(atApp), changes)
  const token = typeof given === 'string' ? given : await given()
  const head = (text: string) => text.replace(annToken, token)
  const requests = {
    events: head(keptHead('GET /ann-dev/events HTTP/1.1')),
    waiting: head(keptHead('GET /ann-dev/waiting HTTP/1.1')),
    upload: head(keptHead('PUT /ann-dev/upload HTTP/1.1', 'Content-Length: 1000000')),
    socket: head(upgradeHead()),
  }
  const clients: Record<string, RawClient> = {}
  for (const [name, bytes] of Object.entries(requests)) {
    const client = await rawClient(t, bench.port)
    client.write(bytes)
    if (name === 'events') await client.expect(/1\r\nx\r\n$/)
    if (name === 'socket') await client.expect(/101/)
    clients[name] = client
  }
  await until('all four have reached the app', () => atApp.size === 4)
  return { bench, clients, atApp }
}

/** Over, or answered with a refusal instead of the app's answer. */
export const isEnded = (client: RawClient) => isOver(client) || /HTTP\/1\.1 [45]\d\d/.test(client.text())
