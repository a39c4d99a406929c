import { isNetworkError } from '#/api/errors.ts'

/** ms before each further attempt: a network that changes is back within them, one that is down is not. */
const defaultDelays: readonly number[] = [300, 1_000, 2_000]

/**
 * Does what may be done twice, and again when no answer came, a few times: who walks from one network into another in the
 * very moment of a press has not failed at anything. Starting a container on the machine that shows the page is such a
 * change, and Chromium gives up what it was about to send (ERR_NETWORK_CHANGED).
 * @param work   is the same when it is done twice
 * @param signal ends the pauses @throws what the last attempt threw; `signal.reason` when it aborts meanwhile
 */
export async function withRetry<T>(work: () => Promise<T>, signal: AbortSignal, delays = defaultDelays): Promise<T> {
  for (const delay of delays) {
    try {
      return await work()
    } catch (error) {
      if (!isNetworkError(error)) throw error
    }
    await sleep(delay, signal)
  }
  return work()
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => (clearTimeout(timer), reject(signal.reason as Error)), { once: true })
  })
}
