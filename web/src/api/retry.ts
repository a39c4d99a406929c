import { abortableDelay } from '#/api/abortable-delay.ts'
import { isNetworkError } from '#/api/errors.ts'

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
