import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'

/**
 * Address of the person behind a request, as the gateway found it out: nobody else reaches our socket, and it replaces
 * whatever a client says. Empty when it is missing, as in a test that speaks to the socket itself.
 */
export function forwardedAddress({ headers }: IncomingMessage): string {
  const address = String(headers['x-forwarded-for'] ?? '')
    .split(',')
    .at(-1)
  return address && isIP(address.trim()) !== 0 ? address.trim() : ''
}
