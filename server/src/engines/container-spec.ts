/** Whose container it is; written on it as labels and read back from them. */
export interface Owner {
  readonly userId: number
  readonly slug: string
  readonly type: string
}

/** A device of the host in a container. */
export interface DeviceMapping {
  readonly onHost: string
  readonly inContainer: string
  /** Which of read, write and mknod it has: some of `rwm`. */
  readonly rights: string
}

export interface MountedVolume {
  readonly volume: string
  /** Folder in the volume, relative to it, that is mounted in its place; clusters alone have it. */
  readonly subPath?: string
}

/** A volume, made when it is missing, or a folder of the host, without symbolic links, in a container. */
export interface Mount {
  readonly source: MountedVolume | { readonly path: string }
  /** Absolute path in the container. */
  readonly target: string
  readonly readOnly: boolean
  /** Whether an empty volume stays as it is; otherwise it takes over what the image has at the target. */
  readonly noCopy?: true
}

/** A taint of nodes that a container accepts. Empty texts and null stand for what is not given. */
export interface Toleration {
  readonly key: string
  readonly operator: 'Equal' | 'Exists'
  readonly value: string
  /** Empty: every effect. */
  readonly effect: '' | 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute'
  /** How long it stays on a node with this taint, in s; null: for ever. */
  readonly seconds: number | null
}

/** Where a cluster runs a container, and with what: the field `kubernetes` of a template. */
export interface ClusterFields {
  /** Labels that its node has to have. */
  readonly nodeSelector: Readonly<Record<string, string>>
  readonly tolerations: readonly Toleration[]
  /** Storage class of a home that is made now; null: the installation's. */
  readonly storageClass: string | null
  /** Names of Secrets of the namespace with accounts at registries. */
  readonly pullSecrets: readonly string[]
  /** Resource that `gpus` counts. */
  readonly gpuResource: string
}

/** All that an adapter needs to create a container. Decided by `containers/`, never by a client. */
export interface ContainerSpec {
  /** Deterministic, so that a second attempt finds the first. */
  readonly name: string
  readonly owner: Owner
  readonly image: string
  /** Port the app listens on; null asks the image: its single EXPOSE, else 8080. */
  readonly port: number | null
  readonly env: Readonly<Record<string, string>>
  /** Replaces the image's CMD. */
  readonly command: readonly string[] | null
  /** Bytes; swap is not granted on top. */
  readonly memory: number
  /** Cores; an adapter lowers it to what the host has, because the engine refuses more. */
  readonly cpus: number
  readonly pids: number
  /** Bytes of `/dev/shm`; what is in it counts as memory. */
  readonly shmSize: number
  /** Bytes that it may write outside of its volumes, where the engine can bind that; undefined: no limit. */
  readonly layerSize?: number
  readonly gpus: number
  /** Ids of the GPUs that it gets, as many as `gpus`; undefined: the engine chooses. No part of the fingerprint. */
  readonly gpuIds?: readonly string[]
  readonly devices: readonly DeviceMapping[]
  /**
   * Named volume that outlives the container, and where it is mounted. `size` in bytes binds a volume that is made now,
   * where the engine's file system can bind one; null asks for no limit.
   */
  readonly home: {
    readonly volume: string
    readonly path: string
    readonly size: number | null
    /** Type on the label of a volume that is made now, where several containers have it; undefined: the owner's. */
    readonly type?: string
    /** Whether several containers have it at the same time. */
    readonly isShared?: true
  } | null
  readonly mounts: readonly Mount[]
  /** `uid` or `uid:gid` as which it runs, and to which a new home belongs; undefined: as the image says. */
  readonly user?: string
  /** OCI runtime such as `runsc`; null is the engine's default. */
  readonly runtime: string | null
  readonly readOnly: boolean
  /** Capabilities on top of the default eight. */
  readonly capAdd: readonly string[]
  /** Lets setuid programs such as sudo gain privileges. */
  readonly allowSetuid: boolean
  /** Undefined where the template has none; engines without the capability `hasNodes` have no use for it. */
  readonly cluster?: ClusterFields
  /** Whether files are put into its home between creation and start, where containers run from their creation on. */
  readonly awaitsFiles?: boolean
  /** Version of the template that it is made from; it is kept on the container, and is no part of the fingerprint. */
  readonly templateVersion?: string
  /** Changes when anything above changes; identifies a container of an older template. */
  readonly fingerprint: string
}

export interface CreatedContainer {
  readonly id: string
  /** The port that was decided: the spec's, or the image's. */
  readonly port: number
}

/** Resource of GPUs in a cluster, where a template names none. */
export const usualGpuResource = 'nvidia.com/gpu'

/**
 * Linux capabilities of each container: enough for programs that start as root and step down; without the six of
 * Docker's that reach further.
 */
export const usualCapabilities = [
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'SETUID',
  'SETGID',
  'KILL',
  'NET_BIND_SERVICE',
]

/** Docker's own registry, by the name that engines and kubelets know it by. */
const dockerHub = 'https://index.docker.io/v1/'

/** The registry of an image: the part before the first slash, if it can be the name of a host; Docker Hub otherwise. */
export function registryOf(image: string): string {
  const [host = '', rest] = image.split('/', 2)
  const isHost = rest !== undefined && (/[.:]/.test(host) || host === 'localhost')
  return isHost && host !== 'docker.io' ? host : dockerHub
}

/**
 * The name by which an engine lists an image: with its tag, and of Docker Hub without the registry. A colon before a
 * slash belongs to the port of a registry.
 */
export function listedName(image: string): string {
  const short = image.replace(/^(?:index\.)?docker\.io\//, '').replace(/^library\/(?=[^/]+$)/, '')
  return /[:@][^/]+$/.test(short) ? short : `${short}:latest`
}
