import { SharedLocks } from '#/machine/shared-locks.ts'
import type { HomeNames, HomeOwner, NamedHome } from './home-names.ts'

/**
 * Locks of homes that several containers have: launches of those share one, work on the home itself has it alone. A home of
 * one container needs none, because everything that concerns it runs in the flight of that container. Work in a flight may
 * wait for a lock; work that has a lock waits for no flight.
 */
export class HomeLocks {
  readonly names: HomeNames
  readonly #locks = new SharedLocks()

  constructor(names: HomeNames) {
    this.names = names
  }

  /** Runs a launch of a container that has the home; nothing works on the home meanwhile. */
  async share<T>(owner: HomeOwner, type: string, work: (home: NamedHome) => Promise<T>): Promise<T> {
    const home = await this.names.of(owner, type)
    return home.isShared ? this.#locks.share(home.volume, () => work(home)) : work(home)
  }

  /** Runs work on the home; no container that has it is launched meanwhile. */
  async alone<T>(owner: HomeOwner, type: string, work: (home: NamedHome) => Promise<T>): Promise<T> {
    const home = await this.names.of(owner, type)
    return home.isShared ? this.#locks.hold(home.volume, () => work(home)) : work(home)
  }

  /** Does what `alone` does within a launch, unless another container with the home is being launched: undefined then. */
  async aloneInLaunch<T>(
    owner: HomeOwner,
    type: string,
    work: (home: NamedHome) => Promise<T>,
  ): Promise<{ readonly result: T } | undefined> {
    const home = await this.names.of(owner, type)
    return home.isShared ? this.#locks.holdIfAlone(home.volume, () => work(home)) : { result: await work(home) }
  }
}
