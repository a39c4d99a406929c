import { writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Logger } from 'pino'
import { CommandFailed } from '#/command-failure.ts'
import { openTrialInstallation, type TrialInstallation, type TrialUser } from './trial-installation.ts'
import type { Config } from '@berth/server/config/config.ts'
import { readTemplates } from '@berth/server/templates/read-templates.ts'
import { Templates } from '@berth/server/templates/template.ts'
import type { ImageProgram } from '@berth/server/engines/trial-engine.ts'
import type { AppAddress } from './http-look.ts'

/** Fields of a template as an operator writes them. */
export type Fields = Readonly<Record<string, unknown>>

/** A container that was launched with a template. */
export interface LaunchedApp {
  readonly type: string
  /** With its slash: where a browser reaches it. */
  readonly home: string
  readonly address: AppAddress
  /** As the application sees the path of a request. */
  readonly pathOf: (below: string) => string
  isRunning(): Promise<boolean>
  /** Last lines of its output. */
  lastLines(): Promise<readonly string[]>
  /** Removes the container; its home goes with the installation. */
  remove(): Promise<void>
}

const slug = 'trial'

/** A Berth of its own for applications that are tried one after the other, each in a container with another template. */
export class TryInstallation {
  readonly #trial: TrialInstallation
  readonly #templates = new Map<string, Fields>()
  #user: Promise<TrialUser> | undefined

  private constructor(trial: TrialInstallation, first: readonly [string, Fields]) {
    this.#trial = trial
    this.#templates.set(...first)
  }

  /** @throws {CommandFailed} for fields that are wrong · what keeps it from starting */
  static async open(
    config: Config,
    containerRouting: Config['containerRouting'],
    fields: Fields,
    log: Logger,
    signal: AbortSignal,
  ): Promise<TryInstallation> {
    const first = ['app', fields] as const
    const { templates, problems } = readTemplates(JSON.stringify({ app: fields }), 'template')
    if (problems.length > 0) throw new CommandFailed(problems.join('\n'))
    const settings = (_image: string, folder: string): Partial<Config> => ({
      containerRouting,
      templates: new Templates(templates),
      templatesFile: path.join(folder, 'templates.json'),
      requestsPerMinute: 0,
    })
    return new TryInstallation(await openTrialInstallation({ purpose: 'try', config, settings }, log, signal), first)
  }

  get folder(): string {
    return this.#trial.folder
  }

  get port(): number {
    return this.#trial.app.port
  }

  /** Host of the platform, without its port. */
  get platformHost(): string {
    return new URL(this.#trial.app.spawnerUrl).hostname
  }

  get platformOrigin(): string {
    return this.#trial.app.spawnerUrl
  }

  get cookieDomain(): string {
    return `.${this.#trial.app.cookieDomain}`
  }

  async token(): Promise<string> {
    this.#user ??= this.#trial.signUp(slug)
    return (await this.#user).token
  }

  /** What the image starts; it is pulled when it is missing. @throws {RuntimeError} when it cannot be had */
  async program(image: string, signal: AbortSignal): Promise<ImageProgram> {
    await this.#trial.runtime.fetchImage(image, { signal })
    return this.#trial.engine.program(image)
  }

  /** Launches a container with these fields. @throws {AppRefused} with the reason that its owner would read */
  async launch(fields: Fields): Promise<LaunchedApp> {
    const { runtime, app } = this.#trial
    const type = await this.#typeFor(fields)
    await this.#call(`/api/container/launch/${type}`)
    const find = async () => (await runtime.list()).find(({ owner }) => owner?.slug === slug && owner.type === type)
    const container = await find()
    if (!container?.address || container.port === null) throw new AppRefused('its program has ended')
    const [prefix, { id }] = [`${slug}-${type}`, container]
    const origin = app.containerOrigin?.(prefix)
    const isWhole = origin === undefined && fields.strip_prefix === false
    return {
      type,
      home: origin === undefined ? `${app.spawnerUrl}/${prefix}/` : `${origin}/`,
      address: { host: container.address, port: container.port },
      pathOf: (below) => (isWhole ? `/${prefix}/${below}` : `/${below}`),
      isRunning: async () => (await find())?.state === 'running',
      lastLines: () => runtime.logs(id, 5).catch(() => []),
      remove: () => runtime.remove(id),
    }
  }

  /** Removes everything. @throws what could not be removed */
  close(): Promise<void> {
    return this.#trial.close()
  }

  async #typeFor(fields: Fields): Promise<string> {
    const known = [...this.#templates].find(([, each]) => each === fields)?.[0]
    if (known !== undefined) return known
    const type = `app${this.#templates.size + 1}`
    const { problems } = readTemplates(JSON.stringify({ [type]: fields }), 'template')
    if (problems.length > 0) throw new AppRefused(problems.join(' '))
    this.#templates.set(type, fields)
    writeFileSync(path.join(this.folder, 'templates.json'), JSON.stringify(Object.fromEntries(this.#templates)))
    await this.#call('/api/admin/templates/reload')
    return type
  }

  async #call(target: string): Promise<void> {
    const answer = await this.#trial.fetch(target, await this.token(), { method: 'POST' })
    const body = (await answer.json().catch(() => ({}))) as { error?: string }
    if (answer.status !== 200) throw new AppRefused(body.error ?? `${target} is answered with ${answer.status}`)
  }
}

/** A container that could not be launched; the message is what its owner reads. */
export class AppRefused extends Error {}
