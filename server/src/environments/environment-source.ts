import { message } from '@berth/texts/localized-message.ts'
import type { EnvironmentSource } from '@berth/api/schemas/environments.ts'
import type { FileSet } from '#/templates/starter-files/file-set.ts'
import type { FileSources } from '#/templates/starter-files/file-sources.ts'
import { planBuild, type BuildPlan } from './build-plan.ts'
import { DockerfileProblem } from './dockerfile.ts'
import { pipScript, recognise } from './repository-source.ts'

type GitSource = Extract<EnvironmentSource, { git: string }>
type Packages = Exclude<Extract<EnvironmentSource, { base: string }>, GitSource>

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

/** The plan of a source without a repository; undefined for one with it. @throws {DockerfileProblem} */
export function readDirectSource(source: EnvironmentSource): ReadSource | undefined {
  if ('git' in source) return undefined
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
  const direct = readDirectSource(source)
  if (direct || !('git' in source)) return direct ?? unreadable()
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

function unreadable(): never {
  throw new DockerfileProblem(message('environments.noFrom'))
}

/**
 * A Dockerfile that installs packages on a base. Each step is in the form of a list, which no shell reads before its
 * own: names of packages have no character that a shell knows, and commands are the author's.
 */
export function dockerfileOf({ base, apt = [], pip = [], npm = [], run = [] }: Packages): string {
  const steps = [
    ...(apt.length === 0
      ? []
      : [
          `apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends ${words(apt)} && rm -rf /var/lib/apt/lists/*`,
        ]),
    ...(pip.length === 0 ? [] : [pipScript(words(pip))]),
    ...(npm.length === 0 ? [] : [`npm install -g ${words(npm)} && npm cache clean --force`]),
    ...run,
  ]
  return [`FROM ${base}`, 'USER 0', ...steps.map((step) => `RUN ${JSON.stringify(['/bin/sh', '-ec', step])}`)].join(
    '\n',
  )
}

const words = (names: readonly string[]) => names.map((name) => `'${name}'`).join(' ')
