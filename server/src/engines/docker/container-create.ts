import { usualCapabilities, type ContainerSpec, type CreatedContainer, type Mount } from '#/engines/container-spec.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { CreateOptions } from '#/engines/runtime.ts'
import { oneEntry } from '#/engines/tar/archive-rewrite.ts'
import { callTimeouts, isValidName } from './engine-client.ts'
import type { BoundFolder } from './bound-folders.ts'
import type { EngineContext } from './engine-context.ts'
import { hasHome, quotaOptions, removeVolume } from './home-volumes.ts'
import { openFilesLimit, type HostFacts } from './host-info.ts'
import { inspectImage } from './images.ts'
import { homeLabels, labelsFor } from './labels.ts'
import { setLatest } from '#/machine/recent-counts.ts'

/** What an image declares when it declares nothing. */
const defaultPort = 8080

/** A quarter of what any other program on the host has, when there is not enough for all. */
const cpuShares = 256

/**
 * One call to the engine when the spec names its port, else two: what an image exposes is asked each time, because the
 * same name may mean a newer image by now, and the answer costs about a millisecond.
 */
export async function createContainer(
  engine: EngineContext,
  spec: ContainerSpec,
  options: CreateOptions = {},
): Promise<CreatedContainer> {
  const { signal } = options
  const what = `create ${spec.name}`
  if (!isValidName(spec.name)) throw new RuntimeError('failed', `${what}: the engine accepts no such name`)
  // The whole volume would be mounted, with the homes of all people. Templates with such a home are refused at the start.
  if (spec.mounts.some(({ source }) => 'volume' in source && source.subPath !== undefined))
    throw new RuntimeError('failed', `${what}: this engine has no claims of which a folder is mounted`)
  const port = spec.port ?? (await exposedPort(engine, spec.image, options))
  const facts = await engine.host.facts()
  const tool = await engine.tool.mounts(facts.architecture, signal)
  const isNewHome = spec.user !== undefined && spec.home !== null && !(await hasHome(engine, spec.home.volume))
  const folders = await engine.boundFolders.look(foldersOf(engine, spec.mounts), what)
  const query = { name: spec.name }
  const call = {
    what,
    method: 'POST',
    path: '/containers/create',
    query,
    timeout: callTimeouts.create,
    signal,
  } as const
  const created = await withImage(engine, spec.image, options, () =>
    engine.networks.allocate(
      (network) =>
        engine.layerLimits.bind(spec.layerSize, facts.storage, (layer) =>
          engine.client.ask<{ Id: string }>({
            ...call,
            body: toBody(engine, spec, port, { ...facts, tool, network, layer }),
          }),
        ),
      signal,
    ),
  )
  if (isNewHome) await giveHome(engine, created.Id, spec)
  remember(engine.created, created.Id, folders)
  return { id: created.Id, port }
}

/** A new home belongs to the account that the container runs as, whatever its image has at that place. */
async function giveHome({ client }: EngineContext, id: string, { name, home, user }: ContainerSpec): Promise<void> {
  if (!home || user === undefined) return
  const [uid = 0, gid = 0] = user.split(':').map(Number)
  const archive = oneEntry({ name: `${home.path.slice(1)}/`, size: 0, type: 'directory', mode: 0o700, uid, gid })
  const [what, path, query] = [`give the home of ${name} to ${user}`, `/containers/${id}/archive`, { path: '/' }]
  const call = { what, method: 'PUT', path, query, archive } as const
  try {
    await client.ask({ ...call, timeout: callTimeouts.writeFiles, kind: 'stream' })
  } catch (error) {
    // The next launch would take the home for one that is there.
    const remove = { what, method: 'DELETE', path: `/containers/${id}`, query: { force: '1' } } as const
    await client.ask({ ...remove, timeout: callTimeouts.remove })
    await removeVolume(client, home.volume)
    throw error
  }
}

/**
 * Max containers that are remembered until their start: launches have few under way, and one that fails never starts.
 */
const maxCreated = 500

function remember(created: EngineContext['created'], id: string, folders: readonly BoundFolder[]): void {
  setLatest(created, id, folders, maxCreated)
}

/** Those of an engine on another machine cannot be looked at. */
const foldersOf = ({ isLocal }: EngineContext, mounts: readonly Mount[]): string[] =>
  isLocal ? mounts.flatMap(({ source }) => ('path' in source ? source.path : [])) : []

/** Work that needs the image: done again after a pull when it was missing. */
async function withImage<T>(
  { pulls }: EngineContext,
  image: string,
  options: CreateOptions,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof RuntimeError) || error.kind !== 'image') throw error
    await pulls.pull(image, options)
    return work()
  }
}

/** The single port of TCP that the image exposes: `EXPOSE 3000/tcp 9000/udp` has one that HTTP can use. */
async function exposedPort(engine: EngineContext, image: string, options: CreateOptions): Promise<number> {
  const { Config } = await withImage(engine, image, options, () => inspectImage(engine, image, options.signal))
  const exposed = Object.keys(Config?.ExposedPorts ?? {}).filter((each) => !/\/(?:udp|sctp)$/.test(each))
  return exposed.length === 1 ? Number.parseInt(exposed[0] ?? '', 10) : defaultPort
}

/** What a container gets of its host. */
interface Host extends HostFacts {
  /** Mounts of the container tool, as the engine's API has them. */
  readonly tool: readonly object[]
  /** The network that it is on. */
  readonly network: string
  /** What binds its writable layer, as the engine's API has it. */
  readonly layer: object
}

function toBody(engine: EngineContext, spec: ContainerSpec, port: number, host: Host): object {
  return {
    Image: spec.image,
    Env: Object.entries({ ...spec.env, PORT: String(port) }).map(([name, value]) => `${name}=${value}`),
    ...(spec.command ? { Cmd: spec.command } : {}),
    ...(spec.user === undefined ? {} : { User: spec.user }),
    Labels: labelsFor(engine.installation, spec, port),
    StopTimeout: 10,
    HostConfig: { ...limitsOf(spec, host), ...host.layer, ...rightsOf(spec), ...placementOf(engine, spec, host) },
    NetworkingConfig: { EndpointsConfig: { [host.network]: {} } },
  }
}

/**
 * What it may use up. An app is killed before the platform is, and waits for a core before it. No `MemoryReservation`:
 * on cgroup v2 it becomes `memory.low`, which would keep the memory of idle apps and take the platform's instead.
 */
function limitsOf({ memory: wanted, cpus, pids, shmSize }: ContainerSpec, host: HostFacts): object {
  const { cores, logDrivers, raisesOpenFiles } = host
  const memory = Math.min(wanted, host.memory)
  const rotating = { Type: 'local', Config: { 'max-size': '10m', 'max-file': '3' } }
  return {
    Memory: memory,
    MemorySwap: memory,
    OomScoreAdj: 500,
    NanoCpus: Math.round(Math.min(cpus, cores) * 1e9),
    CpuShares: cpuShares,
    PidsLimit: pids,
    Ulimits: [
      { Name: 'core', Soft: 0, Hard: 0 },
      ...(raisesOpenFiles ? [{ Name: 'nofile', Soft: openFilesLimit, Hard: openFilesLimit }] : []),
    ],
    ShmSize: shmSize,
    // Docker's default driver keeps everything for ever.
    ...(logDrivers.includes('local') ? { LogConfig: rotating } : {}),
  }
}

/**
 * What it may do: never more than a template says, and no template can make it privileged (no privilege escalation).
 */
function rightsOf({ capAdd, allowSetuid, readOnly, runtime, memory, gpus, gpuIds, devices }: ContainerSpec): object {
  // What is in them counts as its memory: a full folder is kinder than an app that is killed. The kernel's own limit is
  // half of the host's memory.
  const scratch = `rw,nosuid,nodev,size=${Math.floor(memory / 2)}`
  return {
    Privileged: false,
    CapDrop: ['ALL'],
    CapAdd: [...usualCapabilities, ...capAdd],
    SecurityOpt: allowSetuid ? [] : ['no-new-privileges:true'],
    IpcMode: 'private',
    CgroupnsMode: 'private',
    ReadonlyRootfs: readOnly,
    ...(readOnly ? { Tmpfs: { '/tmp': scratch, '/run': scratch, '/var/tmp': scratch } } : {}),
    ...(runtime ? { Runtime: runtime } : {}),
    ...(gpus === 0
      ? {}
      : { DeviceRequests: [{ ...(gpuIds ? { DeviceIDs: gpuIds } : { Count: gpus }), Capabilities: [['gpu']] }] }),
    Devices: devices.map(({ onHost, inContainer, rights }) => ({
      PathOnHost: onHost,
      PathInContainer: inContainer,
      CgroupPermissions: rights,
    })),
  }
}

/**
 * Where it lives: our network, no published port, its home and what its template mounts. `always` as restart policy
 * would undo a block.
 */
function placementOf(
  engine: EngineContext,
  { home, owner, mounts }: ContainerSpec,
  { supportsHomeQuota, tool, network }: Host,
): object {
  const mount = home && {
    Type: 'volume',
    Source: home.volume,
    Target: home.path,
    VolumeOptions: {
      Labels: homeLabels(engine.installation, { ...owner, type: home.type ?? owner.type }),
      // The engine ignores all of this for a volume that exists: it keeps its labels and its size.
      ...(home.size !== null && supportsHomeQuota ? { DriverConfig: quotaOptions(home.size) } : {}),
    },
  }
  return {
    NetworkMode: network,
    RestartPolicy: { Name: 'no' },
    Init: true,
    AutoRemove: false,
    Mounts: [...(mount ? [mount] : []), ...mounts.map(toMount), ...tool],
  }
}

/** No mount of the host that is made later reaches the container, and none of the container the host. */
const toMount = ({ source, target, readOnly, noCopy }: Mount) => ({
  ...('volume' in source
    ? { Type: 'volume', Source: source.volume, ...(noCopy && { VolumeOptions: { NoCopy: true } }) }
    : { Type: 'bind', Source: source.path, BindOptions: { Propagation: 'rprivate' } }),
  Target: target,
  ReadOnly: readOnly,
})
