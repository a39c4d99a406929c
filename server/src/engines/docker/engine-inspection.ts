import type { EngineInspection, EngineReport } from '#/engines/engine-inspection.ts'
import type { RegistryCredentials } from '#/engines/runtime.ts'
import { askNetworks, builtInPools, freePartsBeside, interfaceOf, type AddressPool } from './bridge-network.ts'
import { findEngineAddress } from './engine-address.ts'
import { EngineClient, callTimeouts, statusOf } from './engine-client.ts'
import { HostRules } from './host-rules.ts'
import { encodedImage, imageId, registryAuth } from './images.ts'
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
    hasImage: async (image) => (await imageId({ client }, image)) !== undefined,
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
  const pools = info.DefaultAddressPools?.length ? info.DefaultAddressPools : builtInPools
  const free = freePartsBeside(networks, pools, address.startsWith('unix:'))
  return {
    address,
    versions: { ...Object.fromEntries(components), engine: version.Version },
    securityOptions: info.SecurityOptions ?? [],
    rootDir: info.DockerRootDir ?? '',
    time: Number.isNaN(time.getTime()) ? null : time,
    freeNetworks: free.reduce((sum, { count }) => sum + count, 0),
  }
}

async function isInRegistry(
  client: EngineClient,
  image: string,
  signal: AbortSignal,
  credentials: RegistryCredentials | undefined,
): Promise<boolean> {
  const path = `/distribution/${encodedImage(image)}/json`
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
