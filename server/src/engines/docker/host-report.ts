import { existsSync } from 'node:fs'
import { readFile, statfs } from 'node:fs/promises'
import { hostname, networkInterfaces } from 'node:os'
import path from 'node:path'
import type { HostReport } from '#/engines/host-capacity.ts'
import { freeParts } from './address-pools.ts'
import type { EngineContext } from './engine-context.ts'
import type { HostFacts } from './host-info.ts'
import { withSignal } from '#/engines/transport/with-signal.ts'

/** How long a file system may take to say how full it is, in ms. */
const statTimeout = 1_000

/** Only what changes is asked anew, and none of it of the engine: monitoring may ask every second. */
export async function hostReport(engine: EngineContext): Promise<HostReport> {
  const facts = await engine.host.facts()
  const { cores, ociRuntimes, hasGpus, supportsHomeQuota } = facts
  const [memory, disk] = await Promise.all([hostMemory(engine), engine.isLocal ? readDisk(facts.rootDir) : null])
  const isThisMachine = engine.isLocal && facts.name === hostname() && existsSync(facts.rootDir)
  return {
    cores,
    ociRuntimes,
    hasGpus: hasGpus || (isThisMachine && hasGpuHook()),
    isThisMachine,
    supportsHomeQuota,
    addressesLeft: countAddresses(engine, facts),
    memory,
    disk,
    rulesAre: 'host rules',
    rules: engine.rules.report,
  }
}

/**
 * The program that Docker adds to a container with GPUs, if it finds it in its path at its start. What Docker says of itself
 * names it nowhere, and the runtime `nvidia` need not be configured.
 */
const gpuHook = 'nvidia-container-runtime-hook'
/** Where a service of the system looks for programs. */
const systemFolders = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']

const hasGpuHook = () => systemFolders.some((folder) => existsSync(path.join(folder, gpuHook)))

/** Room on the networks there are, and on those that the engine still has addresses for. */
function countAddresses({ networks, isLocal }: EngineContext, { addressPools }: HostFacts): number | null {
  const { capacity } = networks
  if (!capacity) return null
  const subnets = capacity.all.flatMap(({ IPAM }) => IPAM?.Config ?? []).flatMap(({ Subnet }) => Subnet ?? [])
  const parts = freeParts(addressPools, [...subnets, ...(isLocal ? ownNetworks() : [])])
  return parts.reduce((sum, { count, addresses }) => sum + count * networks.maxContainers(addresses), capacity.left)
}

/** Networks that this machine itself is in: the engine gives none of their addresses to containers. */
function ownNetworks(): string[] {
  return Object.values(networkInterfaces()).flatMap((each) => (each ?? []).flatMap(({ cidr }) => cidr ?? []))
}

/** Null with an engine on another machine, and where there is no such file, as on other systems than Linux. */
export async function hostMemory({ isLocal }: Pick<EngineContext, 'isLocal'>): Promise<HostReport['memory']> {
  if (!isLocal) return null
  const text = await readFile('/proc/meminfo', 'utf8').catch(() => '')
  const [total, available] = ['MemTotal', 'MemAvailable'].map((name) => kibibytes(text, name))
  return total === undefined || available === undefined ? null : { total, available }
}

function kibibytes(text: string, name: string): number | undefined {
  const [, number] = new RegExp(`^${name}: +(\\d+) kB$`, 'm').exec(text) ?? []
  return number === undefined ? undefined : Number(number) * 1024
}

/** Null where Berth cannot see it, as from another container. */
async function readDisk(folder: string): Promise<HostReport['disk']> {
  try {
    const { bsize, blocks, bavail } = await withSignal(statfs(folder), AbortSignal.timeout(statTimeout))
    return { total: blocks * bsize, free: bavail * bsize }
  } catch {
    return null
  }
}
