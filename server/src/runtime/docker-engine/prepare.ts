import { setTimeout as sleep } from 'node:timers/promises'
import { RuntimeError } from '#/runtime/runtime.ts'
import { limits } from './client.ts'
import type { Engine } from './engine.ts'
import { statusOf } from './failure.ts'
import { instanceLabel } from './labels.ts'

interface Network {
  readonly Id: string
  readonly Name: string
  readonly Options: Readonly<Record<string, string>> | null
}

/** Neighbours on the bridge cannot reach each other; the host still reaches them all. */
const isolation = { 'com.docker.network.bridge.enable_icc': 'false' } as const

/** How often making the network is tried while others make it too, and the pauses in between, in ms. */
const attempts = 20
const longestPause = 300

/**
 * Learns the host's size and makes sure of the network.
 * @throws {RuntimeError} `failed` when a network of that name exists on which containers can reach each other
 */
export async function prepare(engine: Engine): Promise<void> {
  await Promise.all([ensureNetwork(engine), engine.host.facts()])
}

/**
 * The engine checks for a double name, yet of several who ask at the same moment each gets a network, and no container
 * can be put on a name that means two. So whoever finds another beside its own takes its own away, and tries again
 * after a pause by chance. Keeping the oldest instead failed: its age counts from before others could see it.
 */
async function ensureNetwork(engine: Engine): Promise<void> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const found = await findNetworks(engine)
    if (found.length > 0) return found.forEach(assertIsolated)
    const ours = await createNetwork(engine)
    if (ours !== undefined && (await isAlone(engine, ours))) return
    if (ours !== undefined) await removeNetwork(engine, ours)
    await sleep(Math.random() * longestPause)
  }
  throw new RuntimeError('failed', `create network ${engine.network}: others make and remove it at the same time`)
}

/** Of exactly this name: the engine's own filter also finds names that contain it. */
async function findNetworks({ client, network }: Engine): Promise<Network[]> {
  const query = { filters: JSON.stringify({ name: [network] }) }
  const what = `look for network ${network}`
  const found = await client.ask<Network[]>({ what, method: 'GET', path: '/networks', query, limit: limits.read })
  return found.filter(({ Name }) => Name === network)
}

const isAlone = async (engine: Engine, id: string) => (await findNetworks(engine)).every(({ Id }) => Id === id)

async function removeNetwork({ client, network }: Engine, id: string): Promise<void> {
  const what = `remove the second network ${network}`
  await client.ask({ what, method: 'DELETE', path: `/networks/${id}`, limit: limits.remove })
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

/** @returns its id; undefined when another was quicker */
async function createNetwork({ client, network, instance }: Engine): Promise<string | undefined> {
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
