import type { EngineForward } from './engine-forward.ts'
import type { InstallationLock } from './installation-lock.ts'
import { Refused } from './refused.ts'

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

  constructor(engine: Pick<EngineForward, 'ask'>, installation: Pick<InstallationLock, 'name'>) {
    this.#engine = engine
    this.#installation = installation
  }

  /**
   * @param kind `user`: helpers, which never run, are left out
   * @returns its id; undefined when there is none @throws {Refused} when it is another's
   */
  async container(reference: string, kind: 'user' | 'any'): Promise<string | undefined> {
    const found = await this.#engine.ask<Container>(`/containers/${reference}/json`)
    if (!found) return undefined
    const labels = found.Config.Labels
    if (!this.#isOwn(labels)) throw new Refused(`container ${reference} is not of this Berth`)
    if (kind === 'user' && labels?.[ownLabel] === undefined) throw new Refused(`container ${reference} is not a user's`)
    return found.Id
  }

  /** As `container`. */
  async network(reference: string): Promise<string | undefined> {
    const found = await this.#engine.ask<Network>(`/networks/${reference}`)
    if (found && (!this.#isOwn(found.Labels) || found.Driver !== 'bridge'))
      throw new Refused(`network ${reference} is not of this Berth`)
    return found?.Id
  }

  /** @returns whether it exists @throws {Refused} when it is another's */
  async volume(name: string): Promise<boolean> {
    const found = await this.#engine.ask<Volume>(`/volumes/${name}`)
    if (found && !this.#isOwn(found.Labels)) throw new Refused(`volume ${name} is not of this Berth`)
    return found !== undefined
  }

  #isOwn(labels: Labels): boolean {
    const { name } = this.#installation
    return name !== undefined && (labels?.[ownLabel] === name || labels?.[helperLabel] === name)
  }
}
