import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { networkOf } from '#/basics/ip-address.ts'
import { connectionsCheckingInterval, createServer } from '#/basics/bind.ts'

/** Timeouts in ms: a redirect needs one head. */
const [headersTimeout, connectionTimeout] = [5_000, 10_000]
/** Of all clients, of whom one network has half. */
const defaultMax = 1_000

/**
 * Listener on plain HTTP that answers every request with a redirect to HTTPS; not bound yet. No request passes, so no
 * cookie or token is accepted on it.
 * @param httpsPort port of the TLS listener @param max connections
 */
export function createRedirectListener(httpsPort: () => number, max = defaultMax): Server {
  const server = createServer(
    { headersTimeout, requestTimeout: connectionTimeout, keepAliveTimeout: 1, connectionsCheckingInterval },
    (request, response) => {
      const host = hostOf(request.headers.host)
      const target = request.url ?? ''
      if (host === undefined || !target.startsWith('/'))
        return void response.writeHead(400, { connection: 'close' }).end()
      const port = httpsPort() === 443 ? '' : `:${httpsPort()}`
      const location = `https://${host}${port}${target}`
      // 308 keeps the method (RFC 9110, 15.4.9).
      response.writeHead(308, { location, 'content-length': 0, connection: 'close' }).end()
    },
  )
  server.maxConnections = Math.min(max, defaultMax)
  boundNetworks(server, Math.max(1, Math.floor(server.maxConnections / 2)))
  server.setTimeout(connectionTimeout)
  return server
}

/** A client that opens connections and sends nothing keeps no other client out: above its limit its oldest is closed. */
function boundNetworks(server: Server, max: number): void {
  const byNetwork = new Map<string, Set<Socket>>()
  server.on('connection', (socket: Socket) => {
    const network = networkOf(socket.remoteAddress ?? '')
    const same = byNetwork.get(network) ?? new Set<Socket>()
    for (const oldest of same) {
      if (same.size < max) break
      same.delete(oldest)
      oldest.destroy()
    }
    byNetwork.set(network, same.add(socket))
    socket.once('close', () => {
      same.delete(socket)
      if (same.size === 0 && byNetwork.get(network) === same) byNetwork.delete(network)
    })
  })
}

/** Host without its port; undefined for what no browser sends. */
function hostOf(header: string | undefined): string | undefined {
  const [, host] = /^([\w.-]{1,253}|\[[\da-f:.]{2,45}\])(?::\d{1,5})?$/i.exec(header ?? '') ?? []
  return host
}
