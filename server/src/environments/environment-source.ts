import type { EnvironmentSource } from '@berth/api/schemas/environments.ts'
import type { FileSet } from '#/templates/starter-files/file-set.ts'
import type { FileSources } from '#/templates/starter-files/file-sources.ts'
import { planBuild, type BuildPlan } from './build-plan.ts'
import { aptScript, pipScript, recognise, shellStep } from './repository-source.ts'

type Packages = Extract<EnvironmentSource, { base: string }>

/** What a source comes to: a Dockerfile that was checked, and what it may copy. */
export interface ReadSource {
  readonly dockerfile: string
  readonly plan: BuildPlan
  /** Files of a repository; who reads it releases them. */
  readonly files?: FileSet
  /** Folder of the repository that is the context. */
  readonly folder: string
  /** Files of a repository that say what is built. */
  readonly recognised: readonly string[]
}

/** The plan of a source without a repository. @throws {DockerfileProblem} */
export function readDirectSource(source: Exclude<EnvironmentSource, { git: string }>): ReadSource {
  const [dockerfile, keepsUser] = 'dockerfile' in source ? [source.dockerfile, false] : [dockerfileOf(source), true]
  return { dockerfile, plan: planBuild(dockerfile, { keepsUser }), folder: '', recognised: [] }
}

/**
 * Reads a source, a repository included, which is fetched.
 * @param isAnonymous whether that is without this machine's accounts at Git servers, which are the operator's
 * @throws {DockerfileProblem} {StarterFilesError} when the repository cannot be had; the signal's reason
 */
export async function readSource(
  source: EnvironmentSource,
  sources: Pick<FileSources, 'load'>,
  signal: AbortSignal,
  isAnonymous: boolean,
): Promise<ReadSource> {
  if (!('git' in source)) return readDirectSource(source)
  const origin = { git: source.git, ref: source.ref ?? null, ...(isAnonymous && { isAnonymous }) }
  const files = await sources.load(origin, performance.now(), signal)
  try {
    const { dockerfile, folder, keepsUser, files: recognised } = await recognise(files, source.path ?? '', source.base)
    return { dockerfile, plan: planBuild(dockerfile, { keepsUser }), files, folder, recognised }
  } catch (error) {
    await files.release()
    throw error
  }
}

/**
 * A Dockerfile that installs packages on a base: their names have no character that a shell knows, and commands are the
 * author's.
 */
export function dockerfileOf({ base, apt = [], pip = [], npm = [], run = [] }: Packages): string {
  const steps = [
    ...(apt.length === 0 ? [] : [aptScript(words(apt))]),
    ...(pip.length === 0 ? [] : [pipScript(words(pip))]),
    ...(npm.length === 0 ? [] : [`npm install -g ${words(npm)} && npm cache clean --force`]),
    ...run,
  ]
  return [`FROM ${base}`, 'USER 0', ...steps.map(shellStep)].join('\n')
}

const words = (names: readonly string[]) => names.map((name) => `'${name}'`).join(' ')
