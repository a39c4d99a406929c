import type { Instance, ListFilter } from '#/runtime/runtime.ts'
import { limits } from './client.ts'
import type { Engine } from './engine.ts'
import { fingerprintFrom, labelFilter, ownerFrom, portFrom } from './labels.ts'
import { imageIdFrom } from './images.ts'
import type { Addresses } from './networks.ts'
import { whileAnswering } from './while-answering.ts'

interface Listed {
  readonly Id: string
  readonly Names: readonly string[]
  readonly State: string
  /** In words: `Exited (137) 5 minutes ago`. */
  readonly Status?: string
  readonly ImageID: string
  readonly Labels: Readonly<Record<string, string>>
  readonly NetworkSettings?: { readonly Networks?: Addresses | null }
}

export async function list(engine: Engine, { userId, ids }: ListFilter = {}): Promise<Instance[]> {
  // An empty filter would be none: everybody's.
  if (ids?.length === 0) return []
  const { client } = engine
  const query = { all: 'true', filters: JSON.stringify({ label: labelFilter(engine.instance, userId), id: ids }) }
  const call = { what: 'list containers', method: 'GET', path: '/containers/json', query } as const
  // By id the engine looks at these alone; otherwise it reads all that it has.
  const found = ids
    ? await client.ask<Listed[]>({ ...call, limit: limits.read })
    : await whileAnswering(client, (signal) => client.ask<Listed[]>({ ...call, limit: limits.list, signal }))
  return found.map((each) => toInstance(engine, each)).filter(({ owner }) => owner !== null)
}

function toInstance({ instance, networks }: Engine, found: Listed): Instance {
  const { Id, Names, State, ImageID, Labels, NetworkSettings } = found
  const isUp = State === 'running' || State === 'paused'
  return {
    id: Id,
    name: (Names[0] ?? '').slice(1),
    owner: ownerFrom(Labels, instance),
    state: State,
    address: isUp ? networks.addressIn(NetworkSettings?.Networks) : null,
    port: portFrom(Labels),
    imageId: imageIdFrom(ImageID),
    exitCode: isUp ? null : exitCodeIn(found.Status),
    isOutOfMemory: false,
    startedAt: null,
    endedAt: null,
    fingerprint: fingerprintFrom(Labels),
  }
}

/** Null where the engine's words do not tell. */
function exitCodeIn(status: string | undefined): number | null {
  const [, code] = /^Exited \((-?\d+)\)/.exec(status ?? '') ?? []
  return code === undefined ? null : Number(code)
}
