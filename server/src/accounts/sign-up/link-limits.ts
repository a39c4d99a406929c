import type { Logger } from 'pino'
import type { LinksLeft } from '@berth/api/links-left.ts'
import { networkOf } from '@berth/gateway/basics/ip-address.ts'
import { list, message, type LocalizedMessage } from '@berth/texts/localized-message.ts'
import { RecentCounts, setLatest } from '#/machine/recent-counts.ts'
import { Semaphore, SemaphoreFull, type SemaphoreLimits } from '#/machine/semaphore.ts'
import { refusals } from '#/refusals/errors.ts'
import type { Database, Tx } from '#/store/database.ts'
import { insertLinkRequest, linkRequestsSince, mailboxOf } from '#/store/magic-links.ts'
import { isAddress } from './email-address.ts'

const hour = 3_600_000

export interface LinkLimitSettings {
  /** Links of one address in a sliding hour. */
  readonly magicLinksPerHour: number
  /** Links of one mailbox in a sliding hour, whatever the plus tag of the address. */
  readonly mailboxLinksPerHour: number
}

/** A counted request of an address; its link is issued next. */
export interface Reservation {
  readonly requestId: number
  /** By `performance.now()`. */
  readonly begun: number
}

/** Name of the lock that is held while a link for an address of the mailbox is issued. */
export const linkLock = (mailbox: string) => `links:${mailbox}`

/** Rate limit of links per hour. Source: specification, Limits; the mailbox's limit is ours. */
export class LinkLimits {
  readonly #database: Pick<Database, 'lock'>
  readonly #settings: LinkLimitSettings

  constructor(database: Pick<Database, 'lock'>, settings: LinkLimitSettings) {
    this.#database = database
    this.#settings = settings
  }

  /**
   * Counts a request of the address in the current hour; call it in the transaction that issues the link. It holds the
   * mailbox's lock, so that concurrent requests cannot exceed the limit.
   * @throws {Refusal} 429 with `Retry-After` when the limit is reached
   */
  async reserve(tx: Tx, email: string, now: Date): Promise<Reservation> {
    const begun = performance.now()
    const mailbox = mailboxOf(email)
    await this.#database.lock(tx, linkLock(mailbox))
    const since = new Date(now.getTime() - hour)
    const { magicLinksPerHour, mailboxLinksPerHour } = this.#settings
    refuseWhenFull(magicLinksPerHour, await linkRequestsSince(tx, email, since), now)
    refuseWhenFull(mailboxLinksPerHour, await linkRequestsSince(tx, mailbox, since, 'mailbox'), now)
    return { requestId: await insertLinkRequest(tx, email, now), begun }
  }
}

/** @param earlier within the last hour, oldest first */
function refuseWhenFull(perHour: number, earlier: readonly Date[], now: Date): void {
  const oldestCounting = earlier[earlier.length - perHour]
  if (!oldestCounting) return
  const wait = oldestCounting.getTime() + hour - now.getTime()
  throw refusals.tooManyLinks(perHour, Math.max(1, Math.ceil(wait / 1000)))
}

/**
 * Number of further links that an answer may report for its address. Computed from the requests of the last hour alone
 * (enumeration guard): a number from the store would tell which addresses have an account, and without
 * `ENUMERATION_STRICT` unknown ones are not even counted there. It is right for a user's own requests, and too high
 * after a restart, after more requests than are remembered, or when an administrator had a link mailed; the limit
 * itself is `LinkLimits`.
 */
export class LinksLeftCount {
  /** By the clock of the request, as the limit itself. */
  #now = 0
  readonly #asked: RecentCounts<string>

  /** @param maxRemembered requests, for tests */
  constructor({ magicLinksPerHour: max }: Pick<LinkLimitSettings, 'magicLinksPerHour'>, maxRemembered?: number) {
    const limits = { window: hour, max, ...(maxRemembered !== undefined && { maxRemembered }) }
    this.#asked = new RecentCounts(limits, () => this.#now)
  }

  /**
   * Counts a request that was answered as if a link had been mailed.
   * @param email lower-cased @returns the number left after it; undefined for a text that cannot be an address
   */
  count(email: string, now: Date): LinksLeft | undefined {
    if (!isAddress(email)) return undefined
    this.#now = now.getTime()
    // A request beyond the limit does not count, as with the limit itself: it does not delay the next link.
    const { left, reset } = this.#asked.add(email)
    return { left, reset: Math.max(1, Math.ceil(reset / 1_000)) }
  }
}

/** ms */
const window = 3_600_000
/** The total limit is so many times that of one network address. */
const totalFactor = 5
/** Max network addresses that a warning names, and that are logged in one window. */
const maxNamedNetworks = 4

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
    const addresses = list('comma', networks.slice(-maxNamedNetworks))
    return [message('findings.manyNewAddresses', { addresses, limit: String(this.#perHour) })]
  }

  #refuse(network: string): false {
    setLatest(this.#refused, network, this.#now(), maxNamedNetworks)
    if (this.#logged.size >= maxNamedNetworks || this.#logged.has(network)) return false
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

/**
 * Parallel transactions of requests for links: fewer than the connections to PostgreSQL, so that all other queries find
 * one, however many users sign up at once. The timeout is in ms: with the 10 s that a mail may take, a request waits
 * for 25 s at most, which is less than pages (30 s) and proxies (60 s) wait. With 5 s, 318 of 500 users of a class who
 * signed up at once on two busy cores were told to try again.
 */
const defaultTransactionLimits: SemaphoreLimits = { max: 3, maxWaiting: 2_000, timeout: 15_000 }

/**
 * The same store with bounded concurrency (semaphore): its transactions wait in a queue of their own.
 * @returns a store whose `transaction` also throws {Refusal} 503 when the queue is full, or after the timeout
 */
export function withTransactionLimit(database: Database, limits: SemaphoreLimits = defaultTransactionLimits): Database {
  const semaphore = new Semaphore(limits)
  return {
    ...database,
    transaction: async (work) => {
      try {
        return await semaphore.run(() => database.transaction(work))
      } catch (error) {
        throw error instanceof SemaphoreFull ? refusals.tooManySignIns(error) : error
      }
    },
  }
}
