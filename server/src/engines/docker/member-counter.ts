import { callTimeouts, type EngineClient } from './engine-client.ts'
import { withHealthCheck } from './with-health-check.ts'
import { withSignal } from '#/engines/transport/with-signal.ts'
import { labelFilter } from './labels.ts'
import type { MemberCount, NetworkMembers } from './network-members.ts'

/**
 * How long `refresh` waits for the engine's list of containers, in ms; a container creation may wait for that. The first
 * refresh is part of the start of Berth, so it waits less.
 */
const [countTimeout, firstCountTimeout] = [2_500, 400]
/** A list of all containers stays fresh for this multiple of the time that it took, and for at least so many ms. */
const [freshFactor, minFresh] = [35, 1_000]

interface Member {
  readonly Id: string
  readonly HostConfig?: { readonly NetworkMode?: string }
}

/** Counts the containers of each network: from each list of all containers, and by a request of its own when there was none. */
export class MemberCounter {
  readonly #client: EngineClient
  readonly #installation: string
  readonly #members: NetworkMembers
  /** When a list of all containers counted them last, by `performance.now()`, and how long it took in ms. */
  #listed: { readonly at: number; readonly took: number } | undefined
  #counting: Promise<void> | undefined
  /** A list of all containers that is under way and counts them. */
  #listing: Promise<void> | undefined
  #isCounted = false

  constructor(client: EngineClient, installation: string, members: NetworkMembers) {
    this.#client = client
    this.#installation = installation
    this.#members = members
  }

  /** Whether they were counted since the start. */
  get isCounted(): boolean {
    return this.#isCounted
  }

  /** Counts with a list of all containers that is requested now; `abort` is called at its end in any case. */
  beginListing(): MemberCount {
    const [began, count] = [performance.now(), this.#members.beginCount()]
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#listing = promise
    return {
      ...count,
      end: () => {
        count.end()
        this.#listed = { at: performance.now(), took: performance.now() - began }
        this.#isCounted = true
      },
      abort: () => {
        count.abort()
        if (this.#listing === promise) this.#listing = undefined
        resolve()
      },
    }
  }

  /** Counts anew unless the last list is still fresh. When the engine takes longer or fails, the counts stay as they were. */
  async refresh(): Promise<void> {
    const age = this.#listed && performance.now() - this.#listed.at
    if (this.#listed && age !== undefined && age < Math.max(minFresh, this.#listed.took * freshFactor)) return
    const count = () => this.#listing ?? this.#countMembers()
    this.#counting ??= count().finally(() => (this.#counting = undefined))
    const timeout = this.#isCounted ? countTimeout : firstCountTimeout
    // Whether the engine answers at all is seen by the request for networks.
    await withSignal(this.#counting, AbortSignal.timeout(timeout)).catch(() => undefined)
  }

  async #countMembers(): Promise<void> {
    const count = this.#members.beginCount()
    const query = { all: 'true', filters: JSON.stringify({ label: labelFilter(this.#installation) }) }
    const call = {
      what: 'count the containers of each network',
      method: 'GET',
      path: '/containers/json',
      query,
    } as const
    try {
      const take = (items: readonly Member[]) => {
        for (const { Id, HostConfig } of items) count.add(Id, HostConfig?.NetworkMode ?? '')
      }
      await withHealthCheck(this.#client, (signal) =>
        this.#client.each<Member>({ ...call, timeout: callTimeouts.list, signal }, take),
      )
      count.end()
      this.#isCounted = true
    } finally {
      count.abort()
    }
  }
}
