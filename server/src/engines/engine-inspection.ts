import type { RegistryCredentials } from './runtime.ts'

/** What the engine says about itself and its machine. */
export interface EngineReport {
  /** `unix:///path` or `tcp://host:port`. */
  readonly address: string
  /** Versions by component, in lower case: `engine`, `containerd`, `runc`. */
  readonly versions: Readonly<Record<string, string>>
  /** As the engine writes them: `name=seccomp,profile=default`. */
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
