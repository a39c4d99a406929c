import type { IncomingMessage } from 'node:http'
import { type BlockList, isIP } from 'node:net'

/** Longest address that is stored, in characters. */
const longest = 45

/**
 * The address a request comes from. `X-Forwarded-For` is believed only as far as proxies of the operator's wrote it:
 * from the right, the first address that is not a trusted proxy's.
 */
export function clientAddress(request: IncomingMessage, trusted: BlockList): string {
  let address = normalise(request.socket.remoteAddress ?? '')
  const forwarded = String(request.headers['x-forwarded-for'] ?? '')
    .split(',')
    .map((each) => normalise(each.trim()))
  while (isTrusted(address, trusted)) {
    const next = forwarded.pop()
    if (next === undefined || isIP(next) === 0) break
    address = next
  }
  return address.slice(0, longest)
}

const isTrusted = (address: string, trusted: BlockList) =>
  isIP(address) !== 0 && trusted.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')

/** An IPv4 peer of a dual-stack listener is reported as `::ffff:10.0.0.1`. */
const normalise = (address: string) => address.replace(/^::ffff:(?=\d+\.)/, '')
