import type { Logger } from 'pino'

/**
 * For the places where the specification says that a failure is "logged and ignored": does it, visibly and by name.
 * @returns what the work returned, or undefined when it failed
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
 * Timeout: waits for work at most so long. Work that takes longer goes on and is answered for by `attempt` or its own caller.
 * @returns the result, or undefined when the limit (ms) came first
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
 * `Promise.all` that leaves nothing behind: it settles when all of the work has, also when some of it failed. For work
 * with effects, whose caller does something else with the same thing afterwards.
 * @throws what the first of the list that failed threw
 */
export async function allSettledOrThrow<T extends readonly unknown[]>(work: {
  readonly [K in keyof T]: Promise<T[K]>
}): Promise<T> {
  const outcomes = await Promise.allSettled(work)
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
  return outcomes.map((outcome) => (outcome as PromiseFulfilledResult<unknown>).value) as unknown as T
}
