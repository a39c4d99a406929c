import { ApiError } from '@berth/api/client.ts'

/** Between two checks, in ms. Timers stand still while the machine sleeps; the clock does not. */
const checkInterval = 30_000
/** After a failure, in ms. */
const retryInterval = 60_000

/** Parts of a browser's page. */
interface PageParts {
  readonly window: Pick<Window, 'addEventListener' | 'removeEventListener'>
  readonly document: Pick<Document, 'addEventListener' | 'removeEventListener' | 'visibilityState'>
  readonly now: () => number
}

/**
 * Renews the session before its token expires, while the user uses this page: at input, when the page becomes visible
 * or gets the focus, and by a timer if there was input since the last time. A page that is only open does not renew, so
 * that an unused session ends as the settings say. Only differences of this machine's clock count: it may be wrong.
 * @param lifetime of the current token in seconds
 * @returns ends it
 */
export function keepRenewed(
  lifetime: number,
  refresh: () => Promise<RefreshOutcome>,
  { window, document, now }: PageParts,
): () => void {
  let dueAt = now() + lifetime * 500
  let [isUsed, isRefreshing] = [false, false]
  const renewIfDue = async () => {
    if (isRefreshing || now() < dueAt) return
    isRefreshing = true
    const { lifetime: next } = await refresh()
    isRefreshing = false
    dueAt = now() + (next === undefined ? retryInterval : next * 500)
    isUsed = false
  }
  const onInput = () => {
    isUsed = true
    void renewIfDue()
  }
  const onVisible = () => document.visibilityState === 'visible' && onInput()
  const timer = setInterval(() => isUsed && document.visibilityState === 'visible' && renewIfDue(), checkInterval)
  for (const type of inputs) window.addEventListener(type, onInput, { passive: true, capture: true })
  window.addEventListener('focus', onInput)
  document.addEventListener('visibilitychange', onVisible)
  return () => {
    clearInterval(timer)
    for (const type of inputs) window.removeEventListener(type, onInput, { capture: true })
    window.removeEventListener('focus', onInput)
    document.removeEventListener('visibilitychange', onVisible)
  }
}

const inputs = ['pointerdown', 'keydown'] as const

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
  /**
   * Why it is not known whether the session goes on, such as no response; the request that needed the token fails with
   * it.
   */
  readonly failure?: unknown
}

/** The outcome of a refresh that threw: only a refusal says that there is no session. */
export function failedRefresh(error: unknown): RefreshOutcome {
  if (!(error instanceof ApiError) || error.status >= 500 || error.status === 429) return { failure: error }
  return { ended: error.status === 401 ? error.refusal : undefined }
}

/**
 * Single-flight refresh of the session of this browser: one at a time in this tab, and one tab after the other where
 * the browser has Web Locks. Tabs that refresh at once all the same get the same cookie from the server.
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
