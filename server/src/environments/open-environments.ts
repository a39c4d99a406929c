import path from 'node:path'
import type { Admin } from '#/admin/open-admin.ts'
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
import { EnvironmentTrials } from './environment-trials.ts'
import { ImageRetention, type ImagesReport } from './image-retention.ts'
import { ImageBuild, type ImageBuildParts } from './image-build.ts'
import { wholeName } from './image-references.ts'
import { VersionBuilds } from './version-builds.ts'

export type { EnvironmentAdministration, EnvironmentView, OlderOfType } from './environment-administration.ts'

export interface EnvironmentsParts extends Pick<Foundation, 'database' | 'runtime' | 'installation' | 'log'> {
  readonly config: {
    readonly environments: RightsSettings & {
      readonly parallel: number
      readonly limits: ImageBuildParts['limits']
    }
    readonly sources: SourceFolders
    /** In ms; null: images that were pulled stay. */
    readonly keepImages: number | null
    readonly dataDir: string
  }
  readonly containers: Containers
  readonly admin: Pick<Admin, 'templates'>
  /** Sends the gateway the rules of all types. */
  readonly publishTypes: () => Promise<void>
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
  readonly #trials: EnvironmentTrials
  readonly #images: ImageRetention | undefined
  #runs = 0

  constructor(parts: EnvironmentsParts) {
    const { config, database, containers, runtime, installation, log } = parts
    const { environments: settings } = config
    const { templates } = containers
    this.#parts = parts
    this.isOn = settings.mode !== 'off'
    const folder = path.join(config.dataDir, 'environment-files')
    // Of folders and archives of this machine no source knows.
    const sources = new FileSources({ folder, roots: [] })
    this.#versions = this.isOn ? versionBuildsOf(parts, sources) : undefined
    const rights = new EnvironmentRights(settings, templates)
    const onChange = () => this.#refreshTrials()
    this.#trials = new EnvironmentTrials({ database, containers, runtime, rights, installation, log, onChange })
    this.administration = new EnvironmentAdministration({
      database,
      sources,
      rights,
      trials: this.#trials,
      rollout: parts.admin.templates,
      groups: containers.rules.directory,
      versions: this.#versions,
      onPublished: () => this.#refresh(),
    })
    this.#images = this.isOn || config.keepImages !== null ? retentionOf(parts) : undefined
    this.tasks = [
      ...(this.isOn ? [{ name: 'environments', run: () => this.#reconcile() }] : []),
      ...(this.#images ? [this.#images.task] : []),
    ]
    if (!this.isOn) return
    containers.addPreLaunchHook((_user, { environment, image }) =>
      environment !== null && image === '' ? refusals.environmentNotPublished(environment) : undefined,
    )
    containers.addPreLaunchHook((user, template) => this.#trials.refusalFor(user, template))
  }

  /** Images that are here because of Berth; undefined where it removes none. */
  get images(): ImagesReport | undefined {
    return this.#images?.report
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
    await this.#trials.read()
    containers.templates.useEnvironments(new Map(images), this.#trials.tried)
  }

  /** Another version is tried, or one less. */
  async #refreshTrials(): Promise<void> {
    await this.#refresh()
    await this.#parts.publishTypes()
  }

  /** Another process may have published; containers that used an image may be gone. */
  async #reconcile(): Promise<Record<string, number>> {
    await this.#refresh()
    await this.#trials.clean(new Date())
    await this.#versions?.clean(++this.#runs % runsBetweenSweeps === 0)
    return {}
  }
}

function retentionOf({ config, database, runtime, containers, log }: EnvironmentsParts): ImageRetention | undefined {
  const images = runtime.imageStore()
  const { templates } = containers
  return images && new ImageRetention({ database, images, templates, keep: config.keepImages, log })
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
  return new VersionBuilds({ database, builds, imageBuild, runtime, installation, parallel, log })
}
