import type { Logger } from 'pino'
import type { RuntimeCapabilities } from '#/runtime/runtime-capabilities.ts'
import type { Runtime } from '#/runtime/runtime.ts'
import { EngineClient } from './client/engine-client.ts'
import { containerFiles } from './containers/container-files.ts'
import { homeContents } from './homes/home-contents.ts'
import { createContainer } from './containers/docker-create.ts'
import type { EngineContext } from './engine-context.ts'
import { findEngineAddress } from './client/engine-address.ts'
import { followLogs } from './logs/follow-logs.ts'
import { HomeQuota } from './homes/home-quota.ts'
import { homes, removeHome } from './homes/home-volumes.ts'
import { BoundFolders } from './host/bound-folders.ts'
import { hostMemory, hostReport } from './host/host-report.ts'
import { HostRules } from './firewall/host-rules.ts'
import { HostInfo } from './host/host-info.ts'
import { imageId, imageInfo } from './images/image-inspect.ts'
import { inspect, inspectId } from './containers/docker-inspect.ts'
import { listContainers } from './containers/docker-list.ts'
import { ListedContainers } from './containers/listed-containers.ts'
import { OomNotices } from './containers/oom-notices.ts'
import { readLogs } from './logs/read-logs.ts'
import { measureHomes } from './homes/home-disk-usage.ts'
import { Networks, defaultMaxPerNetwork } from './networks/networks.ts'
import { pauseContainer } from './containers/docker-pause.ts'
import { ImagePulls } from './images/image-pull.ts'
import { removeContainer, removeStopped } from './containers/docker-remove.ts'
import { startContainer } from './containers/docker-start.ts'
import { stopContainer } from './containers/docker-stop.ts'
import { usage } from './containers/container-usage.ts'
import { watchEvents } from './containers/engine-events.ts'

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
  /** Gets a line for each call to the engine. */
  readonly log?: Pick<Logger, 'debug'>
}

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

/** The Docker Engine as a runtime. Nothing is asked of the engine yet. @throws {Error} when `dockerHost` is no address */
export function createDockerRuntime(options: DockerRuntimeOptions): Runtime {
  const engine = connectToEngine(options)
  const { client } = engine
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
    homes: () => homes(engine),
    removeHome: (volume) => removeHome(engine, volume),
    measureHomes: (signal) => measureHomes(engine, signal),
    host: () => hostReport(engine),
    hostMemory: () => hostMemory(engine),
    usage: (id) => usage(engine, id),
    watch: (onEvent, signal) => watchEvents(engine, onEvent, signal),
    isolationTrial: () => undefined,
    containerFiles: () => containerFiles(engine),
    homeContents: () => homeContents(client, engine.installation),
    counts: () => client.counts(),
  }
}

function connectToEngine(options: DockerRuntimeOptions): EngineContext {
  const { installation, dockerHost, network: first, maxPerNetwork = defaultMaxPerNetwork, hostRules = 'off' } = options
  const address = findEngineAddress(dockerHost)
  const client = new EngineClient(address, options.log)
  const isLocal = address.startsWith('unix:')
  return {
    client,
    installation,
    isLocal,
    networks: new Networks(client, { installation, first, maxPerNetwork }),
    rules: new HostRules(hostRules, isLocal),
    host: new HostInfo(client, isLocal, new HomeQuota(client, installation)),
    pulls: new ImagePulls(client),
    created: new Map(),
    boundFolders: new BoundFolders(),
    oomNotices: new OomNotices(),
    listed: new ListedContainers(),
  }
}

/**
 * Learns the host's size, makes sure of the networks, and sets the host's rules, which may fail: `host` reports it.
 * @throws {RuntimeError} as `Networks.ensure`
 */
export async function prepare(engine: EngineContext): Promise<void> {
  try {
    await Promise.all([engine.networks.ensure(), engine.host.facts()])
  } finally {
    // Also when a network could not be made: there may be containers on others.
    await engine.rules.ensure(engine.networks.interfaces())
  }
}
