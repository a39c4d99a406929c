import type { IncomingMessage } from 'node:http'
import type { Logger } from 'pino'
import { isPrivateNetwork, networkOf } from '#/ip-address.ts'
import { list, message, type LocalizedMessage } from '#/messages/localized-message.ts'
import { clientAddress, isFromUntrustedProxy } from './client-address.ts'

/** Anybody can send `X-Forwarded-For`, so only so many networks are kept, and told to the log. */
const maxKept = 16
const maxLogged = 4
/** Networks that the warning names. */
const maxNamed = 4
/** A network that sent none for so long is not warned of any more; in ms. */
const forgottenAfter = 3_600_000

/**
 * Notices reverse proxies that `TRUSTED_PROXIES` does not name: requests with forwarding headers from an address that is
 * not trusted. Everybody behind such a proxy has the proxy's address, in limits and in what users read about sessions.
 */
export class UntrustedProxies {
  readonly #log: Pick<Logger, 'warn'>
  readonly #now: () => number
  /** By network, the address that sent the last such request; the one that sent none for longest first. */
  readonly #seen = new Map<string, Sender>()
  #logged = 0

  /** @param now ms, monotonic; for tests */
  constructor(log: Pick<Logger, 'warn'>, now = () => performance.now()) {
    this.#log = log
    this.#now = now
  }

  /** Looks at one request. */
  note(request: IncomingMessage): void {
    if (!isFromUntrustedProxy(request)) return
    const address = clientAddress(request)
    if (address === '') return
    const network = networkOf(address)
    const isNew = !this.#seen.delete(network)
    this.#seen.set(network, { address, at: this.#now() })
    if (!isNew) return
    this.#evict()
    if (this.#logged >= maxLogged) return
    this.#logged++
    this.#log.warn(
      { address },
      'requests with forwarding headers (X-Forwarded-For, Forwarded, Via, X-Real-IP) come from an address that TRUSTED_PROXIES does not name; if it is your reverse proxy, add it there',
    )
  }

  /**
   * Of the last hour, for the system report. A setting to copy is given only for an address that no stranger on the
   * internet can have: whoever trusts a stranger's address lets them choose the address that they are limited by.
   */
  warnings(): LocalizedMessage[] {
    const since = this.#now() - forgottenAfter
    const recent = [...this.#seen.values()].filter(({ at }) => at >= since).map(({ address }) => address)
    const near = recent.filter(isPrivateNetwork)
    const named = [...near, ...recent.filter((address) => !near.includes(address))].slice(0, maxNamed)
    if (named.length === 0) return []
    const addresses = list('comma', named)
    const [first] = near
    if (first === undefined) return [message('findings.untrustedSender', { addresses })]
    return [message('findings.untrustedProxy', { addresses, first })]
  }

  /** Those nearby stay: a stranger with many addresses must not hide the operator's own proxy. */
  #evict(): void {
    if (this.#seen.size <= maxKept) return
    const seen = [...this.#seen]
    const [network] = seen.find(([, { address }]) => !isPrivateNetwork(address)) ?? seen[0] ?? ['']
    this.#seen.delete(network)
  }
}

interface Sender {
  readonly address: string
  readonly at: number
}
