import { RuntimeError } from '#/engines/runtime-error.ts'
import type { ContainerUsage, ListFilter, RuntimeContainer } from '#/engines/runtime.ts'
import { toInstant } from '#/engines/transport/json-stream.ts'
import { callTimeouts, isValidName, withHealthCheck } from './engine-client.ts'
import type { EngineContext } from './engine-context.ts'
import { imageIdFrom } from './images.ts'
import {
  fingerprintFrom,
  gpuIdsFrom,
  gpusFilter,
  labelFilter,
  ownerFrom,
  portFrom,
  templateVersionFrom,
} from './labels.ts'
import type { Addresses } from './networks.ts'

/** What is taken from the engine's answer. */
export interface Inspection {
  readonly Id: string
  readonly Name: string
  readonly Image: string
  readonly State: {
    readonly Status: string
    readonly Running: boolean
    /** 0 when it does not run. */
    readonly Pid?: number
    readonly ExitCode: number
    readonly OOMKilled?: boolean
    readonly StartedAt?: string
    readonly FinishedAt?: string
  }
  readonly HostConfig: {
    readonly NetworkMode: string
    readonly Runtime?: string
    readonly StorageOpt?: { readonly size?: string } | null
    readonly Mounts?: readonly { readonly Type: string; readonly Source?: string }[] | null
  }
  readonly Config: { readonly Labels: Readonly<Record<string, string>> | null; readonly Tty?: boolean }
  readonly NetworkSettings: { readonly Networks: Addresses | null }
}

const isValidId = (id: string) => /^[0-9a-f]{64}$/.test(id)

/** The engine resolves names and beginnings of ids alike, so what it found is compared with what was asked. */
export async function inspect(engine: EngineContext, name: string): Promise<RuntimeContainer | undefined> {
  if (!isValidName(name)) return undefined
  const found = await inspectAny(engine, name)
  return found?.Name === `/${name}` ? toContainer(engine, found) : undefined
}

export async function inspectId(
  engine: EngineContext,
  id: string,
  signal?: AbortSignal,
): Promise<RuntimeContainer | undefined> {
  if (!isValidId(id)) return undefined
  const found = await inspectAny(engine, id, signal)
  return found?.Id === id ? toContainer(engine, found) : undefined
}

/**
 * The container that a verb may change. For such verbs a container of another installation does not exist.
 * Labels cannot change and ids are never given again, so the answer stays true.
 */
export async function findOwn(
  engine: EngineContext,
  id: string,
  signal?: AbortSignal,
): Promise<RuntimeContainer | undefined> {
  const found = await inspectOwn(engine, id, signal)
  return found && toContainer(engine, found)
}

/** Finds what `findOwn` finds, in the engine's words. */
export async function inspectOwn(
  engine: EngineContext,
  id: string,
  signal?: AbortSignal,
): Promise<Inspection | undefined> {
  const found = isValidId(id) ? await inspectAny(engine, id, signal) : undefined
  return found?.Id === id && ownerFrom(found.Config.Labels, engine.installation) ? found : undefined
}

async function inspectAny(
  { client }: EngineContext,
  reference: string,
  signal?: AbortSignal,
): Promise<Inspection | undefined> {
  const [what, path] = [`inspect ${reference}`, `/containers/${reference}/json`]
  try {
    return await client.ask<Inspection>({ what, method: 'GET', path, timeout: callTimeouts.read, signal })
  } catch (error) {
    if (error instanceof RuntimeError && (error.kind === 'missing' || isAmbiguous(error))) return undefined
    throw error
  }
}

/**
 * Whether no container has the name, which is a prefix of several ids. Docker answers 500 or 400, Podman has its own
 * words.
 */
const isAmbiguous = ({ cause }: RuntimeError) => /multiple ids found|more than one result/i.test(String(cause))

function toContainer({ installation, networks, oomNotices }: EngineContext, found: Inspection): RuntimeContainer {
  const Labels = found.Config.Labels ?? {}
  const { Status, Running, ExitCode, OOMKilled, StartedAt, FinishedAt } = found.State
  const owner = ownerFrom(Labels, installation)
  return {
    id: found.Id,
    name: found.Name.slice(1),
    owner,
    state: Status,
    // The engine has forgotten the address of a program that ended, or gives it on to the next.
    address: Running ? networks.addressIn(found.NetworkSettings.Networks) : null,
    port: owner && portFrom(Labels),
    imageId: imageIdFrom(found.Image),
    // `created` never ran; the engine says 0 for it.
    exitCode: Running || Status === 'created' ? null : ExitCode,
    isOutOfMemory: OOMKilled === true || oomNotices.has(found.Id),
    startedAt: toInstant(StartedAt),
    endedAt: Running ? null : toInstant(FinishedAt),
    fingerprint: owner && fingerprintFrom(Labels),
    templateVersion: templateVersionFrom(Labels),
    ...gpusIn(Labels),
  }
}

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
      const container = engine.listed.shared(toListedContainer(engine, each, imageIds))
      if (container.owner !== null) containers.push(container)
    }
  }
  const { client } = engine
  const call = listCall(engine.installation, filter)
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

function listCall(installation: string, { userId, ids, isUp, hasGpuIds }: ListFilter) {
  const status = isUp ? ['running', 'paused', 'restarting'] : undefined
  const label = [...labelFilter(installation, userId), ...(hasGpuIds ? [gpusFilter] : [])]
  const filters = JSON.stringify({ label, id: ids, status })
  return {
    what: 'list containers',
    method: 'GET',
    path: '/containers/json',
    query: { all: 'true', filters },
    timeout: ids ? callTimeouts.read : callTimeouts.list,
  } as const
}

/** @param imageIds of this list: the engine repeats the id of an image with each of its containers */
function toListedContainer(
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
    ...gpusIn(Labels),
  }
}

/** No field where there is none: thousands of containers without a GPU need not carry it. */
function gpusIn(labels: Listed['Labels']): Pick<RuntimeContainer, 'gpuIds'> {
  const gpuIds = gpuIdsFrom(labels)
  return gpuIds ? { gpuIds } : {}
}

/** Null where the engine's words do not tell. */
function exitCodeIn(status: string | undefined): number | null {
  const [, code] = /^Exited \((-?\d+)\)/.exec(status ?? '') ?? []
  return code === undefined ? null : Number(code)
}

interface Stats {
  readonly cpu_stats?: { readonly cpu_usage?: { readonly total_usage?: number } }
  readonly memory_stats?: {
    readonly usage?: number
    /** By the names of the kernel: `total_inactive_file` with control groups v1, `inactive_file` with v2. */
    readonly stats?: Readonly<Record<string, number>>
  }
}

const nanosecondsPerSecond = 1e9

/** Only of what carries our labels. */
export async function usage(engine: EngineContext, id: string): Promise<ContainerUsage | undefined> {
  const found = await findOwn(engine, id)
  if (!found || !isRunningOrPaused(found.state)) return undefined
  const stats = await statsOf(engine, id)
  // The engine says 0 for a container that ended meanwhile, which no program that runs has.
  const nanoseconds = stats?.cpu_stats?.cpu_usage?.total_usage
  if (!nanoseconds) return undefined
  return { cpuSeconds: nanoseconds / nanosecondsPerSecond, memoryBytes: memoryOf(stats), startedAt: found.startedAt }
}

const isRunningOrPaused = (state: string) => state === 'running' || state === 'paused'

/** Without the files that the kernel can drop at any time, as `docker stats` counts. */
function memoryOf({ memory_stats: memory }: Stats): number | null {
  if (!memory?.usage) return null
  const droppable = memory.stats?.total_inactive_file ?? memory.stats?.inactive_file ?? 0
  return droppable < memory.usage ? memory.usage - droppable : memory.usage
}

async function statsOf({ client }: EngineContext, id: string): Promise<Stats | undefined> {
  const [what, path] = [`measure ${id}`, `/containers/${id}/stats`]
  // Docker 20.10 answers at the next stroke of a clock that all who ask share: up to 1 s of waiting, without work.
  // Engines before API 1.41 do not know `one-shot`; they ignore it and wait for two strokes.
  const query = { stream: 'false', 'one-shot': 'true' }
  try {
    const call = { what, method: 'GET', path, query, timeout: callTimeouts.measure, kind: 'stream' } as const
    return await client.ask<Stats | undefined>(call)
  } catch (error) {
    if (error instanceof RuntimeError && error.kind === 'missing') return undefined
    throw error
  }
}

/**
 * As `Runtime.measureLayer`. The engine adds up the files of the layer as quickly as the disk can, so it is asked for one
 * container at a time: a list with sizes would be of all.
 */
export async function measureLayer(
  engine: EngineContext,
  id: string,
  signal: AbortSignal,
): Promise<number | 'bound' | undefined> {
  const found = await inspectOwn(engine, id, signal)
  if (!found) return undefined
  if (found.HostConfig.StorageOpt?.size !== undefined) return 'bound'
  const filters = JSON.stringify({ id: [id], label: labelFilter(engine.installation) })
  const query = { all: 'true', size: 'true', filters }
  const what = `measure the writable layer of ${id}`
  const call = { what, method: 'GET', path: '/containers/json', query, kind: 'stream', signal } as const
  const listed = await engine.client.ask<readonly Sized[]>({ ...call, timeout: callTimeouts.measureLayer })
  const [sized] = listed.filter(({ Id }) => Id === id)
  // The engine leaves 0 out, and says -1 where it failed.
  if (sized?.SizeRw !== undefined && sized.SizeRw < 0) throw new RuntimeError('failed', what)
  return sized && (sized.SizeRw ?? 0)
}

interface Sized {
  readonly Id: string
  readonly SizeRw?: number
}
