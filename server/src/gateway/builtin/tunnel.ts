import type { ClientRequest } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type Reply, replyTo } from './ask.ts'
import { type Exchange, relay } from './forward.ts'
import { gatewayRefusals } from './gateway-refusals.ts'
import type { HeaderLine } from './hop-by-hop.ts'
import { type Destined, responseHeaders } from './response-headers.ts'

/** The client's side of a WebSocket that is being opened; `response` answers on the socket as long as nothing is agreed. */
export interface Opening extends Exchange {
  readonly socket: Socket
  /** What the client sent right behind its handshake. */
  readonly head: Buffer
}

/** Headers that ask an app for a WebSocket; they are hop-by-hop, so they are said anew. */
export const askForWebSocket: readonly HeaderLine[] = [
  ['Connection', 'Upgrade'],
  ['Upgrade', 'websocket'],
]

// A router on the way may forget a silent connection; an unplugged client never says that it left.
const keepAliveAfter = 30_000

/**
 * Opens a WebSocket to the app and joins the two connections; frames are never looked at. The client hears 101 only
 * after the app has said it, and an app's refusal arrives as the app wrote it.
 * Resolves when the connections are joined or the refusal has begun. @throws {GatewayRefusal} 502
 */
export async function openTunnel(
  opening: Opening,
  appRequest: ClientRequest,
  to: Destined,
  report: (cause: Error) => void,
): Promise<void> {
  opening.response.once('close', () => appRequest.destroy())
  appRequest.end()
  const reply = await replyTo(appRequest).catch((cause: unknown) => {
    throw gatewayRefusals.appFailed(cause)
  })
  if (reply.kind === 'upgrade') join(opening, reply, to)
  else relay(reply.message, opening.response, to, report)
}

function join(opening: Opening, reply: Extract<Reply, { kind: 'upgrade' }>, to: Destined): void {
  const { socket, response, head } = opening
  const lines = responseHeaders(reply.message.rawHeaders, to)
  if (reply.message.headers.upgrade?.toLowerCase() !== 'websocket') {
    reply.socket.destroy()
    throw gatewayRefusals.appFailed(new Error('the app changed to a protocol that was not asked for'))
  }
  response.detachSocket(socket)
  socket.write(headText([...askForWebSocket, ...lines]), 'latin1')
  // Bytes that came together with the two heads have been read already and would be lost.
  socket.write(reply.head)
  reply.socket.write(head)
  splice(socket, reply.socket)
}

function headText(lines: readonly HeaderLine[]): string {
  return `HTTP/1.1 101 Switching Protocols\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`
}

/** Joins two sockets until one closes; what it had sent still reaches the other. */
function splice(client: Socket, app: Socket): void {
  for (const [one, other] of [
    [client, app],
    [app, client],
  ] as const) {
    one.setTimeout(0)
    one.setNoDelay(true)
    one.setKeepAlive(true, keepAliveAfter)
    one.on('error', () => {})
    one.once('close', () => other.destroySoon())
    one.pipe(other as Duplex)
  }
}
