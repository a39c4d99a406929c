import { BlockList, isIP, isIPv6 } from 'node:net'

/**
 * Network that counts as one client: an IPv4 address, or the /64 network of an IPv6 address, because a host with one such address
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

const privateNetworks = new BlockList()
for (const [network, bits] of [
  ['127.0.0.0', 8],
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['169.254.0.0', 16],
  ['100.64.0.0', 10],
] as const)
  privateNetworks.addSubnet(network, bits, 'ipv4')
privateNetworks.addAddress('::1', 'ipv6')
privateNetworks.addSubnet('fc00::', 7, 'ipv6')
privateNetworks.addSubnet('fe80::', 10, 'ipv6')

/** Whether an address, or a /64 as `networkOf` writes it, is loopback, private or link-local: none on the public internet. */
export function isPrivateNetwork(addressOrNetwork: string): boolean {
  const [address = ''] = addressOrNetwork.replace(/^::ffff:(?=\d+\.)/, '').split(/[%/]/, 1)
  const family = isIP(address)
  return family !== 0 && privateNetworks.check(address, family === 6 ? 'ipv6' : 'ipv4')
}

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8)
loopback.addAddress('::1', 'ipv6')

/** Whether a host name or address of a URL or of `Host`, without its port, stands for this machine. @param host in lower case */
export const isLoopbackHost = (host: string): boolean =>
  /(^|\.)localhost\.?$/.test(host) || isLoopback(host.replace(/^\[|\]$/g, ''))

/** Whether the address is this machine's own, `127.0.0.0/8` or `::1`; false for anything that is no IP address. */
export function isLoopback(address: string): boolean {
  const family = isIP(address)
  return family !== 0 && loopback.check(address, family === 6 ? 'ipv6' : 'ipv4')
}
