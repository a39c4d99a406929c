import { readFileSync, writeFileSync } from 'node:fs'
import type { EngineForward } from './engine-forward.ts'

type Labels = Readonly<Record<string, string>> | null

/** Labels by which Berth marks what it makes; `docker/labels.ts` writes them. */
export const ownLabel = 'berth.instance'
/** Label of containers that reach a home for a backup, and never run but for those with a task. */
export const helperLabel = 'berth.helper'
/** Label of those that run, as `CreateOwnerHelper` has them. */
export const helperTaskLabel = 'berth.helper.task'
/** Label of what builds of images make. */
export const buildLabel = 'berth.build'

interface Container {
  readonly Id: string
  readonly Config: { readonly Labels: Labels }
}

interface Exec {
  readonly ID: string
  readonly ContainerID: string
}

interface Network {
  readonly Id: string
  readonly Name: string
  readonly Driver: string
  readonly Labels: Labels
}

interface Info {
  /** Bytes; 0 when the engine cannot read it. */
  readonly MemTotal?: number
}

interface Volume {
  readonly Name: string
  readonly Labels: Labels
}

/**
 * What the engine has, as far as it belongs to the installation of the broker. Everything else does not exist for its
 * clients: names are looked up by the broker itself, and the engine gets the id that was found.
 */
export class EngineObjects {
  readonly #engine: Pick<EngineForward, 'ask'>
  readonly #installation: Pick<InstallationLock, 'name'>
  #hostMemory: number | undefined

  constructor(engine: Pick<EngineForward, 'ask'>, installation: Pick<InstallationLock, 'name'>) {
    this.#engine = engine
    this.#installation = installation
  }

  /**
   * @param kind `user`: without helpers · `started`: without those that never run
   * @returns its id; undefined when there is none of this installation @throws {EngineFailure}
   */
  async container(reference: string, kind: 'user' | 'started' | 'any'): Promise<string | undefined> {
    const found = await this.#engine.ask<Container>(`/containers/${reference}/json`)
    const labels = found?.Config.Labels
    if (!found || !this.isOwn(labels)) return undefined
    const isUsers = labels?.[ownLabel] !== undefined
    const isMeant = { user: isUsers, started: isUsers || labels?.[helperTaskLabel] !== undefined, any: true }[kind]
    return isMeant ? found.Id : undefined
  }

  /**
   * A program that was made in a container of a user (`CreateExec`).
   * @param id of 64 hexadecimal digits
   * @returns whether there is one @throws {EngineFailure}
   */
  async hasExec(id: string): Promise<boolean> {
    const found = await this.#engine.ask<Exec>(`/exec/${id}/json`)
    return found?.ID === id && (await this.container(found.ContainerID, 'user')) !== undefined
  }

  /** Looks up a bridge as `container` does a container. */
  async network(reference: string): Promise<string | undefined> {
    const found = await this.#engine.ask<Network>(`/networks/${reference}`)
    return found && found.Driver === 'bridge' && this.isOwn(found.Labels) ? found.Id : undefined
  }

  /** Whose it is, `none` when it does not exist: an engine mounts one that exists whatever labels a mount has. */
  async volume(name: string): Promise<'own' | 'other' | 'none'> {
    const found = await this.#engine.ask<Volume>(`/volumes/${name}`)
    if (!found) return 'none'
    return this.isOwn(found.Labels) ? 'own' : 'other'
  }

  /**
   * Whether an image was built for this installation: its label says so, which is more than its name.
   * @param reference name or id, as it stands in a path
   */
  async isOwnImage(reference: string): Promise<boolean> {
    const found = await this.#engine.ask<{ readonly Config: { readonly Labels?: Labels } | null }>(
      `/images/${reference}/json`,
    )
    const { name } = this.#installation
    return name !== undefined && found?.Config?.Labels?.[buildLabel] === name
  }

  /** Whether the engine has an image of this name. @throws {EngineFailure} */
  async hasImage(name: string): Promise<boolean> {
    const reference = name.split('/').map(encodeURIComponent).join('/')
    return (await this.#engine.ask(`/images/${reference}/json`)) !== undefined
  }

  /**
   * Whether a container was made of an image, of whichever program and also one that is stopped.
   * @param reference as it stands in a path @throws {EngineFailure}
   */
  async hasContainerOf(reference: string): Promise<boolean> {
    const image = await this.#engine.ask<{ readonly Id: string }>(`/images/${reference}/json`)
    if (!image) return false
    const filters = encodeURIComponent(JSON.stringify({ ancestor: [image.Id] }))
    const found = await this.#engine.ask<{ readonly ImageID: string }[]>(`/containers/json?all=true&filters=${filters}`)
    // The filter also finds those of images that were built on it.
    return (found ?? []).some(({ ImageID }) => ImageID === image.Id)
  }

  /**
   * Bytes of memory of the engine's host; asked once, because it changes with a restart of the machine.
   * @throws {EngineFailure} @throws {Error} when the engine does not say
   */
  async hostMemory(): Promise<number> {
    this.#hostMemory ??= (await this.#engine.ask<Info>('/info'))?.MemTotal || undefined
    if (this.#hostMemory === undefined) throw new Error('the engine does not say how much memory its host has')
    return this.#hostMemory
  }

  /** Whether they are of this installation. */
  isOwn(labels: Labels | undefined): boolean {
    const { name } = this.#installation
    return name !== undefined && [ownLabel, helperLabel, buildLabel].some((label) => labels?.[label] === name)
  }
}

/**
 * Names that Berth gives: they begin with that of the installation. With any other name a container, volume or network
 * could be taken for one of another program that is made later, or, being the beginning of an id, for one that is
 * there.
 */
export class OwnNames {
  readonly #installation: Pick<InstallationLock, 'name'>

  constructor(installation: Pick<InstallationLock, 'name'>) {
    this.#installation = installation
  }

  /** `container-name.ts` spells these names. @throws {Refused} */
  requireContainer(name: string): void {
    const spelled = this.#prefix.replace(/[^a-z0-9-]/g, '_')
    require(name.startsWith(this.#prefix) || name.startsWith(spelled), 'container', name)
  }

  /** `helper-containers.ts` gives these names. @throws {Refused} */
  requireHelper(name: string): void {
    require(/^berth-helper-[0-9a-f]{16}$/.test(name), 'helper', name)
  }

  /** @throws {Refused} */
  requireVolume(name: string): void {
    require(this.isVolume(name), 'volume', name)
  }

  /** `networks.ts` numbers these names. @throws {Refused} */
  requireNetwork(name: string): void {
    const rest = name.startsWith(this.#prefix) ? name.slice(this.#prefix.length) : undefined
    const isOwn = name === this.#installation.name || (rest !== undefined && /^\d+$/.test(rest))
    require(isOwn, 'network', name)
  }

  /** Each build has a network for itself (`build-networks.ts`). @throws {Refused} */
  requireBuildNetwork(name: string): void {
    require(this.isBuildNetwork(name), 'network of a build', name)
  }

  isBuildNetwork(name: string): boolean {
    return name.startsWith(this.#prefix) && /^build-\d+-\d+$/.test(name.slice(this.#prefix.length))
  }

  isVolume(name: string): boolean {
    return name.startsWith(this.#prefix)
  }

  get #prefix(): string {
    return `${this.#installation.name}-`
  }
}

function require(isOwn: boolean, kind: string, name: string): void {
  if (!isOwn) throw new Refused(`Berth gives no ${kind} the name ${name === '' ? 'that the engine makes up' : name}`)
}

/** Names that Berth gives installations; a comma or a quote would change the meaning of a filter. */
const validName = /^[a-zA-Z0-9][\w.-]{0,62}$/

/**
 * The one installation that a broker serves: the first that asks, from then on and after a restart (trust on first
 * use). So an API that was taken over cannot reach the containers of another installation.
 */
export class InstallationLock {
  readonly #file: string
  #name: string | undefined

  /** @param file that keeps the name @throws {Error} when it exists and cannot be read */
  constructor(file: string) {
    this.#file = file
    try {
      this.#name = readFileSync(file, 'utf8').trim() || undefined
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }

  /** Undefined before the first request that names one. */
  get name(): string | undefined {
    return this.#name
  }

  /** @throws {Refused} when it is not the installation of this broker */
  require(name: string | undefined): void {
    if (name === undefined || !validName.test(name)) throw new Refused('it names no installation of Berth')
    if (this.#name === undefined) {
      writeFileSync(this.#file, `${name}\n`, { mode: 0o600 })
      this.#name = name
    }
    if (name !== this.#name)
      throw new Refused(`it is for the installation ${name}, and this broker serves ${this.#name} alone`)
  }
}

/** A request that the broker does not pass on; its message is the answer, and a line of the log. */
export class Refused extends Error {
  override readonly name = 'Refused'
}
