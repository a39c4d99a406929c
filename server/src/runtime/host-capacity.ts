/** What the host has. Null where it cannot be known from here, as with an engine on another machine. */
export interface HostReport {
  readonly cores: number
  /** Names that a template's `runtime` may have. */
  readonly ociRuntimes: readonly string[]
  readonly hasGpus: boolean
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
  /** Whether rules keep containers away from the host's services and its metadata address; otherwise why not. */
  readonly rules: { readonly areSet: true } | { readonly areSet: false; readonly reason: string }
}
