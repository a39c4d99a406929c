import { isNetworkError } from './errors.ts'

/** Delay before each further attempt in ms: a network change is over within them, an outage is not. */
const defaultDelays: readonly number[] = [300, 1_000, 2_000]

/**
 * Retries idempotent work a few times while there is no response. A device that moves from one network to another
 * during a request has not failed. Starting a container on the machine that shows the page is such a change, and
 * Chromium aborts what it was about to send (ERR_NETWORK_CHANGED).
 * @param work is idempotent
 * @param signal ends the delays @throws what the last attempt threw; `signal.reason` when it aborts meanwhile
 */
export async function withRetry<T>(work: () => Promise<T>, signal: AbortSignal, delays = defaultDelays): Promise<T> {
  for (const delay of delays) {
    try {
      return await work()
    } catch (error) {
      if (!isNetworkError(error)) throw error
    }
    await abortableDelay(delay, signal)
    signal.throwIfAborted()
  }
  return work()
}

/**
 * Resolves after `ms`, or when the signal aborts; soon, when it has aborted already. Leaves nothing on the signal,
 * which may last as long as the page.
 */
export const abortableDelay = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, signal.aborted ? 0 : ms)
    signal.addEventListener('abort', end)
  })

/**
 * Stands for `AbortSignal.any`, which Safari before 17.4 and Chrome before 116 do not have: every request failed there,
 * and the page said that there is no connection.
 */
export function anySignal(...signals: AbortSignal[]): AbortSignal {
  if ('any' in AbortSignal) return AbortSignal.any(signals)
  const either = new AbortController()
  for (const each of signals) {
    const abort = () => either.abort(each.reason)
    if (each.aborted) abort()
    each.addEventListener('abort', abort)
  }
  return either.signal
}
