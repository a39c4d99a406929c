import { createHmac, randomBytes, timingSafeEqual, type KeyObject } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Endpoint } from '@berth/api/endpoints.ts'
import { networkOf } from '@berth/gateway/basics/ip-address.ts'
import { cookieValues } from '@berth/gateway/tokens/cookie-values.ts'
import type { CookieSettings } from '@berth/gateway/tokens/token-selection.ts'
import { setLatest } from '#/machine/recent-counts.ts'
import { KeyedLimit } from '#/machine/semaphore.ts'
import { refusals } from '#/refusals/errors.ts'

/** ms */
const window = 60_000
/**
 * Max clients, each for one kind, and pairs of client and mailbox, that are counted; above it the least recently used
 * (LRU) are dropped.
 */
const [maxClients, maxPairs] = [40_000, 20_000]
/** Max characters of a mailbox that is counted: a mail address has at most 254. */
const maxMailbox = 254

/** The client of a request. */
export interface RateLimitedClient {
  readonly address: string
  /** Id of a browser in which a user signed in before; see `DeviceCookies`. */
  readonly device?: string | undefined
}

/** Requests of one client and kind within a minute. */
interface Count {
  readonly began: number
  requests: number
}

/** Requests of one client for one mailbox, within the minute of that client. */
interface PairCount {
  readonly within: Count
  requests: number
}

/**
 * Rate limiter of requests that need no account, in windows of a minute: of one network address for each kind of
 * request, and of one client for one mailbox. A browser in which a user signed in before has a limit of its own, and
 * shares that of its address only above it. A successful sign-in refunds its requests, so that a class behind one
 * address can sign in at once, while repeated attempts at one mailbox, or unsuccessful ones at many, reach the limit.
 * Known and unknown mail addresses are counted alike.
 */
export class RateLimiter {
  readonly #perMinute: number
  readonly #perMailbox: number
  readonly #now: () => number
  readonly #clients = new Map<string, Count>()
  readonly #pairs = new Map<string, PairCount>()

  /** @param perMinute of one address and kind; 0 is no limit @param now ms, monotonic; for tests */
  constructor(perMinute: number, now = () => performance.now()) {
    this.#perMinute = perMinute
    this.#perMailbox = perMailbox(perMinute)
    this.#now = now
  }

  /**
   * Counts a request. Not for links: a valid one always counts, so `countFailure` counts the others.
   * @throws {Refusal} 429 with `Retry-After`; a refused request is not counted
   */
  count(client: RateLimitedClient, kind: RateLimitedKind): void {
    if (this.#perMinute === 0 || kind === 'link') return
    const own = client.device === undefined ? undefined : this.#countOf(deviceKey(client.device, kind))
    if (own && own.requests < this.#perMailbox) own.requests++
    else this.#charge(this.#countOf(addressKey(client, kind)), this.#perMinute)
  }

  /**
   * Counts a link that was refused, up to twice the limit of requests for links.
   * @throws {Refusal} 429 with `Retry-After`
   */
  countFailure(client: RateLimitedClient): void {
    if (this.#perMinute > 0) this.#charge(this.#countOf(addressKey(client, 'link')), this.#perMinute * 2)
  }

  #charge(count: Count, limit: number): void {
    if (count.requests >= limit) throw refusals.tooManyRequests(this.#perMinute, this.#secondsLeft(count))
    count.requests++
  }

  /**
   * Counts a request, which `count` has counted, for the mailbox that it names. @throws {Refusal} 429; then it does not
   * count for the client either, so that one client does not use up the limit of others behind the same address
   */
  countMailbox(client: RateLimitedClient, mailbox: string): void {
    if (this.#perMinute === 0 || mailbox.length > maxMailbox) return
    const key = clientKey(client, 'mail')
    const within = this.#countOf(key)
    const pair = this.#pairOf(`${key} ${mailbox}`, within)
    if (pair.requests >= this.#perMailbox) {
      within.requests = Math.max(0, within.requests - 1)
      throw refusals.tooManyForMailbox(this.#perMailbox, this.#secondsLeft(within))
    }
    pair.requests++
  }

  /** A sign-in with a link of this mailbox succeeded: the client's requests for it do not count any more. */
  refund(client: RateLimitedClient, mailbox: string): void {
    for (const key of [clientKey(client, 'mail'), addressKey(client, 'mail')]) {
      const within = this.#clients.get(key)
      const pair = this.#pairs.get(`${key} ${mailbox}`)
      if (within && pair?.within === within) within.requests = Math.max(0, within.requests - pair.requests)
      this.#pairs.delete(`${key} ${mailbox}`)
    }
  }

  /** So many requests of the client do not count after all: a user signed in by them. */
  refundRequests(client: RateLimitedClient, kind: RateLimitedKind, requests: number): void {
    const within = this.#clients.get(clientKey(client, kind))
    if (within) within.requests = Math.max(0, within.requests - requests)
  }

  #countOf(key: string): Count {
    const known = this.#clients.get(key)
    const isOver = !known || this.#now() - known.began >= window
    const count = isOver ? { began: this.#now(), requests: 0 } : known
    setLatest(this.#clients, key, count, maxClients)
    return count
  }

  #pairOf(key: string, within: Count): PairCount {
    const known = this.#pairs.get(key)
    const count = known?.within === within ? known : { within, requests: 0 }
    setLatest(this.#pairs, key, count, maxPairs)
    return count
  }

  #secondsLeft({ began }: Count): number {
    return Math.ceil((began + window - this.#now()) / 1_000)
  }
}

/** A user needs two or three; the rest is for several users of one mailbox, and for retries. */
const perMailbox = (perMinute: number) => Math.min(perMinute, Math.max(5, Math.ceil(perMinute / 60)))

const addressKey = ({ address }: RateLimitedClient, kind: RateLimitedKind) => `${kind} ${networkOf(address)}`

const deviceKey = (device: string, kind: RateLimitedKind) => `${kind} device ${device}`

const clientKey = (client: RateLimitedClient, kind: RateLimitedKind) =>
  client.device === undefined ? addressKey(client, kind) : deviceKey(client.device, kind)

/**
 * Whether the endpoint needs no account and concerns accounts or mailed links: an attacker would try many addresses or
 * links with it.
 */
export const isRateLimited = ({ access, path }: Endpoint) =>
  access === 'public' && (path.startsWith('/api/auth/') || path.startsWith('/api/archives'))

/** What a request asks for. Each kind has its own limit, so that one that is used up leaves the others. */
type RateLimitedKind = 'mail' | 'link' | 'provider' | 'session'

const sessionPaths: ReadonlySet<string> = new Set(['/api/auth/refresh', '/api/auth/continue', '/api/auth/enter'])

/** The kind of a rate-limited endpoint; `mail` requests a link, `link` uses one up. */
export function kindOf({ path }: Endpoint): RateLimitedKind {
  if (path.startsWith('/api/auth/verify-') || path.startsWith('/api/archives')) return 'link'
  if (path.startsWith('/api/auth/oidc/') || path === '/api/auth/providers') return 'provider'
  return sessionPaths.has(path) ? 'session' : 'mail'
}

/** Name of the cookie; also a sign-out leaves it. */
const deviceCookie = 'berth_device'
/** In seconds: half a year. */
const deviceCookieLifetime = 15_552_000
/** Id, and HMAC of it. */
const deviceCookieForm = /^([\w-]{22})\.([\w-]{43})$/

/**
 * Device cookie: proves that a user signed in by this browser before. Such a browser has its own rate limit, so that a
 * another client behind the same network address does not use it up. It signs no user in, names none, and is sent to
 * the endpoints of sign-in alone. Source: OWASP, "Slow Down Online Guessing Attacks with Device Cookies".
 */
export class DeviceCookies {
  readonly #key: KeyObject
  readonly #isSecure: boolean

  constructor(key: KeyObject, { isSecure }: Pick<CookieSettings, 'isSecure'>) {
    this.#key = key
    this.#isSecure = isSecure
  }

  /** Id of the browser; undefined without a cookie of ours, and when a page has added a second one. */
  idOf({ cookie }: IncomingHttpHeaders): string | undefined {
    const [value = '', ...more] = new Set(cookieValues(cookie, deviceCookie))
    const [, id = '', mac = ''] = deviceCookieForm.exec(value) ?? []
    if (id === '' || more.length > 0) return undefined
    return timingSafeEqual(Buffer.from(mac), Buffer.from(this.#macOf(id))) ? id : undefined
  }

  /** The `Set-Cookie` line of a browser in which a user signs in; a known browser keeps its id for as long again. */
  lineFor(headers: IncomingHttpHeaders): string {
    const id = this.idOf(headers) ?? randomBytes(16).toString('base64url')
    const secure = this.#isSecure ? '; Secure' : ''
    return `${deviceCookie}=${id}.${this.#macOf(id)}; Path=/api/auth; Max-Age=${deviceCookieLifetime}; HttpOnly; SameSite=Lax${secure}`
  }

  #macOf(id: string): string {
    return createHmac('sha256', this.#key).update(id).digest('base64url')
  }
}

/**
 * Load shedding: requests of one client above it are refused. Far above what pages need (a browser has six connections
 * to a host) and what a script for a class requests at once.
 */
export const maxAtOnce = 100

/**
 * Limits the requests in progress of one account, so that one account cannot occupy the process that serves all others.
 * Streams count until they are open; after that `StreamRegistry` limits them.
 */
export class ConcurrencyLimit {
  readonly #requests = new KeyedLimit<number>({ ofKey: maxAtOnce })

  /** Counts a request. @returns ends it @throws {Refusal} 429 with `Retry-After` */
  enter(userId: number): () => void {
    const leave = this.#requests.enter(userId)
    if (!leave) throw refusals.tooManyAtOnce(maxAtOnce)
    return leave
  }
}
