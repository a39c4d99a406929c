import { createHash } from 'node:crypto'
import { networkInterfaces } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { callTimeouts, statusOf, type EngineClient } from './engine-client.ts'
import { installationLabel } from './labels.ts'

/** A network as the engine describes it. */
export interface Network {
  readonly Id: string
  readonly Name: string
  readonly Driver?: string
  readonly Options: Readonly<Record<string, string>> | null
  readonly Labels?: Readonly<Record<string, string>> | null
  readonly IPAM?: { readonly Config: readonly { readonly Subnet?: string }[] | null }
}

/** Neighbours on the bridge cannot reach each other; the host still reaches them all. */
const isolation = { 'com.docker.network.bridge.enable_icc': 'false' } as const
const interfaceOption = 'com.docker.network.bridge.name'

/** Begins the name of every bridge that Berth makes, so that rules of the host need no list of them. */
export const interfacePrefix = 'brth-'

/** How often making a network is tried while others make it too, and the pauses in between, in ms. */
const maxAttempts = 20
const maxRetryDelay = 300
/**
 * From this attempt on, the bridge gets another name. An engine that was killed while it made a network may remember
 * the name of the bridge for ever and refuse it ("same bridge name"), although no network has it.
 */
const firstOtherInterface = 3

/** Every network of the engine, also those of others. */
export async function askNetworks(client: EngineClient): Promise<Network[]> {
  return client.ask<Network[]>({ what: 'list networks', method: 'GET', path: '/networks', timeout: callTimeouts.read })
}

/**
 * Makes a network of this name when there is none.
 *
 * The engine checks for a double name, yet of several who ask at the same moment each may get a network, and no
 * container can be put on a name that means two. So a creator that finds another beside its own removes its own, and
 * retries after a pause by chance. Keeping the oldest instead failed: its age counts from before others could see it.
 * Two bridges of one name are refused for certain by Docker; what is here is for other engines, and for bridges of
 * another name.
 * @returns it, as the engine describes it
 * @throws {RuntimeError} `full` when the engine has no addresses for another network; `failed` when containers on the
 *   one that is there can reach each other
 */
export async function ensureNetwork(client: EngineClient, installation: string, name: string): Promise<Network> {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const [found] = await findNetworks(client, name)
    if (found) return assertIsolated(found)
    const ours = await createNetwork(client, installation, name, bridgeFor(name, attempt))
    const now = ours === undefined ? [] : await findNetworks(client, name)
    if (now[0] && now.length === 1) return assertIsolated(now[0])
    if (now.length > 1 && ours !== undefined) await removeNetwork(client, ours, name)
    await sleep(Math.random() * maxRetryDelay)
  }
  throw new RuntimeError('failed', `create network ${name}: others make and remove it at the same time`)
}

/**
 * Also a network made by others must isolate its containers: users' privacy depends on it.
 * @throws {RuntimeError} `failed`
 */
export function assertIsolated(network: Network): Network {
  const [option, value] = Object.entries(isolation)[0] as [string, string]
  if (network.Options?.[option] === value) return network
  throw new RuntimeError(
    'failed',
    `network ${network.Name} lets containers reach each other; remove it or name another: Berth makes one with ${option}=${value}`,
  )
}

/**
 * Name of its bridge among the host's interfaces. Docker calls those by the id that were given none, as earlier Berths
 * did.
 */
export function interfaceOf({ Id, Options }: Network): string {
  return Options?.[interfaceOption] || `br-${Id.slice(0, 12)}`
}

/**
 * How many containers its addresses suffice for: all but its own, the gateway's and the broadcast's; Infinity when it
 * does not say.
 */
export function addressesOf({ IPAM }: Network): number {
  const subnets = (IPAM?.Config ?? []).flatMap(({ Subnet }) => Subnet ?? []).filter((subnet) => !subnet.includes(':'))
  const bits = subnets.map((subnet) => Number(subnet.split('/')[1]))
  if (bits.length === 0 || bits.some((each) => !Number.isInteger(each))) return Infinity
  return bits.reduce((sum, each) => sum + Math.max(0, 2 ** (32 - each) - 3), 0)
}

/** At most 15 characters, which is the kernel's limit. */
function bridgeFor(name: string, attempt: number): string {
  const seed = attempt < firstOtherInterface ? name : `${name} ${attempt}`
  return interfacePrefix + createHash('sha256').update(seed).digest('hex').slice(0, 8)
}

const findNetworks = async (client: EngineClient, name: string) =>
  (await askNetworks(client)).filter(({ Name }) => Name === name)

/** @throws {RuntimeError} among others while a container that runs is on it, and when it is gone */
export async function removeNetwork(client: EngineClient, id: string, name: string): Promise<void> {
  const what = `remove network ${name}`
  await client.ask({ what, method: 'DELETE', path: `/networks/${id}`, timeout: callTimeouts.remove })
}

/** @returns its id; undefined when another was quicker */
async function createNetwork(
  client: EngineClient,
  installation: string,
  name: string,
  bridge: string,
): Promise<string | undefined> {
  const body = {
    Name: name,
    CheckDuplicate: true,
    Driver: 'bridge',
    Options: { ...isolation, [interfaceOption]: bridge },
    Labels: installationLabel(installation),
  }
  try {
    const what = `create network ${name}`
    const call = { what, method: 'POST', path: '/networks/create', body, timeout: callTimeouts.create } as const
    return (await client.ask<{ Id: string }>(call)).Id
  } catch (error) {
    if (statusOf(error) === 409 || isSameBridge(error)) return undefined
    throw error
  }
}

const isSameBridge = (error: unknown) => error instanceof RuntimeError && /same bridge name/.test(String(error.cause))

/**
 * What is left of the pools beside the networks of the engine. An engine on this machine leaves out the networks that
 * the machine itself is in, too.
 */
export function freePartsBeside(
  networks: readonly Network[],
  pools: readonly AddressPool[],
  isLocal: boolean,
): FreeParts[] {
  const subnets = networks.flatMap(({ IPAM }) => IPAM?.Config ?? []).flatMap(({ Subnet }) => Subnet ?? [])
  return freeParts(pools, [...subnets, ...(isLocal ? networksOfThisMachine() : [])])
}

function networksOfThisMachine(): string[] {
  return Object.values(networkInterfaces()).flatMap((each) => (each ?? []).flatMap(({ cidr }) => cidr ?? []))
}

/** Addresses from which the engine gives each new network a part: `10.0.0.0/8` in parts of `/24`. */
export interface AddressPool {
  readonly Base: string
  /** Bits of each part's network. */
  readonly Size: number
}

/** Docker's own, when the operator names none: 31 parts. */
export const builtInPools: readonly AddressPool[] = [
  ...['172.17.0.0/16', '172.18.0.0/16', '172.19.0.0/16'].map((Base) => ({ Base, Size: 16 })),
  ...['172.20.0.0/14', '172.24.0.0/14', '172.28.0.0/14'].map((Base) => ({ Base, Size: 16 })),
  { Base: '192.168.0.0/16', Size: 20 },
]

/** Parts of one size that are free. */
export interface FreeParts {
  readonly count: number
  /** Addresses for containers in each. */
  readonly addresses: number
}

/**
 * What is left of the pools. An estimate: the engine also leaves out what the host has routes to.
 * @param taken networks such as `172.17.0.0/16` that lie in the pools or elsewhere; IPv6 and nonsense are passed over
 */
export function freeParts(pools: readonly AddressPool[], taken: readonly string[]): FreeParts[] {
  const ranges = taken.flatMap((network) => toRange(network) ?? [])
  return pools.flatMap(({ Base, Size }) => {
    const base = toRange(Base)
    if (!base || Size > 32) return []
    const length = 2 ** (32 - Size)
    return {
      count: Math.max(0, (base.end - base.start) / length - touched(base, length, ranges)),
      addresses: Math.max(0, length - 3),
    }
  })
}

interface Range {
  readonly start: number
  /** The first address behind it. */
  readonly end: number
}

/** How many parts of this length share an address with any of the ranges. */
function touched(base: Range, length: number, ranges: readonly Range[]): number {
  const inside = ranges.filter(({ start, end }) => start < base.end && end > base.start)
  let count = 0
  let counted = 0
  for (const { start, end } of inside.toSorted((one, other) => one.start - other.start)) {
    const first = Math.max(counted, Math.floor((Math.max(start, base.start) - base.start) / length))
    const last = Math.ceil((Math.min(end, base.end) - base.start) / length)
    count += Math.max(0, last - first)
    counted = Math.max(counted, last)
  }
  return count
}

function toRange(network: string): Range | undefined {
  const [, address, bits] = /^(\d+\.\d+\.\d+\.\d+)\/(\d+)$/.exec(network) ?? []
  if (address === undefined || Number(bits) > 32) return undefined
  const length = 2 ** (32 - Number(bits))
  const number = address.split('.').reduce((sum, each) => sum * 256 + Number(each), 0)
  const start = Math.floor(number / length) * length
  return { start, end: start + length }
}
