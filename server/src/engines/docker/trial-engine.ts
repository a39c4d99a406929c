import { RuntimeError } from '#/engines/runtime-error.ts'
import type { ImageProgram, RunningContainer, TrialEngine } from '#/engines/trial-engine.ts'
import { askNetworks } from './bridge-network.ts'
import { findEngineAddress } from './engine-address.ts'
import { EngineClient, callTimeouts, statusOf, type EngineCall } from './engine-client.ts'
import { encodedImage } from './images.ts'
import { installationIn, labelFilter, portFrom } from './labels.ts'

interface Listed {
  readonly Id: string
  readonly Labels?: Readonly<Record<string, string>> | null
  readonly NetworkSettings?: { readonly Networks?: Readonly<Record<string, { readonly IPAddress?: string }>> | null }
}

/** @throws {Error} when `dockerHost` is no address */
export function trialEngineOf(dockerHost: string | undefined): TrialEngine {
  const client = new EngineClient(findEngineAddress(dockerHost))
  return {
    importImage: (name, archive, signal) => importImage(client, name, archive, signal),
    removeInstallation: (installation, image) => removeInstallation(client, installation, image),
    installations: async () => {
      const containers = await listContainers(client, { all: 'true' })
      const labelled = [...containers, ...(await askNetworks(client))]
      return [...new Set(labelled.flatMap(({ Labels }) => installationIn(Labels) ?? []))]
    },
    program: (image) => programOf(client, image),
    running: async () => (await listContainers(client, {})).flatMap(placeOf),
  }
}

interface InspectedImage {
  readonly Config?: { readonly Entrypoint?: string[] | null; readonly Cmd?: string[] | null } | null
}

async function programOf(client: EngineClient, image: string): Promise<ImageProgram> {
  const path = `/images/${encodedImage(image)}/json`
  const call: EngineCall = { what: `inspect image ${image}`, method: 'GET', path, timeout: callTimeouts.measure }
  const { Config } = await client.ask<InspectedImage>(call)
  return { entrypoint: Config?.Entrypoint ?? [], command: Config?.Cmd ?? [] }
}

function placeOf({ Labels, NetworkSettings }: Listed): RunningContainer[] {
  const [installation, port] = [installationIn(Labels), portFrom(Labels)]
  const networks = Object.values(NetworkSettings?.Networks ?? {})
  if (installation === undefined || port === null) return []
  return networks.flatMap(({ IPAddress }) => (IPAddress ? { installation, port, address: IPAddress } : []))
}

/** Containers of any installation; callers look at those that have the label of one. */
const listContainers = (client: EngineClient, query: Record<string, string>) =>
  client.ask<Listed[]>({
    what: 'list containers',
    method: 'GET',
    path: '/containers/json',
    query,
    timeout: callTimeouts.list,
  })

async function importImage(
  client: EngineClient,
  name: string,
  archive: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  const [repo = '', tag = 'latest'] = name.split(':')
  const query = { fromSrc: '-', repo, tag }
  const what = `import image ${name}`
  // Its answer is several lines of JSON; the last names the image, or the failure.
  const said = await client.download(
    { what, method: 'POST', path: '/images/create', query, archive, timeout: callTimeouts.create, signal },
    1024 * 1024,
  )
  const failure = /"error":"([^"]*)"/.exec(said?.toString() ?? '')?.[1]
  if (failure !== undefined) throw new RuntimeError('failed', what, new Error(failure))
}

/** Volumes and networks are in use until the containers are gone, and an image is in use by them. */
async function removeInstallation(client: EngineClient, installation: string, image: string): Promise<void> {
  const failures: unknown[] = []
  const filters = JSON.stringify({ label: labelFilter(installation) })
  const removeEach = async (names: readonly string[], pathOf: (name: string) => string) => {
    for (const name of names)
      await remove(client, pathOf(encodeURIComponent(name))).catch((error: unknown) => failures.push(error))
  }
  const containers = await listContainers(client, { all: 'true', filters })
  await removeEach(
    containers.map(({ Id }) => Id),
    (id) => `/containers/${id}`,
  )
  const read = { method: 'GET', query: { filters }, timeout: callTimeouts.list } as const
  const { Volumes } = await client.ask<{ Volumes: { Name: string }[] | null }>({
    ...read,
    what: 'list volumes',
    path: '/volumes',
  })
  await removeEach(
    (Volumes ?? []).map(({ Name }) => Name),
    (name) => `/volumes/${name}`,
  )
  const networks = await client.ask<{ Id: string }[]>({ ...read, what: 'list networks', path: '/networks' })
  await removeEach(
    networks.map(({ Id }) => Id),
    (id) => `/networks/${id}`,
  )
  await removeEach([image], (name) => `/images/${name}`)
  if (failures.length > 0) throw failures[0]
}

async function remove(client: EngineClient, path: string): Promise<void> {
  const query = path.startsWith('/networks/') ? {} : { force: 'true', v: 'true' }
  const call: EngineCall = { what: `remove ${path}`, method: 'DELETE', path, query, timeout: callTimeouts.remove }
  try {
    await client.ask(call)
  } catch (error) {
    if (statusOf(error) !== 404) throw error
  }
}
