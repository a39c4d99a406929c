import { createHash } from 'node:crypto'
import type { Snapshot } from './world/store-view.ts'

/** Something that an answer 200 said is so from now on. */
interface Promised {
  readonly words: string
  readonly holds: (stored: Snapshot) => boolean
}

/**
 * What Berth has promised to the people of a run. An operation takes back what it is about to change before it asks (from
 * then on it is unknown), and writes down what it was promised when the answer is 200.
 */
export class Ledger {
  readonly #promises = new Map<string, Promised>()
  /** Access tokens that each link was exchanged for. */
  readonly #exchanged = new Map<string, number>()
  /** Everything that must not be in a log: tokens of links, and access tokens. */
  readonly secrets = new Set<string>()
  /** Access tokens whose owners signed out. */
  readonly revoked = new Set<string>()
  /** Access tokens of people who were deleted. */
  readonly orphaned = new Set<string>()
  /** Links whose request was answered with 500: void, should they arrive all the same. */
  readonly withdrawn = new Set<string>()
  /** Answers 200 to requests for a link, by address. */
  readonly granted = new Map<string, number>()
  /** Requests for a link that have begun, and of these those under way, by address. */
  readonly #linkRequests = new Map<string, { begun: number; underWay: number }>()
  /** Starts of a user's container of the class: how many have begun, and of these those under way, by address. */
  readonly #starts = new Map<string, { begun: number; underWay: number }>()
  /** Users whose container of the class was stopped, and not started since, by address. */
  readonly #stopped = new Map<string, number>()
  /** Whether the class is over, as far as was answered. */
  isGroupOver = false
  readonly #found: string[] = []
  promisesMade = 0

  /** @param key what it is about, e.g. `block of container 7`; a later promise about the same takes its place */
  promise(key: string, words: string, holds: Promised['holds']): void {
    this.promisesMade++
    this.#promises.set(key, { words, holds })
  }

  /** These are unknown from now on. @param keys as given to `promise` */
  unsure(...keys: string[]): void {
    for (const key of keys) this.#promises.delete(key)
  }

  /** Forgets what is about a user or container that is gone. */
  unsureAbout(isAbout: (key: string) => boolean): void {
    for (const key of this.#promises.keys()) if (isAbout(key)) this.#promises.delete(key)
  }

  /**
   * A request for a link begins.
   * @returns what to call at its end; whether it was the only one for this address: of two at once none knows which of them
   *   a mail belongs to
   */
  linkRequest(email: string): () => boolean {
    const requests = this.#linkRequests.get(email) ?? { begun: 0, underWay: 0 }
    this.#linkRequests.set(email, requests)
    const isFirst = requests.underWay === 0
    const number = ++requests.begun
    requests.underWay++
    return () => {
      requests.underWay--
      return isFirst && requests.begun === number
    }
  }

  /** A start of the container of the class begins: it may run from now on. @returns what to call at its end */
  startBegins(email: string): () => void {
    const starts = this.#starts.get(email) ?? { begun: 0, underWay: 0 }
    this.#starts.set(email, starts)
    this.#stopped.delete(email)
    starts.begun++
    starts.underWay++
    return () => void starts.underWay--
  }

  /** How many starts have begun; undefined while one is under way. */
  startsOf(email: string): number | undefined {
    const { begun, underWay } = this.#starts.get(email) ?? { begun: 0, underWay: 0 }
    return underWay > 0 ? undefined : begun
  }

  /** The container of the class of this user was stopped, and runs no more until it is started. */
  stopped(email: string, userId: number): void {
    this.promisesMade++
    this.#stopped.set(email, userId)
  }

  /** Ids of users whose container of the class does not run. */
  get stoppedUsers(): ReadonlySet<number> {
    return new Set(this.#stopped.values())
  }

  /** A link was exchanged for a token. */
  exchanged(link: string, accessToken: string): void {
    this.secrets.add(accessToken)
    const times = (this.#exchanged.get(link) ?? 0) + 1
    this.#exchanged.set(link, times)
    if (times > 1) this.#found.push(`a link was exchanged for ${times} access tokens`)
    if (this.withdrawn.has(link))
      this.#found.push('a link whose request was answered with 500 was exchanged for a token')
  }

  /** Something that is wrong by itself, seen in passing. */
  complain(words: string): void {
    this.#found.push(words)
  }

  /** What was complained about since the last time. */
  takeComplaints(): string[] {
    return this.#found.splice(0)
  }

  /** Promises that the store does not keep. */
  broken(stored: Snapshot): string[] {
    return [...this.#promises].flatMap(([key, { words, holds }]) => (holds(stored) ? [] : [`${key}: ${words}`]))
  }
}

export const hashOf = (token: string) => createHash('sha256').update(token).digest('hex')
