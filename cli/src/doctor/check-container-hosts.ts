import { once } from 'node:events'
import { checkServerIdentity, connect } from 'node:tls'
import { isLoopbackHost } from '@berth/gateway/basics/ip-address.ts'
import { settingFix, type CheckContext, type Finding } from './check.ts'
import { addressesOf } from './check-dns.ts'

/** In ms. */
const timeout = 5_000
/** Has the form of a container's host; whether there is such a container does not matter. */
const probe = 'berth-doctor'

/**
 * With subdomain routing: whether names below the spawner host are in DNS, lead where that leads, and are covered by the
 * certificate. @throws when DNS, or what serves https, does not answer
 */
export async function checkContainerHosts(context: CheckContext, signal: AbortSignal): Promise<Finding[]> {
  const { containerOrigin, spawnerUrl } = context.addresses
  if (!containerOrigin) return []
  const host = new URL(spawnerUrl).hostname
  const inDns = isLoopbackHost(host) ? [] : await dnsFindings(host, context.nameServers)
  // Of a name that does not exist nothing is served.
  return inDns.length > 0 ? inDns : certificateFindings(context, signal)
}

async function dnsFindings(host: string, nameServers: readonly string[] | null): Promise<Finding[]> {
  const [own, below] = await Promise.all([host, `${probe}.${host}`].map((name) => knownAddresses(name, nameServers)))
  if (below?.length === 0)
    return [
      {
        level: 'critical',
        what: `No name below ${host} is in DNS as this machine sees it: browsers find no container.`,
        fix: `add to DNS: *.${host}. with the address of ${host}; or ${settingFix('CONTAINER_ROUTING=path')}`,
      },
    ]
  if (own?.some((address) => below?.includes(address))) return []
  return [
    {
      level: 'warning',
      what: `Names below ${host} lead to ${below?.join(', ')}, and ${host} itself to ${own?.join(', ') || 'no address'}.`,
      fix: `correct the record of *.${host} in DNS, unless both lead to Berth`,
    },
  ]
}

async function knownAddresses(host: string, nameServers: readonly string[] | null): Promise<string[]> {
  return addressesOf(host, nameServers).catch((error: unknown) => {
    if (['ENOTFOUND', 'ENODATA'].includes((error as NodeJS.ErrnoException).code ?? '')) return []
    throw error
  })
}

async function certificateFindings(
  { config, warnings, addresses }: CheckContext,
  signal: AbortSignal,
): Promise<Finding[]> {
  const { hostname, port, protocol } = new URL(addresses.spawnerUrl)
  if (config.tls) return warnings.some(({ key }) => key === 'findings.noWildcard') ? [notCovered(hostname)] : []
  if (protocol !== 'https:') return []
  const socket = connect({
    host: hostname,
    port: Number(port || 443),
    servername: `${probe}.${hostname}`,
    rejectUnauthorized: false,
  })
  try {
    await once(socket, 'secureConnect', { signal: AbortSignal.any([signal, AbortSignal.timeout(timeout)]) })
    // Whether the certificate is trusted is the check of `tls`.
    const isCovered = checkServerIdentity(`${probe}.${hostname}`, socket.getPeerCertificate()) === undefined
    return isCovered ? [] : [notCovered(hostname)]
  } catch (error) {
    throw new Error(`https://${probe}.${hostname} cannot be reached from this machine`, { cause: error })
  } finally {
    socket.destroy()
  }
}

const notCovered = (host: string): Finding => ({
  level: 'critical',
  what: `The certificate is not for *.${host}: browsers refuse every container.`,
  fix: `get one for ${host} and *.${host} (DNS-01); see docs/how-to/give-containers-their-own-hosts.md`,
})
