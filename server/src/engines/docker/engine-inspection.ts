import { networkInterfaces } from 'node:os'
import type { EngineInspection, EngineReport } from '#/engines/engine-inspection.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { RegistryCredentials } from '#/engines/runtime.ts'
import { askNetworks, builtInPools, freeParts, interfaceOf, type AddressPool } from './bridge-network.ts'
import { findEngineAddress } from './engine-address.ts'
import { EngineClient, callTimeouts, statusOf } from './engine-client.ts'
import { HostRules } from './host-rules.ts'
import { registryAuth } from './images.ts'
import { isOfAnyInstallation } from './labels.ts'

/** The parts of `/info` and `/version` that are read; engines leave out what they do not know. */
interface Info {
  readonly SecurityOptions?: readonly string[] | null
  readonly DockerRootDir?: string
  readonly SystemTime?: string
  readonly DefaultAddressPools?: AddressPool[] | null
}
interface Version {
  readonly Version: string
  readonly Components?: readonly { readonly Name: string; readonly Version: string }[] | null
}

/** How long a registry may take, in ms. */
const registryTimeout = 8_000

/** Looks at the engine without making anything there. @throws {Error} when `dockerHost` is no address */
export function inspectionOf(dockerHost: string | undefined): EngineInspection {
  const address = findEngineAddress(dockerHost)
  const client = new EngineClient(address)
  return {
    report: () => report(client, address),
    hostRules: async () => {
      const ours = (await askNetworks(client)).filter(({ Labels }) => isOfAnyInstallation(Labels))
      return new HostRules('auto', address.startsWith('unix:')).inspect(ours.map(interfaceOf))
    },
    hasImage: (image) => hasImage(client, image),
    isInRegistry: (image, signal, credentials) => isInRegistry(client, image, signal, credentials),
  }
}

async function report(client: EngineClient, address: string): Promise<EngineReport> {
  const ask = <T>(path: string) =>
    client.ask<T>({ what: 'ask the engine about itself', method: 'GET', path, timeout: callTimeouts.read })
  const [info, version, networks] = await Promise.all([
    ask<Info>('/info'),
    ask<Version>('/version'),
    askNetworks(client),
  ])
  const components = (version.Components ?? []).map(({ Name, Version }) => [Name.toLowerCase(), Version] as const)
  const time = new Date(info.SystemTime ?? '')
  const own = Object.values(networkInterfaces()).flatMap((each) => (each ?? []).flatMap(({ cidr }) => cidr ?? []))
  const taken = networks.flatMap(({ IPAM }) => IPAM?.Config ?? []).flatMap(({ Subnet }) => Subnet ?? [])
  const pools = info.DefaultAddressPools?.length ? info.DefaultAddressPools : builtInPools
  const free = freeParts(pools, [...taken, ...(address.startsWith('unix:') ? own : [])])
  return {
    address,
    versions: { ...Object.fromEntries(components), engine: version.Version },
    securityOptions: info.SecurityOptions ?? [],
    rootDir: info.DockerRootDir ?? '',
    time: Number.isNaN(time.getTime()) ? null : time,
    freeNetworks: free.reduce((sum, { count }) => sum + count, 0),
  }
}

const encoded = (image: string) => image.split('/').map(encodeURIComponent).join('/')

async function hasImage(client: EngineClient, image: string): Promise<boolean> {
  const path = `/images/${encoded(image)}/json`
  try {
    await client.ask({ what: `inspect image ${image}`, method: 'GET', path, timeout: callTimeouts.read })
    return true
  } catch (error) {
    if (error instanceof RuntimeError && error.kind === 'image') return false
    throw error
  }
}

async function isInRegistry(
  client: EngineClient,
  image: string,
  signal: AbortSignal,
  credentials: RegistryCredentials | undefined,
): Promise<boolean> {
  const path = `/distribution/${encoded(image)}/json`
  const what = `ask the registry for ${image}`
  try {
    const headers = registryAuth(image, credentials)
    await client.ask({ what, method: 'GET', path, headers, timeout: registryTimeout, signal })
    return true
  } catch (error) {
    // 401 and 403: registries do not tell whether a private image exists. 404: it does not.
    if ([401, 403, 404].includes(statusOf(error) ?? 0)) return false
    throw error
  }
}
