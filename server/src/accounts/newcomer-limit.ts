import type { Logger } from 'pino'
import { networkOf } from '#/address-network.ts'
import { list, message, type Message } from '#/messages/message.ts'

/** ms */
const window = 3_600_000
/** The limit in all is so many times that of one network address. */
const networksInAll = 5
/** Network addresses that a warning names, and that are logged in one window. */
const maxNamed = 4

/**
 * Limits how many addresses without an account one network address (of IPv6: one /64) may have a link mailed to within an
 * hour, and all together five times as many: nothing else keeps a stranger from mailing hundreds of strangers a minute and
 * making as many accounts. In memory, in windows of an hour; what is kept is bounded by the limit in all.
 */
export class NewcomerLimit {
  readonly #perHour: number
  readonly #log: Pick<Logger, 'warn'>
  readonly #now: () => number
  readonly #admitted = new Map<string, number>()
  #inAll = 0
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
  admit(address: string): boolean {
    this.#renew()
    const network = networkOf(address)
    const admitted = this.#admitted.get(network) ?? 0
    if (admitted >= this.#perHour || this.#inAll >= this.#perHour * networksInAll) return this.#refuse(network)
    this.#admitted.set(network, admitted + 1)
    this.#inAll++
    return true
  }

  /** Takes one out of the count again: its mail was not accepted, and there is no account. */
  giveBack(address: string): void {
    const network = networkOf(address)
    const admitted = this.#admitted.get(network)
    // An hour began meanwhile.
    if (admitted === undefined) return
    if (admitted === 1) this.#admitted.delete(network)
    else this.#admitted.set(network, admitted - 1)
    this.#inAll--
  }

  /** For the system report: who reached the limit within the last hour. */
  warnings(): Message[] {
    const since = this.#now() - window
    const networks = [...this.#refused].flatMap(([network, at]) => (at >= since ? [network] : []))
    if (networks.length === 0) return []
    const addresses = list('comma', networks.slice(-maxNamed))
    return [message('findings.manyNewcomers', { addresses, limit: String(this.#perHour) })]
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
    this.#admitted.clear()
    this.#inAll = 0
    this.#logged = new Set()
  }
}
