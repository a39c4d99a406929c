import type { Server } from 'node:http'
import { connectionsCheckingInterval, createServer } from '#/node-http.ts'

/** Timeouts in ms: a redirect needs one head. */
const [headersTimeout, connectionTimeout] = [5_000, 10_000]
const maxConnections = 1_000

/**
 * Listener on plain HTTP that answers every request with a redirect to HTTPS; not bound yet. No request passes, so no
 * cookie or token is accepted on it.
 * @param httpsPort port of the TLS listener
 */
export function createRedirectListener(httpsPort: () => number): Server {
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
  server.maxConnections = maxConnections
  server.setTimeout(connectionTimeout)
  return server
}

/** Host without its port; undefined for what no browser sends. */
function hostOf(header: string | undefined): string | undefined {
  const [, host] = /^([\w.-]{1,253}|\[[\da-f:.]{2,45}\])(?::\d{1,5})?$/i.exec(header ?? '') ?? []
  return host
}
