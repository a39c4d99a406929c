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
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, limit, undefined)
  })
  try {
    return await Promise.race([work, timeout])
  } finally {
    clearTimeout(timer)
  }
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
