import { normalizeIP } from '@fastify/rate-limit'
import type { Endpoint } from '@berth/api/endpoints.ts'
import { refusals } from '#/errors.ts'

/** ms */
const window = 60_000
/**
 * Max network addresses, and pairs of address and mailbox, that are counted; above it the least recently used are
 * dropped.
 */
const [maxAddresses, maxPairs] = [10_000, 20_000]
/** Max characters of a mailbox that is counted: a mail address has at most 254. */
const maxMailbox = 254

/**
 * Whether the endpoint needs no account and concerns accounts: an attacker would try many addresses or links with it.
 */
export const isRateLimited = ({ access, path }: Endpoint) => access === 'public' && path.startsWith('/api/auth/')

/** Whether it uses up a link, or the code of a provider: its request was counted before. */
export const usesLink = ({ path }: Endpoint) => path.startsWith('/api/auth/verify-') || path.endsWith('/callback')

/** Requests of one network address within a minute. */
interface Count {
  readonly began: number
  requests: number
}

/** Requests of one network address for one mailbox, within the minute of that address. */
interface PairCount {
  readonly within: Count
  requests: number
}

/**
 * Rate limiter of requests that need no account, in windows of a minute: of one network address in all, and of one
 * network address for one mailbox. A successful sign-in refunds its requests, so that a class behind one address can
 * sign in at once, while repeated attempts at one mailbox, or unsuccessful ones at many, reach the limit. Known and
 * unknown mail addresses are counted alike.
 */
export class RateLimiter {
  readonly #perMinute: number
  readonly #perMailbox: number
  readonly #now: () => number
  readonly #addresses = new Map<string, Count>()
  readonly #pairs = new Map<string, PairCount>()

  /** @param perMinute of one address; 0 is no limit @param now ms, monotonic; for tests */
  constructor(perMinute: number, now = () => performance.now()) {
    this.#perMinute = perMinute
    this.#perMailbox = perMailbox(perMinute)
    this.#now = now
  }

  /**
   * Counts a request of the address.
   * @param isLink it uses up a link; allowed until twice the limit, because a class that has used up its minute by
   * requesting links must be able to use them
   * @throws {Refusal} 429 with `Retry-After`; a refused request is not counted
   */
  count(address: string, isLink = false): void {
    if (this.#perMinute === 0) return
    const count = this.#countOf(network(address))
    if (count.requests >= this.#perMinute * (isLink ? 2 : 1))
      throw refusals.tooManyRequests(this.#perMinute, this.#secondsLeft(count))
    count.requests++
  }

  /**
   * Counts a request, which `count` has counted, for the mailbox that it names. @throws {Refusal} 429; then it does not
   * count for the address either, so that one client does not use up the limit of others behind the same address
   */
  countMailbox(address: string, mailbox: string): void {
    if (this.#perMinute === 0 || mailbox.length > maxMailbox) return
    const within = this.#countOf(network(address))
    const pair = this.#pairOf(`${network(address)} ${mailbox}`, within)
    if (pair.requests >= this.#perMailbox) {
      within.requests--
      throw refusals.tooManyForMailbox(this.#perMailbox, this.#secondsLeft(within))
    }
    pair.requests++
  }

  /** A sign-in from the address with a link of this mailbox succeeded: its requests do not count any more. */
  refund(address: string, mailbox: string): void {
    const within = this.#addresses.get(network(address))
    if (!within) return
    const key = `${network(address)} ${mailbox}`
    const pair = this.#pairs.get(key)
    const asked = pair?.within === within ? pair.requests : 0
    within.requests = Math.max(0, within.requests - asked - 1)
    this.#pairs.delete(key)
  }

  /** So many requests of the address do not count after all: somebody signed in by them without a mailbox being named. */
  refundRequests(address: string, requests: number): void {
    const within = this.#addresses.get(network(address))
    if (within) within.requests = Math.max(0, within.requests - requests)
  }

  #countOf(key: string): Count {
    const known = this.#addresses.get(key)
    const isOver = !known || this.#now() - known.began >= window
    return renew(this.#addresses, key, isOver ? { began: this.#now(), requests: 0 } : known, maxAddresses)
  }

  #pairOf(key: string, within: Count): PairCount {
    const known = this.#pairs.get(key)
    return renew(this.#pairs, key, known?.within === within ? known : { within, requests: 0 }, maxPairs)
  }

  #secondsLeft({ began }: Count): number {
    return Math.ceil((began + window - this.#now()) / 1_000)
  }
}

/** A user needs two or three; the rest is for several users of one mailbox, and for retries. */
const perMailbox = (perMinute: number) => Math.min(perMinute, Math.max(5, Math.ceil(perMinute / 60)))

/** A customer with one IPv6 address has 2^64 of them. */
const network = (address: string) => (address === '' ? '' : normalizeIP(address, 64))

/** Moves the entry to the end, and drops the first while there are too many. */
function renew<T>(map: Map<string, T>, key: string, entry: T, max: number): T {
  map.delete(key)
  map.set(key, entry)
  const [oldest] = map.size > max ? map.keys() : []
  if (oldest !== undefined) map.delete(oldest)
  return entry
}
