import { lookup, Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { isLoopbackHost, isPrivateNetwork } from '@berth/gateway/basics/ip-address.ts'
import type { CheckContext, Finding } from './check.ts'

/** Whether the host of front end and containers is in DNS, and leads here. @throws when DNS does not answer */
export async function checkDns({ addresses, nameServers }: CheckContext): Promise<Finding[]> {
  const hosts = new Set([addresses.spawnerUrl, addresses.frontendUrl].map((url) => new URL(url).hostname))
  const checked = [...hosts].filter((host) => !isIP(host) && !host.startsWith('[') && !isLoopbackHost(host))
  return (await Promise.all(checked.map((host) => findingsOf(host, nameServers)))).flat()
}

async function findingsOf(host: string, nameServers: readonly string[] | null): Promise<Finding[]> {
  const found = await addressesOf(host, nameServers).catch((error: unknown) => {
    if (['ENOTFOUND', 'ENODATA'].includes((error as NodeJS.ErrnoException).code ?? '')) return []
    throw error
  })
  if (found.length === 0) return [unknown(host)]
  const own = Object.values(networkInterfaces()).flatMap((each) => (each ?? []).map(({ address }) => address))
  return found.some((address) => own.includes(address)) ? [] : [elsewhere(host, found, own)]
}

/** As programs of this machine see it, `/etc/hosts` included. */
export async function addressesOf(host: string, nameServers: readonly string[] | null): Promise<string[]> {
  if (nameServers === null) return (await lookup(host, { all: true })).map(({ address }) => address)
  const resolver = new Resolver({ timeout: 2_000, tries: 2 })
  resolver.setServers(nameServers)
  return resolver.resolve4(host)
}

const unknown = (host: string): Finding => ({
  level: 'critical',
  what: `${host} is not in DNS as this machine sees it: browsers do not find Berth.`,
  fix: `add to DNS: ${host}. A address-of-this-machine`,
})

/** Behind NAT a machine does not have its public address, which is usual. */
const elsewhere = (host: string, found: readonly string[], own: readonly string[]): Finding => ({
  level: 'hint',
  what: `${host} leads to ${found.join(', ')}, which is not an address of this machine${own.some((each) => !isPrivateNetwork(each)) ? '' : ' (usual behind NAT)'}.`,
  fix: 'nothing, if a proxy or router there leads here; else correct the record in DNS',
})
