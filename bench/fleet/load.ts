import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import type { Seeded } from './seed.ts'
import { fleetType, slugOf } from './fake-engine/fleet.ts'

/** What people ask for. */
export type Request = 'list' | 'launch of what runs' | 'me' | 'page' | 'launch'

/** How long answers took, in ms, and which were no 200. */
export interface Answers {
  readonly times: ReadonlyMap<Request, readonly number[]>
  readonly refused: ReadonlyMap<string, number>
}

/** In ms: a request that takes longer counts as one that was not answered. */
const limit = 60_000
/** Connections to Berth; all come from one address. */
const connections = 64

/** People who use Berth while something happens to it. */
export class Load {
  readonly #pool: Pool
  readonly #seeded: Seeded
  #times = new Map<Request, number[]>()
  #refused = new Map<string, number>()

  constructor(url: string, seeded: Seeded) {
    this.#seeded = seeded
    this.#pool = new Pool(url, { connections, headersTimeout: limit, bodyTimeout: limit })
  }

  /** One request of the n-th person. Never throws; what was not 200 is counted. @returns whether it was */
  async ask(request: Request, person: number): Promise<boolean> {
    const authorization = `Bearer ${await this.#seeded.tokenOf(person)}`
    const { method, path } = targetOf(request, person)
    const began = performance.now()
    try {
      const { statusCode, body } = await this.#pool.request({ method, path, headers: { authorization } })
      const text = await body.text()
      if (statusCode !== 200) this.#refuse(`${request}: ${statusCode} ${text.slice(0, 100)}`)
      this.#timesOf(request).push(performance.now() - began)
      return statusCode === 200
    } catch (error) {
      this.#refuse(`${request}: ${(error as Error).message}`)
      return false
    }
  }

  /** The body of an answer to the administrator. @throws when it is no 200 */
  async askAdmin<T>(path: string): Promise<T> {
    const authorization = `Bearer ${await this.#seeded.tokenOf(1)}`
    const { statusCode, body } = await this.#pool.request({ method: 'GET', path, headers: { authorization } })
    if (statusCode !== 200) throw new Error(`${path} answered ${statusCode}: ${await body.text()}`)
    return (await body.json()) as T
  }

  /** Looks, lists and launches what runs, in turns and evenly, until the signal; waits for what is under way. */
  async browse(perSecond: number, signal: AbortSignal): Promise<void> {
    const requests: Request[] = ['list', 'me', 'launch of what runs', 'page']
    await this.evenly(perSecond, signal, (each) =>
      this.ask(requests[each % requests.length] ?? 'me', this.#someoneRunning(each)),
    )
  }

  /** Calls `work` so many times a second, however long it takes. */
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

  /** What was answered since this was called last. */
  take(): Answers {
    const answers = { times: this.#times, refused: this.#refused }
    this.#times = new Map()
    this.#refused = new Map()
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

  #refuse(why: string): void {
    this.#refused.set(why, (this.#refused.get(why) ?? 0) + 1)
  }
}

function targetOf(request: Request, person: number): { method: 'GET' | 'POST'; path: string } {
  if (request === 'list') return { method: 'GET', path: '/api/user/containers' }
  if (request === 'me') return { method: 'GET', path: '/api/user/me' }
  if (request === 'page') return { method: 'GET', path: `/${slugOf(person)}-${fleetType}/` }
  return { method: 'POST', path: `/api/container/launch/${fleetType}` }
}
