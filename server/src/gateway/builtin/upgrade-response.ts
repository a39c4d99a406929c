import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * A response on the bare socket of an `upgrade` event, so that refusals and plain answers are written by the same code as
 * everywhere. The connection ends with it: Node's parser has let go of the socket and would not see a next request.
 */
export function responseOn(socket: Socket, request: IncomingMessage): ServerResponse {
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(socket)
  // The server does this for its own responses; without it a large answer would stop at the first full buffer.
  socket.on('drain', () => response.emit('drain'))
  response.once('finish', () => socket.destroySoon())
  return response
}
