import { RuntimeError } from '#/runtime/runtime.ts'
import { limits } from './client.ts'
import type { Engine } from './engine.ts'
import { statusOf } from './failure.ts'
import { instanceLabel } from './labels.ts'

interface Network {
  readonly Id: string
  readonly Name: string
  readonly Created: string
  readonly Options: Readonly<Record<string, string>> | null
}

/** Neighbours on the bridge cannot reach each other; the host still reaches them all. */
const isolation = { 'com.docker.network.bridge.enable_icc': 'false' } as const

/**
 * Learns the host's size and makes sure of the network.
 * @throws {RuntimeError} `failed` when a network of that name exists on which containers can reach each other
 */
export async function prepare(engine: Engine): Promise<void> {
  const [found] = await Promise.all([findNetworks(engine), engine.host.facts()])
  if (found[0]) assertIsolated(found[0])
  else await createNetwork(engine)
}

/** Of exactly this name, the oldest first: the engine's own filter also finds names that contain it. */
async function findNetworks({ client, network }: Engine): Promise<Network[]> {
  const found = await client.ask<Network[]>({
    what: `look for network ${network}`,
    method: 'GET',
    path: '/networks',
    query: { filters: JSON.stringify({ name: [network] }) },
    limit: limits.read,
  })
  const age = ({ Created, Id }: Network) => `${Created} ${Id}`
  return found.filter(({ Name }) => Name === network).sort((a, b) => (age(a) < age(b) ? -1 : 1))
}

/** Whoever made it, it has to keep the one promise that people's privacy hangs on. */
function assertIsolated({ Name, Options }: Network): void {
  const [option, value] = Object.entries(isolation)[0] as [string, string]
  if (Options?.[option] === value) return
  throw new RuntimeError(
    'failed',
    `network ${Name} lets containers reach each other; remove it or name another: Berth makes one with ${option}=${value}`,
  )
}

/**
 * The engine checks for a double name, yet two that ask at the same moment both get their network, and a container
 * cannot be put on a name that means two. So each looks again, and takes its own away unless it is the older one.
 */
async function createNetwork(engine: Engine): Promise<void> {
  const ours = await askForNetwork(engine)
  const [oldest] = await findNetworks(engine)
  if (ours === undefined || ours === oldest?.Id) return
  const what = `remove the second network ${engine.network}`
  await engine.client.ask({ what, method: 'DELETE', path: `/networks/${ours}`, limit: limits.remove })
}

/** @returns its id; undefined when another was quicker */
async function askForNetwork({ client, network, instance }: Engine): Promise<string | undefined> {
  const body = {
    Name: network,
    CheckDuplicate: true,
    Driver: 'bridge',
    Options: isolation,
    Labels: instanceLabel(instance),
  }
  try {
    const path = '/networks/create'
    const what = `create network ${network}`
    return (await client.ask<{ Id: string }>({ what, method: 'POST', path, body, limit: limits.create })).Id
  } catch (error) {
    if (statusOf(error) === 409) return undefined
    throw error
  }
}
