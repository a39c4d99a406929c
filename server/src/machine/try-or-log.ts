import { addAbortListener } from 'node:events'
import type { Logger } from 'pino'

/**
 * For failures that the specification wants "logged and ignored".
 * @returns the result of the work, or undefined when it failed
 */
export async function tryOrLog<T>(
  log: Pick<Logger, 'warn'>,
  what: string,
  work: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    log.warn({ err: error }, `${what} failed; going on without it`)
    return undefined
  }
}

/**
 * Timeout: waits for work at most so long. Work that takes longer continues; its own caller handles a later failure.
 * @returns the result, or undefined when the timeout (ms) came first
 */
export async function withTimeout<T>(limit: number, work: Promise<T>): Promise<T | undefined> {
  const timeout = Promise.withResolvers<undefined>()
  using _ = setTimeout(timeout.resolve, limit, undefined)
  return await Promise.race([work, timeout.promise])
}

/**
 * `Promise.all` that waits for all: it settles when all of the work has, also when some of it failed. For work with
 * effects, after which the caller uses the same object.
 * @throws the error of the first in the list that failed
 */
export async function allSettledOrThrow<T extends readonly unknown[]>(work: {
  readonly [K in keyof T]: Promise<T[K]>
}): Promise<T> {
  const outcomes = await Promise.allSettled(work)
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
  return outcomes.map((outcome) => (outcome as PromiseFulfilledResult<unknown>).value) as unknown as T
}

/**
 * Waits for work that is shared with others, so that giving up does not end it for them.
 * @throws the signal's reason when it comes first
 */
export async function withSignal<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work
  const givenUp = Promise.withResolvers<never>()
  using _ = addAbortListener(signal, () => givenUp.reject(signal.reason))
  return await Promise.race([work, givenUp.promise])
}
