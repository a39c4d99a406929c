import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { isLoopback, isLoopbackHost } from '#/ip-address.ts'
import { hostName } from '#/tokens/clear-cookies.ts'

/**
 * Where a request comes from, as the gateway found it out. Nobody but the gateway and the account that Berth runs as
 * reaches our socket, and the gateway replaces whatever a client says of itself.
 */

/** Address of the client; empty when it is missing, as of a program that speaks to the socket itself. */
export function clientAddress({ headers }: IncomingMessage): string {
  const address = String(headers['x-forwarded-for'] ?? '')
    .split(',')
    .at(-1)
  return address && isIP(address.trim()) !== 0 ? address.trim() : ''
}

/**
 * Whether a program on this machine asks, and no proxy passes on what somebody else asks. A proxy on this machine that
 * sends no forwarding header is not told from a program by its address alone: what `TRUSTED_PROXIES` names is never this
 * machine, and neither is whatever asks for a host that is known beyond it.
 */
export function isLocalClient(request: IncomingMessage): boolean {
  const address = clientAddress(request)
  if (address === '') return request.headers['x-forwarded-for'] === undefined
  return (
    request.headers['x-berth-proxy'] === 'none' && isLoopback(address) && isLoopbackHost(hostName(request.headers.host))
  )
}

/** Whether a proxy passes the request on that `TRUSTED_PROXIES` does not name; the address is the proxy's own then. */
export function isFromUntrustedProxy({ headers }: IncomingMessage): boolean {
  return headers['x-berth-proxy'] === 'untrusted'
}
