import { setTimeout as sleep } from 'node:timers/promises'
import { RuntimeError } from './runtime-error.ts'

/** How long an answer is waited for, and the pause between two attempts, in ms. */
const [retryTime, pause] = [20_000, 500]

/**
 * Reads again while the API server gives no answer, for 20 s: to one who waits for the start or the end of a pod, an answer that is late or the
 * refusal of an overloaded server says nothing about the pod.
 * @throws {RuntimeError} the last `unreachable` after that time, any other at once; the reason of the signal
 */
export async function readWithRetries<T>(read: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (const end = performance.now() + retryTime; ;) {
    try {
      return await read()
    } catch (error) {
      if (!(error instanceof RuntimeError) || error.kind !== 'unreachable' || performance.now() > end) throw error
    }
    await sleep(pause, undefined, { ...(signal && { signal }) }).catch(() => signal?.throwIfAborted())
  }
}
