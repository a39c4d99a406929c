import type { Logger } from 'pino'
import { networkOf } from '@berth/gateway/basics/ip-address.ts'
import { list, message, type LocalizedMessage } from '@berth/texts/localized-message.ts'

/** ms */
const window = 3_600_000
/** The total limit is so many times that of one network address. */
const totalFactor = 5
/** Max network addresses that a warning names, and that are logged in one window. */
const maxNamed = 4

/**
 * Rate limit of links to unknown addresses: per network address (of IPv6: one /64) and hour, and five times as many in
 * total. Nothing else keeps a client from mailing hundreds of addresses a minute and creating as many accounts. In
 * memory, in windows of an hour; bounded by the total limit.
 */
export class NewAddressLimit {
  readonly #perHour: number
  readonly #log: Pick<Logger, 'warn'>
  readonly #now: () => number
  readonly #counts = new Map<string, number>()
  #total = 0
  #began: number
  /** When each network address was refused last, in this window or the one before; the oldest first. */
  readonly #refused = new Map<string, number>()
  #logged = new Set<string>()

  /** @param perHour of one network address @param now ms, monotonic; for tests */
  constructor(perHour: number, log: Pick<Logger, 'warn'>, now = () => performance.now()) {
    this.#perHour = perHour
    this.#log = log
    this.#now = now
    this.#began = now()
  }

  /** Counts one more new address. @returns false when the limit is reached; then it does not count */
  tryAcquire(address: string): boolean {
    this.#renew()
    const network = networkOf(address)
    const count = this.#counts.get(network) ?? 0
    if (count >= this.#perHour || this.#total >= this.#perHour * totalFactor) return this.#refuse(network)
    this.#counts.set(network, count + 1)
    this.#total++
    return true
  }

  /** Undoes `tryAcquire`: the mail was not accepted, and there is no account. */
  release(address: string): void {
    const network = networkOf(address)
    const count = this.#counts.get(network)
    // A new window began meanwhile.
    if (count === undefined) return
    if (count === 1) this.#counts.delete(network)
    else this.#counts.set(network, count - 1)
    this.#total--
  }

  /** For the system report: network addresses that reached the limit within the last hour. */
  warnings(): LocalizedMessage[] {
    const since = this.#now() - window
    const networks = [...this.#refused].flatMap(([network, at]) => (at >= since ? [network] : []))
    if (networks.length === 0) return []
    const addresses = list('comma', networks.slice(-maxNamed))
    return [message('findings.manyNewAddresses', { addresses, limit: String(this.#perHour) })]
  }

  #refuse(network: string): false {
    this.#refused.delete(network)
    this.#refused.set(network, this.#now())
    const [oldest] = this.#refused.size > maxNamed ? this.#refused.keys() : []
    if (oldest !== undefined) this.#refused.delete(oldest)
    if (this.#logged.size >= maxNamed || this.#logged.has(network)) return false
    this.#logged.add(network)
    this.#log.warn(
      { network, limit: this.#perHour },
      'more addresses without an account asked for a link within an hour than NEW_ADDRESSES_PER_HOUR allows: they are answered as usual and get no mail',
    )
    return false
  }

  #renew(): void {
    if (this.#now() - this.#began < window) return
    this.#began = this.#now()
    this.#counts.clear()
    this.#total = 0
    this.#logged = new Set()
  }
}
