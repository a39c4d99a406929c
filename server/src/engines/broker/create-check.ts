import type { Static, TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { usualCapabilities } from '#/engines/container-spec.ts'
import { answeringPaths } from '#/machine/answering-paths.ts'
import {
  CreateContainer,
  CreateExec,
  CreateHelper,
  CreateNetwork,
  CreateOwnerHelper,
  CreateSizeHelper,
  CreateVolume,
  type VolumeMount,
} from './body-schemas.ts'
import {
  OwnNames,
  Refused,
  helperLabel,
  helperTaskLabel,
  ownLabel,
  type EngineObjects,
  type InstallationLock,
} from './installation-objects.ts'

export interface CreateCheckParts {
  readonly allowances: Allowances
  /** `ALLOWED_MOUNT_ROOTS`, as the broker sees them. */
  readonly mountRoots: readonly string[]
  readonly installation: InstallationLock
  readonly objects: Pick<EngineObjects, 'network' | 'volume' | 'hostMemory'>
}

type HostConfig = CreateContainer['HostConfig']
type Mount = HostConfig['Mounts'][number]

/**
 * Checks bodies of what is made. Each method returns the body to send on, and throws `Refused` for what is not allowed.
 */
export class CreateCheck {
  readonly #parts: CreateCheckParts
  readonly #names: OwnNames

  constructor(parts: CreateCheckParts) {
    this.#parts = parts
    this.#names = new OwnNames(parts.installation)
  }

  /** @param name of the container */
  async container(body: unknown, name: string): Promise<unknown> {
    if (labelOf(body, helperTaskLabel) === 'du') return this.#sizeHelper(body, name)
    if (labelOf(body, helperTaskLabel) !== undefined) return this.#ownerHelper(body, name)
    if (labelOf(body, helperLabel) !== undefined) return this.#helper(body, name)
    const wanted = parse(CreateContainer, body)
    this.#parts.installation.require(wanted.Labels[ownLabel])
    this.#names.requireContainer(name)
    this.#checkRights(wanted.HostConfig)
    await this.#checkMemory(wanted.HostConfig)
    const { NetworkMode, Mounts } = wanted.HostConfig
    // The engine looks for it again at each start; the beginning of an id could be another's by then.
    this.#names.requireNetwork(NetworkMode)
    if ((await this.#parts.objects.network(NetworkMode)) === undefined)
      throw new Refused(`network ${NetworkMode} does not exist`)
    const others = Object.keys(wanted.NetworkingConfig.EndpointsConfig).filter((name) => name !== NetworkMode)
    if (others.length > 0) throw new Refused(`it joins the network ${others[0]}, too`)
    for (const mount of Mounts) await this.#checkMount(mount)
    return wanted
  }

  async volume(body: unknown): Promise<unknown> {
    const wanted = parse(CreateVolume, body)
    this.#parts.installation.require(wanted.Labels[ownLabel])
    this.#names.requireVolume(wanted.Name)
    // The engine answers with one that exists, and all that it knows of it.
    if ((await this.#parts.objects.volume(wanted.Name)) === 'other')
      throw new Refused(`the volume ${wanted.Name} belongs to another program`)
    return wanted
  }

  network(body: unknown): unknown {
    const wanted = parse(CreateNetwork, body)
    this.#parts.installation.require(wanted.Labels[ownLabel])
    const isForBuild = this.#parts.allowances.mayBuild && this.#names.isBuildNetwork(wanted.Name)
    if (!isForBuild) this.#names.requireNetwork(wanted.Name)
    return wanted
  }

  /** A program in a container that the caller has found to be the installation's. */
  exec(body: unknown): unknown {
    return parse(CreateExec, body)
  }

  async #helper(body: unknown, name: string): Promise<unknown> {
    const wanted = parse(CreateHelper, body)
    this.#parts.installation.require(wanted.Labels[helperLabel])
    this.#names.requireHelper(name)
    for (const { Source } of wanted.HostConfig.Mounts)
      if ((await this.#parts.objects.volume(Source)) !== 'own') throw new Refused(`volume ${Source} does not exist`)
    return wanted
  }

  /** What it may write to is what a container of a user may write to. */
  async #ownerHelper(body: unknown, name: string): Promise<unknown> {
    const wanted = parse(CreateOwnerHelper, body)
    this.#parts.installation.require(wanted.Labels[helperLabel])
    this.#names.requireHelper(name)
    const { Memory, MemorySwap, Mounts } = wanted.HostConfig
    if (MemorySwap !== Memory) throw new Refused('it asks for swap: MemorySwap is not Memory')
    const [home, tool] = Mounts
    if (home.Target !== '/home' || tool.Target !== '/.berth' || tool.ReadOnly !== true)
      throw new Refused('it has other mounts than a home and the container tool')
    const volumes = home.Type === 'bind' ? [tool] : [home, tool]
    for (const { Source } of volumes)
      if ((await this.#parts.objects.volume(Source)) !== 'own') throw new Refused(`volume ${Source} does not exist`)
    if (home.Type === 'bind') await this.#checkFolder(home)
    return wanted
  }

  /** It can write to nothing, and prints numbers alone. */
  async #sizeHelper(body: unknown, name: string): Promise<unknown> {
    const wanted = parse(CreateSizeHelper, body)
    this.#parts.installation.require(wanted.Labels[helperLabel])
    this.#names.requireHelper(name)
    const { Memory, MemorySwap, Mounts } = wanted.HostConfig
    if (MemorySwap !== Memory) throw new Refused('it asks for swap: MemorySwap is not Memory')
    const tools = Mounts.filter(({ Target }) => Target === '/.berth')
    const isMeant = ({ Target, ReadOnly }: VolumeMount) =>
      ReadOnly === true && (Target === '/.berth' || /^\/homes\/\d+$/.test(Target))
    if (tools.length !== 1 || !Mounts.every(isMeant))
      throw new Refused('it has other mounts than homes to read and the container tool')
    for (const { Source } of Mounts)
      if ((await this.#parts.objects.volume(Source)) !== 'own') throw new Refused(`volume ${Source} does not exist`)
    return wanted
  }

  #checkRights({ CapAdd, Devices, DeviceRequests, Runtime }: HostConfig): void {
    const { capabilities, devices, runtimes, gpus, hasGpus } = this.#parts.allowances
    for (const each of CapAdd)
      if (!usualCapabilities.includes(each) && !capabilities.has(each))
        throw notAllowed(`the capability ${each}`, `capability=${each}`)
    for (const { PathOnHost } of Devices)
      if (!devices.has(PathOnHost)) throw notAllowed(`the device ${PathOnHost}`, `device=${PathOnHost}`)
    for (const each of hasGpus ? [] : (DeviceRequests ?? [])) {
      // A number is for the engine to choose.
      if (!('DeviceIDs' in each)) throw notAllowed('a GPU', 'gpus')
      for (const id of each.DeviceIDs) if (!gpus.has(id)) throw notAllowed(`the GPU ${id}`, `gpu=${id}`)
    }
    if (Runtime !== undefined && !runtimes.has(Runtime))
      throw notAllowed(`the runtime ${Runtime}`, `runtime=${Runtime}`)
  }

  /** A limit above what the host has is none: the kernel would look for a victim among all programs. */
  async #checkMemory({ Memory, MemorySwap }: HostConfig): Promise<void> {
    if (MemorySwap !== Memory) throw new Refused('it asks for swap: MemorySwap is not Memory')
    const available = await this.#parts.objects.hostMemory()
    if (Memory > available)
      throw new Refused(`it asks for ${Memory} bytes of memory, and the host of the engine has ${available}`)
  }

  async #checkMount(mount: Mount): Promise<void> {
    const { allowances, objects, installation } = this.#parts
    if (mount.Type === 'bind') return this.#checkFolder(mount)
    if (allowances.volumes.has(mount.Source)) return
    const label = mount.VolumeOptions?.Labels?.[ownLabel]
    const owner = await objects.volume(mount.Source)
    // A volume that does not exist is made with these labels; without them it would belong to no installation.
    if (owner === 'own') return
    if (owner === 'none' && label !== undefined && label === installation.name && this.#names.isVolume(mount.Source))
      return
    throw notAllowed(`the volume ${mount.Source}`, `volume=${mount.Source}`)
  }

  /**
   * The engine follows links when a container starts, long after this: so no container may change what leads to a
   * source.
   */
  async #checkFolder({ Source, ReadOnly }: Extract<Mount, { Type: 'bind' }>): Promise<void> {
    const { mountRoots, allowances } = this.#parts
    const found = await answeringPaths.findAllowed(Source, mountRoots, 'ALLOWED_MOUNT_ROOTS of the broker')
    if ('problem' in found) throw new Refused(`a mount ${found.problem}`)
    if (found.real !== Source) throw new Refused(`a mount names ${Source}, which is a link to ${found.real}`)
    const above = [...allowances.writable].find((each) => isInFolder(Source, each))
    if (above !== undefined)
      throw new Refused(
        `a mount names ${Source}, which is below ${above}, to which containers may write (BROKER_ALLOW)`,
      )
    const isWritable = [...allowances.writable].some((each) => isFolder(Source, each))
    if (!ReadOnly && !isWritable) throw notAllowed(`writing to the folder ${Source}`, `writable=${Source}`)
  }
}

const partsOf = (path: string) => path.split('/').filter((part) => part !== '')

/** Whether a path is one of the folders that an entry `writable=` means: `*` stands for the name of one folder. */
const isFolder = (path: string, entry: string) => partsOf(path).length === partsOf(entry).length && begins(path, entry)

const isInFolder = (path: string, entry: string) => partsOf(path).length > partsOf(entry).length && begins(path, entry)

function begins(path: string, entry: string): boolean {
  const parts = partsOf(path)
  return partsOf(entry).every((part, at) => part === '*' || part === parts[at])
}

const notAllowed = (what: string, entry: string) =>
  new Refused(`it asks for ${what}, which BROKER_ALLOW does not have (${entry})`)

/**
 * @returns the body, which has the schema's keys alone
 * @throws {Refused} naming the first key that is not as it has to be
 */
function parse<T extends TSchema>(schema: T, body: unknown): Static<T> {
  if (Value.Check(schema, body)) return body
  const errors = [...Value.Errors(schema, body)].filter(({ keyword }) => keyword !== 'additionalProperties')
  const deepest = errors.toSorted((a, b) => b.instancePath.length - a.instancePath.length)[0]
  const where = deepest?.instancePath || 'the body'
  throw new Refused(`${where} ${deepest?.keyword === 'boolean' ? 'is no key that Berth sends' : deepest?.message}`)
}

function labelOf(body: unknown, name: string): unknown {
  const labels = body instanceof Object && 'Labels' in body ? body.Labels : undefined
  return labels instanceof Object && Object.hasOwn(labels, name) ? (labels as Record<string, unknown>)[name] : undefined
}

/** What templates may ask of the engine beyond what each container gets, as the operator of the broker allows it. */
export interface Allowances {
  /** Names of Linux capabilities, without `CAP_`. */
  readonly capabilities: ReadonlySet<string>
  /** Paths of devices on the host. */
  readonly devices: ReadonlySet<string>
  /** Names of OCI runtimes that the engine knows. */
  readonly runtimes: ReadonlySet<string>
  /** Names of volumes that containers share. */
  readonly volumes: ReadonlySet<string>
  /**
   * Folders of the host that may be mounted writable. What is below one cannot be mounted by itself: a container that
   * writes to the folder could put a link to any other in its place, which the engine follows when it starts the next
   * container.
   */
  readonly writable: ReadonlySet<string>
  /** Ids of GPUs that containers may have. */
  readonly gpus: ReadonlySet<string>
  /** Whether they may have all GPUs, by number or by id. */
  readonly hasGpus: boolean
  /** Whether images may be built: their steps run with the engine's usual rights, which are more than containers get. */
  readonly mayBuild: boolean
}

const kinds = ['capability', 'device', 'runtime', 'volume', 'writable', 'gpu'] as const

/**
 * Reads `BROKER_ALLOW`: entries such as `capability=SYS_PTRACE`, `device=/dev/fuse`, `runtime=runsc`,
 * `volume=course-data`, `writable=/srv/shared`, `gpu=0`, `gpus` and `builds`, separated by commas.
 * @throws {Error} in words, for an entry that is none of these
 */
export function readAllowances(text: string): Allowances {
  const entries = text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '')
  const of = new Map(kinds.map((kind) => [kind, new Set<string>()]))
  let [hasGpus, mayBuild] = [false, false]
  for (const entry of entries) {
    const [, kind = '', name = ''] = /^([a-z]+)=(\S+)$/.exec(entry) ?? []
    const names = kinds.find((each) => each === kind)
    if (entry === 'gpus') hasGpus = true
    else if (entry === 'builds') mayBuild = true
    else if (names) of.get(names)?.add(name)
    else
      throw new Error(
        `BROKER_ALLOW has "${entry}"; an entry is gpus or builds, or one of ${kinds.join(', ')} with =name`,
      )
  }
  const sets = kinds.map((kind) => of.get(kind) ?? new Set<string>())
  const [capabilities, devices, runtimes, volumes, writable, gpus] = sets
  if (!capabilities || !devices || !runtimes || !volumes || !writable || !gpus) throw new Error('each kind has a set')
  return { capabilities, devices, runtimes, volumes, writable, gpus, hasGpus, mayBuild }
}
