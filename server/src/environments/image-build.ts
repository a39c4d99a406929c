import { formatBytes, message, type LocalizedMessage } from '@berth/texts/localized-message.ts'
import type { EnvironmentSource } from '@berth/api/schemas/environments.ts'
import {
  BuildFailed,
  BuildTooLarge,
  type BaseImage,
  type BuildLimits,
  type BuiltImage,
  type ImageBuilds,
} from '#/engines/image-builds.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { RegistryCredentials, Runtime } from '#/engines/runtime.ts'
import { StarterFilesError } from '#/templates/starter-files/file-set.ts'
import type { FileSources } from '#/templates/starter-files/file-sources.ts'
import { buildContext, dockerfilePath } from './build-context.ts'
import type { BuildLog } from './build-log.ts'
import { checkBase, renderDockerfile, type BuildPlan } from './build-plan.ts'
import { DockerfileProblem } from './dockerfile.ts'
import { problemOfBases } from './environment-rights.ts'
import { readSource } from './environment-source.ts'
import { askedName, wholeName } from './image-references.ts'

export interface ImageBuildParts {
  readonly builds: ImageBuilds
  readonly runtime: Pick<Runtime, 'fetchImage'>
  /** Fetches repositories. */
  readonly sources: Pick<FileSources, 'load'>
  /** For the registry of an image, as far as a template has an account at it. */
  readonly credentialsFor: (image: string) => (() => RegistryCredentials) | undefined
  readonly limits: BuildLimits
}

export interface WantedImage {
  /** Of the build. */
  readonly id: string
  /** Name and tag that the image gets. */
  readonly name: string
  readonly source: EnvironmentSource
  /** Names of the images that it may read. Null means that it may read any image. */
  readonly allowed: readonly string[] | null
}

/** An image that was built, with the commit of the repository that it was built from. */
export type BuiltVersion = BuiltImage & { readonly commit?: string }

/** Why a version failed, in words for its author. */
export class VersionFailed extends Error {
  readonly sentence: LocalizedMessage

  constructor(sentence: LocalizedMessage, cause?: unknown) {
    super(sentence.key, { cause })
    this.name = 'VersionFailed'
    this.sentence = sentence
  }
}

/** Builds one image: what it reads is found, checked and pulled first, and then named to the engine by its id. */
export class ImageBuild {
  readonly #parts: ImageBuildParts

  constructor(parts: ImageBuildParts) {
    this.#parts = parts
  }

  /** @throws {VersionFailed} @throws the signal's reason */
  async run(wanted: WantedImage, log: BuildLog, signal: AbortSignal): Promise<BuiltVersion> {
    const { limits } = this.#parts
    const timeout = AbortSignal.timeout(limits.timeout)
    const either = AbortSignal.any([signal, timeout])
    try {
      return await this.#build(wanted, log, either)
    } catch (error) {
      signal.throwIfAborted()
      if (timeout.aborted) throw new VersionFailed(message('environments.timeout', { seconds: limits.timeout / 1_000 }))
      throw this.#failureOf(error)
    }
  }

  async #build(wanted: WantedImage, log: BuildLog, signal: AbortSignal): Promise<BuiltVersion> {
    const { builds, limits, sources } = this.#parts
    if ('git' in wanted.source) log.append(`Fetching ${wanted.source.git}\n`)
    const isAnonymous = wanted.allowed !== null
    const { plan, files, folder, recognised } = await readSource(wanted.source, sources, signal, isAnonymous)
    try {
      if (files) log.append(`Found ${recognised.join(', ')} in commit ${files.version}\n`)
      const bases = await this.#basesOf(plan, wanted, log, signal)
      const dockerfile = renderDockerfile(plan, bases, builds.labelsFor(wanted.id))
      const { id, name } = wanted
      const context = await buildContext(dockerfile, files, folder, signal)
      const build = { id, name, context, dockerfile: dockerfilePath, limits }
      const built = await builds.build(build, (text) => log.append(text), signal)
      return { ...built, ...(files && { commit: files.version }) }
    } finally {
      await files?.release()
    }
  }

  /** Nothing of an image is asked for before its name is known to be allowed. */
  async #basesOf(
    { images }: Pick<BuildPlan, 'images'>,
    { allowed, id }: WantedImage,
    log: BuildLog,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, BaseImage>> {
    const notAllowed = problemOfBases(images, allowed)
    if (notAllowed) throw new VersionFailed(notAllowed)
    const bases = new Map<string, BaseImage>()
    for (const image of images) {
      signal.throwIfAborted()
      // A manager names an image by a whole name alone: never by what the engine could take for an id.
      const base = await this.#find(allowed === null ? image : askedName(wholeName(image)), log, signal)
      checkBase(image, base, this.#parts.builds.labelsFor(id))
      bases.set(image, base)
    }
    return bases
  }

  async #find(image: string, log: BuildLog, signal: AbortSignal): Promise<BaseImage> {
    const { builds, runtime, credentialsFor } = this.#parts
    const found = await builds.find(image)
    if (found) return found
    log.append(`Pulling ${image}\n`)
    try {
      await runtime.fetchImage(image, { signal, credentials: credentialsFor(image) })
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof RuntimeError && error.kind === 'image')
        throw new VersionFailed(message('environments.imageMissing', { image, why: causeOf(error) }), error)
      throw error
    }
    const pulled = await builds.find(image)
    if (!pulled) throw new VersionFailed(message('environments.imageMissing', { image, why: '' }))
    return pulled
  }

  #failureOf(error: unknown): unknown {
    if (error instanceof DockerfileProblem) return new VersionFailed(error.sentence)
    if (error instanceof BuildFailed) {
      const words = error.message.slice(0, 2_000)
      // 128 and the number of SIGKILL: the engine does not tell of a step's memory.
      if (!words.endsWith('non-zero code: 137')) return new VersionFailed(message('environments.failed', { words }))
      const max = formatBytes(this.#parts.limits.memory)
      return new VersionFailed(message('environments.killed', { words, max }))
    }
    if (error instanceof BuildTooLarge) {
      const max = formatBytes(this.#parts.limits.maxSize)
      return new VersionFailed(message('environments.tooLarge', { max }))
    }
    if (error instanceof StarterFilesError)
      return new VersionFailed(message('environments.gitFailed', { why: error.message.slice(0, 2_000) }))
    if (error instanceof RuntimeError && error.kind === 'full')
      return new VersionFailed(message('environments.diskFull'))
    if (error instanceof RuntimeError && error.kind === 'unreachable')
      return new VersionFailed(message('environments.engineLost'), error)
    return error
  }
}

const causeOf = ({ cause }: Error): string => (cause instanceof Error ? cause.message : '').slice(0, 500)
