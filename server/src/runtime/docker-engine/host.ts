import { limits, type EngineClient } from './client.ts'

/** What a container may ask of its host; the engine refuses one that asks for more. */
export interface HostFacts {
  readonly cores: number
  /** Names of the ways to keep a container's output; Podman has none that is called `local`. */
  readonly logDrivers: readonly string[]
}

/** Asks the engine once: `/info` takes longer than any other read. */
export class Host {
  readonly #client: EngineClient
  #facts: Promise<HostFacts> | undefined

  constructor(client: EngineClient) {
    this.#client = client
  }

  /** @throws {RuntimeError} and asks again the next time */
  async facts(): Promise<HostFacts> {
    this.#facts ??= this.#ask()
    try {
      return await this.#facts
    } catch (error) {
      this.#facts = undefined
      throw error
    }
  }

  async #ask(): Promise<HostFacts> {
    const { NCPU, Plugins } = await this.#client.ask<{ NCPU: number; Plugins?: { Log?: string[] | null } }>({
      what: 'ask the engine about its host',
      method: 'GET',
      path: '/info',
      limit: limits.read,
    })
    return { cores: NCPU, logDrivers: Plugins?.Log ?? [] }
  }
}
