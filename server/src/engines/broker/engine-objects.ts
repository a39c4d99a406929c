import type { EngineForward } from './engine-forward.ts'
import type { InstallationLock } from './installation-lock.ts'

type Labels = Readonly<Record<string, string>> | null

/** Labels by which Berth marks what it makes; see runtime/docker-engine/labels.ts. */
export const ownLabel = 'berth.instance'
/** Of containers that reach a home for a backup, and never run. */
export const helperLabel = 'berth.helper'

interface Container {
  readonly Id: string
  readonly Config: { readonly Labels: Labels }
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
 * What the engine has, as far as it belongs to the installation of the broker. Everything else does not exist for its clients:
 * names are looked up by the broker itself, and the engine gets the id that was found.
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
   * @param kind `user`: without helpers, which never run
   * @returns its id; undefined when there is none of this installation @throws {EngineFailure}
   */
  async container(reference: string, kind: 'user' | 'any'): Promise<string | undefined> {
    const found = await this.#engine.ask<Container>(`/containers/${reference}/json`)
    const labels = found?.Config.Labels
    if (!found || !this.isOwn(labels)) return undefined
    return kind === 'user' && labels?.[ownLabel] === undefined ? undefined : found.Id
  }

  /** As `container`; a bridge. */
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
    return name !== undefined && (labels?.[ownLabel] === name || labels?.[helperLabel] === name)
  }
}
