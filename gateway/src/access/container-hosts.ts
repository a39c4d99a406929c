import { labelOf, prefixAndPortOfLabel } from '#/basics/container-port.ts'
import type { ContainerHostSettings } from '#/port/gateway.ts'

/** The host of a container, that exists or not. */
export interface ContainerHost {
  /** `{slug}-{type}` */
  readonly prefix: string
  /** Port of the container that it is the host of; undefined: its main one. */
  readonly port: number | undefined
  /** What the claim `aud` of a token says that opens it; the same for all ports of a container. */
  readonly audience: string
  /** `{scheme}://{slug}-{type}.{spawnerHost}`, with `{port}--` before it for a port. */
  readonly origin: string
}

/** Subdomain routing: which host belongs to which container. Ports and case do not count, nor does a dot at the end. */
export class ContainerHosts {
  readonly entryUrl: string
  readonly #scheme: string
  readonly #spawnerHost: string
  /** `.name` of the spawner host */
  readonly #suffix: string
  readonly #platformNames: ReadonlySet<string>
  #last: { readonly host: string; readonly found: ContainerHost | 'platform' | 'none' } | undefined

  constructor({ spawnerHost, platformNames, entryUrl }: ContainerHostSettings, scheme: string) {
    this.entryUrl = entryUrl
    this.#scheme = scheme
    this.#spawnerHost = spawnerHost
    this.#suffix = `.${nameOf(spawnerHost)}`
    this.#platformNames = new Set(platformNames)
  }

  /**
   * Whose requests these are: a container's; the platform's, as by every name that is not below the spawner host; or of a
   * name below it that no container can have.
   * @param host value of the header `Host`
   */
  find(host: string | undefined): ContainerHost | 'platform' | 'none' {
    if (host === undefined) return 'platform'
    if (this.#last?.host !== host) this.#last = { host, found: this.#find(nameOf(host)) }
    return this.#last.found
  }

  /** The container's host, if it is one. */
  containerOf(host: string | undefined): ContainerHost | undefined {
    const found = this.find(host)
    return typeof found === 'string' ? undefined : found
  }

  /** @param prefix has the form of a label @returns undefined where the port's label would be too long for DNS */
  originOf(prefix: string, port: number | undefined): string | undefined {
    const label = labelOf(prefix, port)
    return label === undefined ? undefined : this.#originOf(label)
  }

  #originOf(label: string): string {
    return `${this.#scheme}://${label}.${this.#spawnerHost}`
  }

  #find(name: string): ContainerHost | 'platform' | 'none' {
    if (!name.endsWith(this.#suffix) || this.#platformNames.has(name)) return 'platform'
    const label = name.slice(0, -this.#suffix.length)
    const named = prefixAndPortOfLabel(label)
    return named ? { ...named, audience: `/${named.prefix}`, origin: this.#originOf(label) } : 'none'
  }
}

/** A host without its port, in lower case, and without the dot that ends a fully qualified name. */
const nameOf = (host: string) => host.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '')
