/** Whether rules keep containers away from the host's services and its metadata address; otherwise why not. */
export type HostRulesReport = { readonly areSet: true } | { readonly areSet: false; readonly reason: string }

/** What the host has. Null where it cannot be known from here, as with an engine on another machine. */
export interface HostReport {
  readonly cores: number | null
  /** Names that a template's `runtime` may have; null where the engine cannot be asked for them. */
  readonly ociRuntimes: readonly string[] | null
  /** Null where the engine cannot be asked for them. */
  readonly hasGpus: boolean | null
  /** Whether the engine sees the devices and folders that this process sees; false where that is not certain, as in a container. */
  readonly isThisMachine: boolean
  /** Whether the size of a home can be bound by the engine. */
  readonly supportsHomeQuota: boolean
  /** Containers that can still be put on networks of ours, those that can still be made included; null before `prepare`, too. */
  readonly addressesLeft: number | null
  /** Bytes. */
  readonly memory: { readonly total: number; readonly available: number } | null
  /** Bytes, of the file system that holds images, containers and homes. */
  readonly disk: { readonly total: number; readonly free: number } | null
  /** Null while it is not known. */
  readonly rules: HostRulesReport | null
  /** What keeps containers from each other and from the machines: firewall rules of the host, or NetworkPolicies of a cluster. */
  readonly rulesAre: 'host rules' | 'policies'
}
