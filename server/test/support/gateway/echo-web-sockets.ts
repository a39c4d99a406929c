import { once } from 'node:events'
import type http from 'node:http'
import type { TestContext } from 'node:test'
import WebSocket, { WebSocketServer } from 'ws'
import { httpApp } from '#test/support/gateway/test-apps.ts'

/** An app that echoes messages; its first one tells the headers it was opened with. */
export function echoSockets(): http.Server {
  const server = httpApp((_, response) => response.end())
  new WebSocketServer({ server, handleProtocols: () => 'chat' }).on('connection', (socket, request) => {
    socket.send(JSON.stringify({ url: request.url, headers: request.headers }))
    socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }))
  })
  return server
}

export async function connected(
  t: TestContext,
  port: number,
  headers: Record<string, string>,
  target = '/ann-dev/socket?x=1',
): Promise<{ socket: WebSocket; hello: string }> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${target}`, ['chat'], { headers })
  t.after(() => socket.terminate())
  const [hello] = (await once(socket, 'message')) as [Buffer]
  return { socket, hello: hello.toString() }
}

export async function refused(
  port: number,
  headers: Record<string, string>,
  target = '/ann-dev/',
): Promise<{ status: number; body: string }> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${target}`, { headers })
  const [, message] = (await once(socket, 'unexpected-response')) as [unknown, http.IncomingMessage]
  return { status: message.statusCode ?? 0, body: Buffer.concat(await message.toArray()).toString() }
}
