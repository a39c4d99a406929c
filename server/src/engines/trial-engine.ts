/** A container that runs, of any installation on the engine. */
export interface RunningContainer {
  readonly installation: string
  readonly address: string
  readonly port: number
}

/** What an image starts when a template says nothing else. */
export interface ImageProgram {
  readonly entrypoint: readonly string[]
  readonly command: readonly string[]
}

/**
 * Port for an installation that lasts for minutes: an image from files of this machine, and the removal of what it
 * made.
 */
export interface TrialEngine {
  /** Makes an image of a tar archive; no registry is asked. @throws {RuntimeError} */
  importImage(name: string, archive: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void>

  /**
   * Removes all containers, homes and networks of an installation, and then the image. What is gone is passed over.
   * @throws {RuntimeError} the first failure, after everything was tried
   */
  removeInstallation(installation: string, image: string): Promise<void>

  /** Names of installations that have containers or networks. @throws {RuntimeError} */
  installations(): Promise<string[]>

  /** What an image that the engine has starts. @throws {RuntimeError} `missing` when it has none of this name */
  program(image: string): Promise<ImageProgram>

  /** Running containers of every installation. @throws {RuntimeError} */
  running(): Promise<RunningContainer[]>
}
