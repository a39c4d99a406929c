import { BlockList, isIP } from 'node:net'

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8)
loopback.addAddress('::1', 'ipv6')

/** Whether a host name or address of a URL or of `Host`, without its port, stands for this machine. @param host in lower case */
export const isLoopbackHost = (host: string): boolean =>
  /(^|\.)localhost\.?$/.test(host) || isLoopback(host.replace(/^\[|\]$/g, ''))

/** Whether the address is this machine's own, `127.0.0.0/8` or `::1`; false for whatever is no IP address. */
export function isLoopback(address: string): boolean {
  const family = isIP(address)
  return family !== 0 && loopback.check(address, family === 6 ? 'ipv6' : 'ipv4')
}
