import type { InstallationLock } from './installation-lock.ts'
import { Refused } from './refused.ts'

/**
 * Names that Berth gives: they begin with that of the installation. With any other name a container, volume or network could
 * be taken for one of another program that is made later, or, being the beginning of an id, for one that is there.
 */
export class OwnNames {
  readonly #installation: Pick<InstallationLock, 'name'>

  constructor(installation: Pick<InstallationLock, 'name'>) {
    this.#installation = installation
  }

  /** As container-name.ts spells them. @throws {Refused} */
  requireContainer(name: string): void {
    const spelled = this.#prefix.replace(/[^a-z0-9-]/g, '_')
    require(name.startsWith(this.#prefix) || name.startsWith(spelled), 'container', name)
  }

  /** As helper-containers.ts has them. @throws {Refused} */
  requireHelper(name: string): void {
    require(/^berth-helper-[0-9a-f]{16}$/.test(name), 'helper', name)
  }

  /** @throws {Refused} */
  requireVolume(name: string): void {
    require(this.isVolume(name), 'volume', name)
  }

  /** As networks.ts numbers them. @throws {Refused} */
  requireNetwork(name: string): void {
    const rest = name.startsWith(this.#prefix) ? name.slice(this.#prefix.length) : undefined
    const isOwn = name === this.#installation.name || (rest !== undefined && /^\d+$/.test(rest))
    require(isOwn, 'network', name)
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
