import type { Logger } from 'pino'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { HostReport, Runtime, RuntimeCapabilities } from '#/engines/runtime.ts'
import type { HomeArchive } from '#/engines/home-archive.ts'
import { openClusterAccess } from './cluster-access.ts'
import { callTimeouts, ClusterClient } from './cluster-client.ts'
import { defaultTimeouts, type ClusterContext, type ClusterTimeouts } from './cluster-context.ts'
import { containerFiles } from './container-files.ts'
import { ensureFolder, removeFolder } from './folder-volumes.ts'
import { hasHome, listHomes, removeHome } from './home-volumes.ts'
import { homeArchive, homeContents } from './home-contents.ts'
import { removeLeftHelpers } from './helper-containers.ts'
import { followLogs, readLogs } from './container-logs.ts'
import { tryIsolation } from './isolation-trial.ts'
import { createPod } from './container-create.ts'
import { awaitStart, removeEnded, removePod, stopPod } from './container-lifecycle.ts'
import { checkAccess, inspect, inspectId, listContainers } from './container-lookup.ts'
import { PodIndex } from './pod-index.ts'
import { SecretAnchor, UnstartedEnvironments } from './pod-secrets.ts'
import { connectToLoopback, listListening } from './container-ports.ts'
import { execInApp } from './container-exec.ts'
import { watchPods } from './container-events.ts'

export interface KubernetesRuntimeOptions {
  /** Name of this installation; on every label. */
  readonly installation: string
  /** Value of `KUBECONFIG`; undefined: the service account of the pod that this process runs in. */
  readonly kubeconfig: string | undefined
  /** Null: that of the context. */
  readonly namespace: string | null
  /** Storage class of homes; null: the cluster's default. */
  readonly storageClass: string | null
  /** Image with `sh` and `tar`, for files of homes; null: they are out of reach. */
  readonly helperImage?: string | null
  /** Image with the container tool, for SSH; null: pods have none. */
  readonly toolImage?: string | null
  readonly timeouts?: Partial<ClusterTimeouts>
  /** Whether another process creates the pods, as for the SSH process; without this it is this one. */
  readonly createsNone?: boolean
  /** Gets a line for each call to the API server. */
  readonly log?: Pick<Logger, 'debug'>
}

const capabilitiesWith = (hasHelper: boolean): RuntimeCapabilities => ({
  keepsStopped: false,
  pauses: false,
  reportsUsage: false,
  measuresHomes: false,
  hasImages: false,
  hasNodes: true,
  mountsHostPaths: false,
  putsFiles: hasHelper,
  readsHomes: hasHelper,
})

/**
 * A Kubernetes cluster as a runtime: a container is a pod, its id the pod's uid, its home a claim. The API server is
 * not asked yet.
 * @throws {Error} for the operator, when `KUBECONFIG` cannot be used
 */
export async function createKubernetesRuntime(options: KubernetesRuntimeOptions): Promise<Runtime> {
  const cluster = await connectToCluster(options)
  return {
    capabilities: capabilitiesWith(cluster.helperImage !== null),
    prepare: async () => {
      await checkAccess(cluster)
      // What is left after a failure is removed the next time.
      await removeLeftHelpers(cluster).catch(() => undefined)
    },
    ping: () => ping(cluster),
    inspect: (name) => inspect(cluster, name),
    inspectId: (id) => inspectId(cluster, id),
    imageId: async () => undefined,
    imageInfo: async () => undefined,
    // Nodes fetch images when a pod is placed on them.
    fetchImage: async () => undefined,
    create: (spec, options) => createPod(cluster, spec, options),
    start: (id, signal, onWait) => awaitStart(cluster, id, { signal, onWait }),
    pause: (id, signal) => refusePause(cluster, id, signal),
    stop: (id, signal, grace) => stopPod(cluster, id, signal, grace),
    remove: (id, signal) => removePod(cluster, id, signal),
    removeStopped: (id) => removeEnded(cluster, id),
    list: (filter) => listContainers(cluster, filter),
    logs: (id, lines) => readLogs(cluster, id, lines),
    followLogs: (id, lines, onLine, signal) => followLogs(cluster, id, lines, onLine, signal),
    listening: (id, signal) => listListening(cluster, id, signal),
    connectToLoopback: (id, port, signal) => connectToLoopback(cluster, id, port, signal),
    exec: (id, command, signal) => execInApp(cluster, id, command, signal),
    homes: async (userId) => (await listHomes(cluster, userId)).map(({ volume, owner }) => ({ volume, owner })),
    hasHome: (volume) => hasHome(cluster, volume),
    removeHome: (volume) => removeHome(cluster, volume),
    // The group of the pods has every claim.
    homeRights: async () => undefined,
    ensureFolder: (volume) => ensureFolder(cluster, volume),
    removeFolder: (volume) => removeFolder(cluster, volume),
    measureHomes: async () => {
      throw new RuntimeError('failed', 'measure homes: the API of a cluster has no sizes of volumes')
    },
    // The kubelet measures, and ends a pod that has written more than its limit.
    measureLayer: async () => 'bound',
    host: () => hostReport(cluster),
    hostMemory: async () => null,
    usage: async () => undefined,
    watch: (onEvent, signal) => watchPods(cluster, onEvent, signal),
    isolationTrial: () => async (program, signal) => {
      cluster.isolation = await tryIsolation(cluster, program, signal)
      return cluster.isolation
    },
    containerFiles: () => (cluster.helperImage === null ? undefined : containerFiles(cluster)),
    imageBuilds: () => undefined,
    imageStore: () => undefined,
    homeContents: () => (cluster.helperImage === null ? undefined : homeContents(cluster)),
    counts: () => cluster.client.counts(),
  }
}

/** Contents of homes of a cluster, for backup and restore. @throws {Error} for the operator */
export async function clusterHomeArchive(options: KubernetesRuntimeOptions): Promise<HomeArchive> {
  return homeArchive(await connectToCluster(options))
}

async function connectToCluster(options: KubernetesRuntimeOptions): Promise<ClusterContext> {
  const { installation, kubeconfig, namespace, storageClass, helperImage = null, toolImage = null } = options
  const { timeouts, log } = options
  const access = await openClusterAccess(kubeconfig)
  return {
    client: new ClusterClient(access, log),
    installation,
    namespace: namespace ?? access.namespace,
    storageClass,
    helperImage,
    toolImage,
    index: new PodIndex(installation, undefined, options.createsNone),
    timeouts: { ...defaultTimeouts, ...timeouts },
    pullSecrets: new Map(),
    anchor: new SecretAnchor(),
    environments: new UnstartedEnvironments(),
    isolation: null,
  }
}

/**
 * Any client of a cluster may ask this, and the answer includes its store. Not `/readyz`: a server that shuts down
 * refuses that for a minute while it serves everything else.
 */
export async function ping({ client }: Pick<ClusterContext, 'client'>): Promise<void> {
  const call = { what: 'ping the API server', method: 'GET', path: '/livez', kind: 'health' } as const
  await client.download({ ...call, timeout: callTimeouts.read }, 1_024)
}

async function refusePause(cluster: ClusterContext, id: string, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted()
  if (!(await inspectId(cluster, id))) throw new RuntimeError('missing', `pause ${id}`)
  throw new RuntimeError('failed', `pause ${id}: a cluster pauses nothing`)
}

/** A cluster's nodes are the cluster's own affair: what has no room waits for one, and is refused after a while. */
async function hostReport(cluster: ClusterContext): Promise<HostReport> {
  await ping(cluster)
  return {
    cores: null,
    ociRuntimes: null,
    hasGpus: null,
    isThisMachine: false,
    supportsHomeQuota: true,
    supportsLayerLimit: true,
    addressesLeft: null,
    memory: null,
    disk: null,
    rules: cluster.isolation,
    rulesAre: 'policies',
  }
}
