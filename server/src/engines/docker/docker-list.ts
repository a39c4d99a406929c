import type { RuntimeContainer } from '#/engines/runtime-container.ts'
import type { ListFilter } from '#/engines/runtime.ts'
import { callTimeouts } from './engine-client.ts'
import type { EngineContext } from './engine-context.ts'
import { fingerprintFrom, labelFilter, ownerFrom, portFrom, templateVersionFrom } from './labels.ts'
import { imageIdFrom } from './image-inspect.ts'
import type { Addresses } from './networks.ts'
import { withHealthCheck } from './with-health-check.ts'

interface Listed {
  readonly Id: string
  readonly Names: readonly string[]
  readonly State: string
  /** In words: `Exited (137) 5 minutes ago`. */
  readonly Status?: string
  readonly ImageID: string
  readonly Labels: Readonly<Record<string, string>>
  readonly HostConfig?: { readonly NetworkMode?: string }
  readonly NetworkSettings?: { readonly Networks?: Addresses | null }
}

/** A list of everything counts the containers of the networks as well: the engine need not be asked for that again. */
export async function listContainers(engine: EngineContext, filter: ListFilter = {}): Promise<RuntimeContainer[]> {
  // An empty filter would match all containers.
  if (filter.ids?.length === 0) return []
  const isAll = Object.keys(filter).length === 0
  const count = isAll ? engine.networks.beginCount() : undefined
  const containers: RuntimeContainer[] = []
  const imageIds = new Map<string, string>()
  const take = (items: readonly Listed[]) => {
    for (const each of items) {
      count?.add(each.Id, each.HostConfig?.NetworkMode ?? '')
      const container = engine.listed.shared(toContainer(engine, each, imageIds))
      if (container.owner !== null) containers.push(container)
    }
  }
  const { client } = engine
  const call = callFor(engine.installation, filter)
  try {
    // By id the engine looks at these alone; otherwise it reads all that it has.
    if (filter.ids) await client.each(call, take)
    else await withHealthCheck(client, (signal) => client.each({ ...call, signal }, take))
    count?.end()
    if (isAll) engine.listed.noteAll(containers)
    return containers
  } finally {
    count?.abort()
  }
}

function callFor(installation: string, { userId, ids, isUp }: ListFilter) {
  const status = isUp ? ['running', 'paused', 'restarting'] : undefined
  const filters = JSON.stringify({ label: labelFilter(installation, userId), id: ids, status })
  return {
    what: 'list containers',
    method: 'GET',
    path: '/containers/json',
    query: { all: 'true', filters },
    timeout: ids ? callTimeouts.read : callTimeouts.list,
  } as const
}

/** @param imageIds of this list: the engine repeats the id of an image with each of its containers */
function toContainer(
  { installation, networks }: EngineContext,
  found: Listed,
  imageIds: Map<string, string>,
): RuntimeContainer {
  const { Id, Names, State, ImageID, Labels, NetworkSettings } = found
  const imageId = imageIds.get(ImageID) ?? imageIdFrom(ImageID)
  imageIds.set(ImageID, imageId)
  const isUp = State === 'running' || State === 'paused'
  return {
    id: Id,
    name: (Names[0] ?? '').slice(1),
    owner: ownerFrom(Labels, installation),
    state: State,
    address: isUp ? networks.addressIn(NetworkSettings?.Networks) : null,
    port: portFrom(Labels),
    imageId,
    exitCode: isUp ? null : exitCodeIn(found.Status),
    isOutOfMemory: false,
    startedAt: null,
    endedAt: null,
    fingerprint: fingerprintFrom(Labels),
    templateVersion: templateVersionFrom(Labels),
  }
}

/** Null where the engine's words do not tell. */
function exitCodeIn(status: string | undefined): number | null {
  const [, code] = /^Exited \((-?\d+)\)/.exec(status ?? '') ?? []
  return code === undefined ? null : Number(code)
}
