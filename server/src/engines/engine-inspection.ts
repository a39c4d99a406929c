import type { RegistryCredentials } from './runtime.ts'

/** What the engine says about itself and its machine. */
export interface EngineReport {
  /** `unix:///path` or `tcp://host:port`. */
  readonly address: string
  /** Versions by component, in lower case: `engine`, `containerd`, `runc`. */
  readonly versions: Readonly<Record<string, string>>
  /** Options in the engine's spelling: `name=seccomp,profile=default`. */
  readonly securityOptions: readonly string[]
  /** Folder of images, containers and volumes. */
  readonly rootDir: string
  /** The engine's clock when it answered; null if it does not say. */
  readonly time: Date | null
  /** Networks that the engine still has addresses for; an estimate. */
  readonly freeNetworks: number
}

/** Port for looking at the engine. Changes nothing; every call ends within a limit of its own. */
export interface EngineInspection {
  /** @throws {RuntimeError} `unreachable` */
  report(): Promise<EngineReport>

  /**
   * Whether the rules of the host are set, as seen from this process.
   * @throws {Error} with the reason when it cannot see them
   */
  hostRules(): Promise<{ readonly areSet: true } | { readonly areSet: false; readonly reason: string }>

  /** Whether the engine has an image of this name. @throws {RuntimeError} `unreachable` */
  hasImage(image: string): Promise<boolean>

  /**
   * Whether the registry of this image name has it, asked through the engine. @param credentials for it
   * @throws {RuntimeError} when engine or registry do not say
   */
  isInRegistry(image: string, signal: AbortSignal, credentials?: RegistryCredentials): Promise<boolean>
}

/** A right in the namespace of the containers: `list persistentvolumeclaims`. */
export type ClusterRight = string

/** How much of a quota of the namespace is used. */
export interface QuotaUse {
  readonly quota: string
  /** Name that the quota has for it: `requests.memory`. */
  readonly resource: string
  /** Quantities in the cluster's spelling: `3`, `500m`, `10Gi`. */
  readonly used: string
  readonly hard: string
  /** Used of allowed; above 1 after a quota was lowered. */
  readonly share: number
}

export interface StorageClasses {
  readonly names: readonly string[]
  /** Null: a claim without a class waits for ever. */
  readonly default: string | null
}

/** What a cluster says about itself to the account of Berth. */
export interface ClusterReport {
  /** `https://host:port` of the API server. */
  readonly server: string
  readonly namespace: string
  /** `1.33.2` */
  readonly version: string
  /** The API server's clock when it answered, to the second; null if it does not say. */
  readonly time: Date | null
}

/**
 * Port for looking at a cluster. Changes nothing; every call ends within a limit of its own.
 * What a namespaced role may not read is null, never empty.
 */
export interface ClusterInspection {
  /** @throws {Error} for the operator, when there is no usable configuration; {RuntimeError} `unreachable` */
  report(): Promise<ClusterReport>

  /** Rights that Berth needs and this account lacks; those that it has and Berth never uses. @throws {RuntimeError} */
  rights(): Promise<{ readonly lacking: readonly ClusterRight[]; readonly spare: readonly ClusterRight[] }>

  /** @throws {RuntimeError} */
  storageClasses(): Promise<StorageClasses | null>

  /** Names of homes whose claims have waited for a volume for more than five minutes. @throws {RuntimeError} */
  unboundHomes(now: Date): Promise<readonly string[]>

  /** @throws {RuntimeError} */
  quotas(): Promise<readonly QuotaUse[] | null>
}
