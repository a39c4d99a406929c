import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import type { Seeded } from './seed.ts'
import { fleetType, slugOf } from './fake-engine/fleet.ts'

/** The requests of users. */
export type Request = 'list' | 'launch of what runs' | 'me' | 'page' | 'launch'

/** A response other than 200, or none. */
export interface Refused {
  readonly request: Request
  /** Status and beginning of the text, or the error. */
  readonly why: string
  /** When it was sent, by `performance.now()`. */
  readonly sentAt: number
}

/** Latencies in ms of what was answered, and what was refused. */
export interface Answers {
  readonly times: ReadonlyMap<Request, readonly number[]>
  readonly refused: readonly Refused[]
}

/** In ms: a slower request counts as unanswered. */
const limit = 60_000
/** Connections to Berth, all from one address. */
const connections = 64

/** Users who use Berth during a scenario. */
export class Load {
  readonly #pool: Pool
  readonly #seeded: Seeded
  #times = new Map<Request, number[]>()
  #refused: Refused[] = []

  constructor(url: string, seeded: Seeded) {
    this.#seeded = seeded
    this.#pool = new Pool(url, { connections, headersTimeout: limit, bodyTimeout: limit })
  }

  /** One request of the n-th user. Never throws; any status but 200 is counted. @returns whether it was 200 */
  async ask(request: Request, person: number): Promise<boolean> {
    const authorization = `Bearer ${await this.#seeded.tokenOf(person)}`
    const { method, path } = targetOf(request, person)
    const began = performance.now()
    const refuse = (why: string) => void this.#refused.push({ request, why, sentAt: began })
    try {
      const { statusCode, body } = await this.#pool.request({ method, path, headers: { authorization } })
      const text = await body.text()
      if (statusCode !== 200) refuse(`${statusCode} ${text.slice(0, 100)}`)
      this.#timesOf(request).push(performance.now() - began)
      return statusCode === 200
    } catch (error) {
      refuse((error as Error).message)
      return false
    }
  }

  /** The body of a response to the administrator. @throws when the status is not 200 */
  async askAdmin<T>(path: string): Promise<T> {
    const authorization = `Bearer ${await this.#seeded.tokenOf(1)}`
    const { statusCode, body } = await this.#pool.request({ method: 'GET', path, headers: { authorization } })
    if (statusCode !== 200) throw new Error(`${path} answered ${statusCode}: ${await body.text()}`)
    return (await body.json()) as T
  }

  /**
   * Requests pages, lists and launches of running containers evenly until the signal aborts; waits for requests under
   * way.
   */
  async browse(perSecond: number, signal: AbortSignal): Promise<void> {
    const requests: Request[] = ['list', 'me', 'launch of what runs', 'page']
    await this.evenly(perSecond, signal, (each) =>
      this.ask(requests[each % requests.length] ?? 'me', this.#someoneRunning(each)),
    )
  }

  /** Calls `work` this many times a second, however long it takes. */
  async evenly(perSecond: number, signal: AbortSignal, work: (each: number) => Promise<unknown>): Promise<void> {
    const [began, underWay] = [performance.now(), new Set<Promise<unknown>>()]
    for (let each = 0; !signal.aborted; each++) {
      const due = began + (each * 1_000) / perSecond - performance.now()
      if (due > 0) await sleep(due, undefined, { signal }).catch(() => undefined)
      if (signal.aborted) break
      const asked: Promise<unknown> = work(each).finally(() => underWay.delete(asked))
      underWay.add(asked)
    }
    await Promise.all(underWay)
  }

  /** The responses since the last call. */
  take(): Answers {
    const answers = { times: this.#times, refused: this.#refused }
    this.#times = new Map()
    this.#refused = []
    return answers
  }

  async close(): Promise<void> {
    await this.#pool.destroy()
  }

  /** Spread over all that run, so that no cache holds them. */
  #someoneRunning(each: number): number {
    return 1 + ((each * 7_919) % this.#seeded.size.running)
  }

  #timesOf(request: Request): number[] {
    const times = this.#times.get(request) ?? []
    this.#times.set(request, times)
    return times
  }
}

function targetOf(request: Request, person: number): { method: 'GET' | 'POST'; path: string } {
  if (request === 'list') return { method: 'GET', path: '/api/user/containers' }
  if (request === 'me') return { method: 'GET', path: '/api/user/me' }
  if (request === 'page') return { method: 'GET', path: `/${slugOf(person)}-${fleetType}/` }
  return { method: 'POST', path: `/api/container/launch/${fleetType}` }
}
