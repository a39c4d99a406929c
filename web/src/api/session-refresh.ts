import { ApiError } from '@berth/api/client.ts'

/** Name of the lock that tabs of this browser share. */
const lockName = 'berth.session'
/** How long another tab may hold the lock, in ms. Pages of containers share it, so waiting for it has a limit. */
const lockTimeout = 3_000

/** Outcome of a refresh. */
export interface RefreshOutcome {
  /** Lifetime of the new token in seconds; undefined when there is none. */
  readonly lifetime?: number
  /** Name of the refusal that says why the session is over. */
  readonly ended?: string | undefined
  /** Why it is not known whether the session goes on, such as no response; the request that needed the token fails with it. */
  readonly failure?: unknown
}

/** The outcome of a refresh that threw: only a refusal says that there is no session. */
export function failedRefresh(error: unknown): RefreshOutcome {
  if (!(error instanceof ApiError) || error.status >= 500 || error.status === 429) return { failure: error }
  return { ended: error.status === 401 ? error.refusal : undefined }
}

/**
 * Single-flight refresh of the session of this browser: one at a time in this tab, and one tab after the other where the
 * browser has Web Locks. Tabs that refresh at once all the same get the same cookie from the server.
 */
export class SessionRefresh {
  readonly #send: () => Promise<RefreshOutcome>
  readonly #locks: Pick<LockManager, 'request'> | undefined
  #flight: Promise<RefreshOutcome> | undefined
  /** Why the last refresh failed, for the sign-in page. */
  ended: string | undefined

  /** @param send sends one refresh; never rejects */
  constructor(send: () => Promise<RefreshOutcome>, locks?: Pick<LockManager, 'request'>) {
    this.#send = send
    this.#locks = locks
  }

  /** Never rejects. */
  run(): Promise<RefreshOutcome> {
    this.#flight ??= this.#refresh().finally(() => (this.#flight = undefined))
    return this.#flight
  }

  async #refresh(): Promise<RefreshOutcome> {
    const outcome = await this.#inTurn()
    this.ended = outcome.ended
    return outcome
  }

  async #inTurn(): Promise<RefreshOutcome> {
    if (!this.#locks) return this.#send()
    const signal = AbortSignal.timeout(lockTimeout)
    try {
      return await this.#locks.request(lockName, { signal }, this.#send)
    } catch {
      return this.#send()
    }
  }
}
