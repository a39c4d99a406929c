import { BuildFailed } from '#/engines/image-builds.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { askNetworks, ensureNetwork, removeNetwork } from './bridge-network.ts'
import { statusOf } from './engine-client.ts'
import type { EngineContext } from './engine-context.ts'
import { isOfInstallation } from './labels.ts'

/**
 * Networks of builds, one for each, and only while it runs. The builder of the engine leaves steps the capability for
 * raw packets. With it a step could answer for the address of each neighbour on its bridge (ARP) and receive what the
 * gateway sends to it, whatever rules there are for packets of IP. So a build has no neighbours.
 */
export class BuildNetworks {
  readonly #engine: Pick<EngineContext, 'client' | 'installation'>
  /** By name, of builds of this process. */
  readonly #inUse = new Set<string>()

  constructor(engine: Pick<EngineContext, 'client' | 'installation'>) {
    this.#engine = engine
  }

  /**
   * Makes the network of a build for as long as `work` takes.
   * @param build id of the build
   * @throws {BuildFailed} when the engine has no addresses for another network {RuntimeError} what `work` throws
   */
  async use<T>(build: string, work: (network: string) => Promise<T>): Promise<T> {
    const { client, installation } = this.#engine
    const name = `${this.#prefix}${build}`
    this.#inUse.add(name)
    try {
      await ensureNetwork(client, installation, name).catch((error: unknown) => {
        if (!(error instanceof RuntimeError) || error.kind !== 'full') throw error
        throw new BuildFailed(
          'the engine has no addresses for another network, and each build needs one; docs/how-to/plan-capacity.md says how to give it more',
          { cause: error },
        )
      })
      return await work(name)
    } finally {
      this.#inUse.delete(name)
      // What the engine still uses goes with the next sweep.
      await this.sweep().catch(() => undefined)
    }
  }

  /**
   * Removes networks of builds that this process does not run.
   * @throws {RuntimeError} among others while a step of an ended build is still on one
   */
  async sweep(): Promise<void> {
    const { client, installation } = this.#engine
    const all = await askNetworks(client)
    const unused = all.filter(
      ({ Name, Labels }) =>
        Name.startsWith(this.#prefix) && isOfInstallation(Labels, installation) && !this.#inUse.has(Name),
    )
    for (const { Id, Name } of unused)
      await removeNetwork(client, Id, Name).catch((error: unknown) => {
        if (statusOf(error) !== 404) throw error
      })
  }

  get #prefix(): string {
    return `${this.#engine.installation}-build-`
  }
}
