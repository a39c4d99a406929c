import type { Logger } from 'pino'
import type { RuntimeCapabilities } from '#/engines/runtime-capabilities.ts'
import type { Runtime } from '#/engines/runtime.ts'
import { EngineClient } from './engine-client.ts'
import { containerFiles } from './container-files.ts'
import { homeContents } from './home-contents.ts'
import { createContainer } from './docker-create.ts'
import type { EngineContext } from './engine-context.ts'
import { findEngineAddress } from './engine-address.ts'
import { followLogs } from './follow-logs.ts'
import { HomeQuota } from './home-quota.ts'
import { homes, removeHome } from './home-volumes.ts'
import { BoundFolders } from './bound-folders.ts'
import { hostMemory, hostReport } from './host-report.ts'
import { HostRules } from './host-rules.ts'
import { HostInfo } from './host-info.ts'
import { imageId, imageInfo } from './image-inspect.ts'
import { inspect, inspectId } from './docker-inspect.ts'
import { listContainers } from './docker-list.ts'
import { ListedContainers } from './listed-containers.ts'
import { OomNotices } from './oom-notices.ts'
import { readLogs } from './read-logs.ts'
import { measureHomes } from './home-disk-usage.ts'
import { Networks, defaultMaxPerNetwork } from './networks.ts'
import { pauseContainer } from './docker-pause.ts'
import { ImagePulls } from './image-pull.ts'
import { removeContainer, removeStopped } from './docker-remove.ts'
import { startContainer } from './docker-start.ts'
import { stopContainer } from './docker-stop.ts'
import { usage } from './container-usage.ts'
import { watchEvents } from './engine-events.ts'

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
