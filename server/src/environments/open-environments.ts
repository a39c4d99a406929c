import path from 'node:path'
import type { Foundation } from '#/containers/containers-parts.ts'
import type { Containers } from '#/containers/open-containers.ts'
import type { Task } from '#/containers/reconcile/reconciler.ts'
import { ownImageName } from '#/engines/image-builds.ts'
import { refusals } from '#/refusals/errors.ts'
import { listPublished } from '#/store/environments.ts'
import { FileSources } from '#/templates/starter-files/file-sources.ts'
import { TemplateSources, type SourceFolders } from '#/templates/template-sources.ts'
import { EnvironmentAdministration } from './environment-administration.ts'
import { EnvironmentRights, type RightsSettings } from './environment-rights.ts'
import { ImageBuild, type ImageBuildParts } from './image-build.ts'
import { wholeName } from './image-references.ts'
import { VersionBuilds } from './version-builds.ts'

export type { EnvironmentAdministration, EnvironmentView } from './environment-administration.ts'

export interface EnvironmentsParts extends Pick<Foundation, 'database' | 'runtime' | 'installation' | 'log'> {
  readonly config: {
    readonly environments: RightsSettings & {
      readonly parallel: number
      readonly limits: ImageBuildParts['limits']
    }
    readonly sources: SourceFolders
    readonly dataDir: string
  }
  readonly containers: Containers
  /** Whether this process does one thing and ends: what a service builds is left alone. */
  readonly isForOneCommand?: boolean
}

/** The engine's images are looked at once in so many runs of the reconciler, beside those after a change. */
const runsBetweenSweeps = 20

/** The room of environments: images that Berth builds. Where they are off, it reads nothing and has no task. */
export class Environments {
  readonly administration: EnvironmentAdministration
  readonly tasks: readonly Task[]
  readonly isOn: boolean
  readonly #parts: EnvironmentsParts
  readonly #versions: VersionBuilds | undefined
  #runs = 0

  constructor(parts: EnvironmentsParts) {
    const { config, database, containers } = parts
    const { environments: settings } = config
    const { templates } = containers
    this.#parts = parts
    this.isOn = settings.mode !== 'off'
    const folder = path.join(config.dataDir, 'environment-files')
    // Of folders and archives of this machine no source knows.
    const sources = new FileSources({ folder, roots: [] })
    this.#versions = this.isOn ? versionBuildsOf(parts, sources) : undefined
    this.administration = new EnvironmentAdministration({
      database,
      sources,
      rights: new EnvironmentRights(settings, templates),
      versions: this.#versions,
      onPublished: () => this.#refresh(),
    })
    this.tasks = this.isOn ? [{ name: 'environments', run: () => this.#reconcile() }] : []
    if (this.isOn)
      containers.addPreLaunchHook((_user, { environment, image }) =>
        environment !== null && image === '' ? refusals.environmentNotPublished(environment) : undefined,
      )
  }

  /** Before requests are served. @throws {StoreFailure} */
  async start(): Promise<void> {
    if (!this.isOn) return
    await this.#refresh()
    if (!this.#parts.isForOneCommand) await this.#versions?.failInterrupted()
  }

  /** Ends builds; resolves when their ends are stored. */
  async stop(): Promise<void> {
    await this.#versions?.stop()
  }

  /** Reads which versions launches use: before the first launch, and when one was published. @throws {StoreFailure} */
  async #refresh(): Promise<void> {
    const { database, installation, containers } = this.#parts
    const published = await listPublished(database.db)
    const images = published.map(({ name, version }) => [name, ownImageName(installation, name, version)] as const)
    containers.templates.useEnvironments(new Map(images))
  }

  /** Another process may have published; containers that used an image may be gone. */
  async #reconcile(): Promise<Record<string, number>> {
    await this.#refresh()
    await this.#versions?.clean(++this.#runs % runsBetweenSweeps === 0)
    return {}
  }
}

function versionBuildsOf(parts: EnvironmentsParts, sources: FileSources): VersionBuilds | undefined {
  const { config, database, runtime, installation, containers, log } = parts
  const builds = runtime.imageBuilds()
  if (!builds) return undefined
  const passwords = new TemplateSources(config.sources)
  const { limits, parallel } = config.environments
  const imageBuild = new ImageBuild({
    builds,
    runtime,
    sources,
    limits,
    credentialsFor: (image) => {
      const whole = wholeName(image)
      const named = containers.templates.all().find((each) => each.image !== '' && wholeName(each.image) === whole)
      return named && passwords.credentialsOf(named)
    },
  })
  return new VersionBuilds({ database, builds, imageBuild, installation, parallel, log })
}
