import { refusals } from '#/refusals/errors.ts'
import { ProviderDiscovery } from './provider-discovery.ts'
import type { Provider } from './provider.ts'

export interface RegisteredProvider {
  readonly provider: Provider
  readonly discovery: ProviderDiscovery
}

/** The providers of the settings, each with its discovery; nothing is asked of them before they are needed. */
export class ProviderRegistry {
  /** In the order of the login page. */
  readonly providers: readonly Provider[]
  readonly #registered: ReadonlyMap<string, RegisteredProvider>

  constructor(providers: readonly Provider[]) {
    this.providers = providers
    this.#registered = new Map(
      providers.map((provider) => [provider.id, { provider, discovery: new ProviderDiscovery(provider) }]),
    )
  }

  /** Undefined for an id that is not in the settings, or not any more. */
  find(id: string): RegisteredProvider | undefined {
    return this.#registered.get(id)
  }

  /** @throws {Refusal} 404 no such provider */
  require(id: string): RegisteredProvider {
    const registered = this.find(id)
    if (!registered) throw refusals.notFound('provider')
    return registered
  }
}
