import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { isLoopback, isLoopbackHost } from '@berth/gateway/basics/ip-address.ts'
import { hostName } from '@berth/gateway/tokens/token-selection.ts'

/**
 * Client address as the gateway determined it. Only the gateway and the account that Berth runs as reach our socket,
 * and the gateway replaces all that a client sends about itself.
 */

/** Address of the client; empty when it is missing, as for a program that uses the socket directly. */
export function clientAddress({ headers }: IncomingMessage): string {
  const address = String(headers['x-forwarded-for'] ?? '')
    .split(',')
    .at(-1)
  return address && isIP(address.trim()) !== 0 ? address.trim() : ''
}

/**
 * Whether the client is a program on this machine, and no proxy. A local proxy without forwarding headers cannot be
 * told from a program by its address: so an address in `TRUSTED_PROXIES` is never a local client, and neither is a
 * request for a host that is known beyond this machine.
 */
export function isLocalClient(request: IncomingMessage): boolean {
  const address = clientAddress(request)
  if (address === '') return request.headers['x-forwarded-for'] === undefined
  return (
    request.headers['x-berth-proxy'] === 'none' && isLoopback(address) && isLoopbackHost(hostName(request.headers.host))
  )
}

/** Whether a proxy forwards the request that `TRUSTED_PROXIES` does not name; the address is the proxy's own then. */
export function isFromUntrustedProxy({ headers }: IncomingMessage): boolean {
  return headers['x-berth-proxy'] === 'untrusted'
}
