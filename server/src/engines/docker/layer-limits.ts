import { RuntimeError } from '#/engines/runtime-error.ts'

/** How long a refusal is good, in ms: an operator may mount the folder of the engine anew. */
const maxRefusalAge = 3_600_000

/**
 * Whether the engine can bind the writable layer of a container. `overlay2` can on XFS that is mounted with project
 * quotas; of these the engine does not tell, so the first creation tries. With other drivers Berth measures: btrfs and
 * vfs would count the image, too, and the image store of containerd takes the option and does not follow it
 * (moby/moby#51222).
 */
export class LayerLimits {
  #refusedAt = -Infinity

  /** Whether an engine that calls its driver and file system so may bind a layer, unless it has refused lately. */
  mayBind({ Driver, DriverStatus }: StorageInfo): boolean {
    const isOnXfs = (DriverStatus ?? []).some(([name, value]) => name === 'Backing Filesystem' && value === 'xfs')
    return Driver === 'overlay2' && isOnXfs && performance.now() - this.#refusedAt > maxRefusalAge
  }

  /**
   * Creates a container with the option, and without it where the engine refuses.
   * @param create gets the option of the host's configuration
   */
  async bind<T>(bytes: number | undefined, storage: StorageInfo, create: (option: object) => Promise<T>): Promise<T> {
    if (bytes === undefined || !this.mayBind(storage)) return create({})
    try {
      return await create({ StorageOpt: { size: String(bytes) } })
    } catch (error) {
      if (!isWithoutLayerLimit(error)) throw error
      this.#refusedAt = performance.now()
      return create({})
    }
  }
}

/** What `/info` says of where the engine keeps layers. */
export interface StorageInfo {
  readonly Driver?: string
  readonly DriverStatus?: readonly (readonly [string, string])[] | null
}

/** Docker's words: "--storage-opt is supported only for overlay over xfs with 'pquota' mount option". */
const isWithoutLayerLimit = (error: unknown) =>
  error instanceof RuntimeError && /--storage-opt is (?:supported only|not supported)/i.test(String(error.cause))
