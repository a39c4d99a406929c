import { isIPv6 } from 'node:net'

/**
 * What is counted as one client: an IPv4 address, or the /64 network of an IPv6 address, because whoever has one such address
 * has 2^64 of them. An IPv4 peer of a dual-stack listener (`::ffff:10.0.0.1`) is the IPv4 address.
 */
export function networkOf(address: string): string {
  const plain = address.startsWith('::ffff:') && address.includes('.') ? address.slice('::ffff:'.length) : address
  if (!isIPv6(plain)) return plain
  const [front = '', back] = plain.split('%', 1).join('').split('::', 2)
  const groups = front === '' ? [] : front.split(':')
  const rest = back === undefined || back === '' ? [] : back.split(':')
  const zeros = back === undefined ? 0 : Math.max(0, 8 - groups.length - rest.length)
  const all = [...groups, ...Array<string>(zeros).fill('0'), ...rest]
  return `${all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}
