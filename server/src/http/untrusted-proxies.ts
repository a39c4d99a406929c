import type { IncomingMessage } from 'node:http'
import type { Logger } from 'pino'
import { isPrivateNetwork, networkOf } from '@berth/gateway/basics/ip-address.ts'
import { list, message, type LocalizedMessage } from '@berth/texts/localized-message.ts'
import { clientAddress, isFromUntrustedProxy } from './request-headers.ts'

/** Max networks that are kept and logged: every client can send `X-Forwarded-For`. */
const maxKept = 16
const maxLogged = 4
/** Max networks that the warning names. */
const maxNamed = 4
/** Time after the last request of a network until its warning ends, in ms. */
const forgottenAfter = 3_600_000

/**
 * Detects reverse proxies that `TRUSTED_PROXIES` does not name: requests with forwarding headers from an address that
 * is not trusted. All clients behind such a proxy have the proxy's address, in limits and in what users read about
 * sessions.
 */
export class UntrustedProxies {
  readonly #log: Pick<Logger, 'warn'>
  readonly #now: () => number
  /** By network: the address of the last such request; the network with the oldest request first. */
  readonly #seen = new Map<string, Sender>()
  #logged = 0

  /** @param now ms, monotonic; for tests */
  constructor(log: Pick<Logger, 'warn'>, now = () => performance.now()) {
    this.#log = log
    this.#now = now
  }

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
   * Warnings of the last hour, for the system report. A setting to copy is suggested only for a private address: with a
   * public one in `TRUSTED_PROXIES` its client would choose the address that limits apply to.
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

  /** Private networks stay: a client with many addresses must not hide the operator's own proxy. */
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
