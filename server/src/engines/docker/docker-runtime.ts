import { existsSync } from 'node:fs'
import { readFile, statfs } from 'node:fs/promises'
import { hostname } from 'node:os'
import path from 'node:path'
import type { Logger } from 'pino'
import type { HomeArchive } from '#/engines/home-archive.ts'
import type { HostReport, Runtime, RuntimeCapabilities } from '#/engines/runtime.ts'
import { withSignal } from '#/machine/try-or-log.ts'
import { freePartsBeside } from './bridge-network.ts'
import { BoundFolders } from './bound-folders.ts'
import { createContainer } from './container-create.ts'
import { ContainerTool } from './container-tool.ts'
import { execInContainer } from './container-exec.ts'
import { watchEvents } from './container-events.ts'
import { containerFiles, homeRights } from './container-files.ts'
import { pauseContainer, removeContainer, removeStopped, startContainer, stopContainer } from './container-lifecycle.ts'
import { followLogs, readLogs } from './container-logs.ts'
import { inspect, inspectId, listContainers, measureLayer, usage } from './container-lookup.ts'
import { connectToLoopback, listListening } from './container-ports.ts'
import { findEngineAddress } from './engine-address.ts'
import { EngineClient } from './engine-client.ts'
import { ListedContainers, MeasuredVolumes, OomNotices, type EngineContext } from './engine-context.ts'
import { archiveRequests, execStarts } from './exclusive-calls.ts'
import { HelperContainers } from './helper-containers.ts'
import { homeArchive, homeContents } from './home-contents.ts'
import { changeHomeOwner } from './home-owner.ts'
import { FolderVolumes } from './folder-volumes.ts'
import { measureHomes } from './home-sizes.ts'
import { HomeLists, HomeQuota, hasHome, removeHome } from './home-volumes.ts'
import { HostInfo, type HostFacts } from './host-info.ts'
import { HostRules } from './host-rules.ts'
import { imageBuilds } from './image-builds.ts'
import { imageStore } from './image-store.ts'
import { ImagePulls, imageId, imageInfo } from './images.ts'
import { Networks, defaultMaxPerNetwork } from './networks.ts'
import { LayerLimits } from './layer-limits.ts'

export interface DockerRuntimeOptions {
  /** Name of this installation; on every label. */
  readonly installation: string
  /** `unix:///path` or `tcp://host:port`; undefined looks at the usual places. */
  readonly dockerHost: string | undefined
  /** Name of the first bridge network that is made for this installation's containers; further ones get a number. */
  readonly network: string
  /** Containers on one network, at most; undefined: as many as a bridge takes. */
  readonly maxPerNetwork?: number
  /** Whether `prepare` sets rules of the host, where it may; undefined: no. */
  readonly hostRules?: 'auto' | 'off'
  /** Folder with the container tool for each kind of machine; undefined: that of this program. */
  readonly toolFolder?: string
  /** Gets a line for each call to the engine. */
  readonly log?: Pick<Logger, 'debug'>
}

/** Set-up and releases put it there. */
const ownToolFolder = path.resolve(import.meta.dirname, '../../../../.berth/container-tool')

export const dockerCapabilities: RuntimeCapabilities = {
  keepsStopped: true,
  pauses: true,
  reportsUsage: true,
  measuresHomes: true,
  hasImages: true,
  hasNodes: false,
  mountsHostPaths: true,
  putsFiles: true,
  readsHomes: true,
}

/**
 * The Docker Engine as a runtime. Nothing is asked of the engine yet.
 * @throws {Error} when `dockerHost` is no address
 */
export function createDockerRuntime(options: DockerRuntimeOptions): Runtime {
  const engine = connectToEngine(options)
  const { client } = engine
  const homeLists = new HomeLists(engine)
  const folderVolumes = new FolderVolumes(engine)
  return {
    capabilities: dockerCapabilities,
    prepare: () => prepare(engine),
    ping: async () => void (await client.ping()),
    inspect: (name) => inspect(engine, name),
    inspectId: (id) => inspectId(engine, id),
    imageId: (image) => imageId(engine, image),
    imageInfo: (image) => imageInfo(engine, image),
    fetchImage: async (image, options) => {
      if ((await imageId(engine, image)) === undefined) await engine.pulls.pull(image, options)
    },
    create: (spec, options) => createContainer(engine, spec, options),
    start: (id, signal) => startContainer(engine, id, signal),
    pause: (id, signal) => pauseContainer(engine, id, signal),
    stop: (id, signal, grace) => stopContainer(engine, id, signal, grace),
    remove: (id, signal) => removeContainer(engine, id, signal),
    removeStopped: (id) => removeStopped(engine, id),
    list: (filter) => listContainers(engine, filter),
    logs: (id, lines) => readLogs(engine, id, lines),
    followLogs: (id, lines, onLine, signal) => followLogs(engine, id, lines, onLine, signal),
    exec: (id, command, signal) => execInContainer(engine, id, command, signal),
    listening: (id, signal) => listListening(engine, id, signal),
    connectToLoopback: (id, port, signal) => connectToLoopback(engine, id, port, signal),
    homes: (userId) => homeLists.of(userId),
    hasHome: (volume) => hasHome(engine, volume),
    removeHome: async (volume) => {
      await engine.measured.release(volume)
      await removeHome(engine, volume)
    },
    ensureFolder: (volume) => folderVolumes.ensure(volume),
    removeFolder: async (volume) => {
      await engine.measured.release(volume)
      await folderVolumes.remove(volume)
    },
    measureHomes: (signal, userId) => measureHomes(engine, signal, userId),
    measureLayer: (id, signal) => measureLayer(engine, id, signal),
    homeRights: (id, home, signal) => homeRights(engine, id, home, signal),
    host: () => hostReport(engine),
    hostMemory: () => hostMemory(engine),
    usage: (id) => usage(engine, id),
    watch: (onEvent, signal) => watchEvents(engine, onEvent, signal),
    isolationTrial: () => undefined,
    containerFiles: () => containerFiles(engine),
    homeContents: () => ({
      ...homeContents(engine),
      changeOwner: (home, work) => changeHomeOwner(engine, home, work),
    }),
    imageBuilds: () => imageBuilds(engine),
    imageStore: () => imageStore(engine),
    counts: () => client.counts(),
  }
}

/** Contents of homes of the Docker Engine, for backup and restore. @throws {Error} when `dockerHost` is no address */
export function dockerHomeArchive(installation: string, dockerHost: string | undefined): HomeArchive {
  return homeArchive(new EngineClient(findEngineAddress(dockerHost)), installation)
}

function connectToEngine(options: DockerRuntimeOptions): EngineContext {
  const { installation, dockerHost, network: first, maxPerNetwork = defaultMaxPerNetwork, hostRules = 'off' } = options
  const address = findEngineAddress(dockerHost)
  const client = new EngineClient(address, options.log)
  const isLocal = address.startsWith('unix:')
  const helpers = new HelperContainers(client, installation)
  return {
    client,
    installation,
    isLocal,
    networks: new Networks(client, { installation, first, maxPerNetwork }),
    rules: new HostRules(hostRules, isLocal),
    host: new HostInfo(client, isLocal, new HomeQuota(client, installation)),
    layerLimits: new LayerLimits(),
    pulls: new ImagePulls(client),
    helpers,
    archives: archiveRequests(),
    execs: execStarts(),
    tool: new ContainerTool({ client, installation, helpers }, options.toolFolder ?? ownToolFolder, options.log),
    created: new Map(),
    boundFolders: new BoundFolders(),
    oomNotices: new OomNotices(),
    listed: new ListedContainers(),
    measured: new MeasuredVolumes(),
  }
}

/**
 * Learns the host's size, makes sure of the networks, and sets the host's rules, which may fail: `host` reports it.
 * @throws {RuntimeError} as `Networks.ensure`
 */
async function prepare(engine: EngineContext): Promise<void> {
  try {
    await Promise.all([engine.networks.ensure(), engine.host.facts()])
  } finally {
    // Also when a network could not be made: there may be containers on others.
    await engine.rules.ensure(engine.networks.interfaces())
  }
}

/** How long a file system may take to say how full it is, in ms. */
const statTimeout = 1_000

/** Only what changes is asked anew, and none of it of the engine: monitoring may ask every second. */
async function hostReport(engine: EngineContext): Promise<HostReport> {
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
    supportsLayerLimit: engine.layerLimits.mayBind(facts.storage),
    addressesLeft: countAddresses(engine, facts),
    memory,
    disk,
    rulesAre: 'host rules',
    rules: engine.rules.report,
  }
}

/**
 * The program that Docker adds to a container with GPUs, if it finds it in its path at its start. What Docker says of
 * itself names it nowhere, and the runtime `nvidia` need not be configured.
 */
const gpuHook = 'nvidia-container-runtime-hook'
/** Where a service of the system looks for programs. */
const systemFolders = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']

const hasGpuHook = () => systemFolders.some((folder) => existsSync(path.join(folder, gpuHook)))

/** Room on the networks there are, and on those that the engine still has addresses for. */
function countAddresses({ networks, isLocal }: EngineContext, { addressPools }: HostFacts): number | null {
  const { capacity } = networks
  if (!capacity) return null
  const parts = freePartsBeside(capacity.all, addressPools, isLocal)
  return parts.reduce((sum, { count, addresses }) => sum + count * networks.maxContainers(addresses), capacity.left)
}

/** Null with an engine on another machine, and where there is no such file, as on other systems than Linux. */
async function hostMemory({ isLocal }: Pick<EngineContext, 'isLocal'>): Promise<HostReport['memory']> {
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
