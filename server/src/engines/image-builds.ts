/**
 * Port to the building of images. An engine that lacks it has no environments. What it makes carries labels of this
 * installation and of the build, intermediate containers and images included: `sweep` finds by them what an engine or a
 * process that was killed has left.
 */
export interface ImageBuilds {
  /** Labels that a Dockerfile has to set in each of its stages, behind `FROM`. @param build id of the build */
  labelsFor(build: string): Readonly<Record<string, string>>

  /** An image that the engine has; undefined when it has none of this name. Nothing is pulled. @throws {RuntimeError} */
  find(image: string): Promise<BaseImage | undefined>

  /**
   * Builds an image in a network that no other container is on. After a failure or an abort nothing of the build is
   * left, as far as the engine answers; `sweep` removes the rest.
   * @param onOutput gets what the build writes, as it is; control characters included
   * @throws {BuildFailed} with the engine's words {RuntimeError} the signal's reason
   */
  build(build: ImageBuild, onOutput: (text: string) => void, signal: AbortSignal): Promise<BuiltImage>

  /**
   * Removes containers and images of builds that are not among these, and networks of builds that do not run here. An
   * image that a container uses stays.
   * @param keep asked for the ids of builds once it is known what there is, so that a build that begins meanwhile counts
   * @throws {RuntimeError} @throws what `keep` throws
   */
  sweep(keep: () => Promise<ReadonlySet<string>>): Promise<void>
}

/** An image as the base of another one. */
export interface BaseImage {
  /** `sha256:...` */
  readonly id: string
  /** Account of its programs as the image names it; empty for root. */
  readonly user: string
  /** Instructions that a build from it executes first. */
  readonly onBuild: readonly string[]
  readonly labels: Readonly<Record<string, string>>
}

export interface ImageBuild {
  readonly id: string
  /** Name and tag that the image gets. */
  readonly name: string
  /** Tar archive with the Dockerfile. Its pace is kept. */
  readonly context: AsyncIterable<Uint8Array>
  /** Path of the Dockerfile in the archive. */
  readonly dockerfile: string
  readonly limits: BuildLimits
}

export interface BuildLimits {
  /** Bytes that each step may use. */
  readonly memory: number
  readonly cpus: number
  /** In ms. */
  readonly timeout: number
  /** Bytes of the image, and of what one step has written. */
  readonly maxSize: number
}

export interface BuiltImage {
  readonly id: string
  /** Bytes, those of its base included. */
  readonly size: number
}

/** Why a build ended without an image, in words for who wrote the Dockerfile. */
export class BuildFailed extends Error {
  override readonly name = 'BuildFailed'
}

/** A build that has written more than it may. */
export class BuildTooLarge extends Error {
  override readonly name = 'BuildTooLarge'
}

/**
 * The name of an image that this installation builds. Its registry is of a domain that never exists (RFC 2606, 2), so
 * that no engine pulls an image of this name when it has none.
 */
export const ownImageName = (installation: string, environment: string, version: number): string =>
  `${ownImagePrefix(installation)}${environment}:${version}`

/** With which the names of all images of an installation begin. */
export const ownImagePrefix = (installation: string): string =>
  `berth.invalid/${installation.toLowerCase().replace(/[^a-z0-9]+/g, '-')}/`
