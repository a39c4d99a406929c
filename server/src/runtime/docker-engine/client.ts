import Docker from 'dockerode'
import { RuntimeError, type RuntimeErrorKind } from '#/runtime/runtime.ts'
import { findEngine } from './find-engine.ts'

/** How long each kind of call may take, in ms; after it the engine counts as not answering. */
export const limits = {
  read: 3_000,
  create: 60_000,
  start: 60_000,
  /** The engine itself waits 10 s before it kills the program. */
  stop: 25_000,
  remove: 60_000,
  pull: 600_000,
} as const

/** A connection to the engine. Connects at the first call, not here. */
export function connectTo(dockerHost: string | undefined): Docker {
  const address = findEngine(dockerHost)
  if (address.startsWith('unix://')) return new Docker({ socketPath: address.slice('unix://'.length) })
  const { protocol, hostname, port } = new URL(address)
  return new Docker({ protocol: protocol === 'https:' ? 'https' : 'http', host: hostname, port: port || '2375' })
}

/**
 * One call with its limit, and its failure in the port's words.
 * @param what   what is being done, for the error: `start berth-ann-dev`
 * @param limit  ms
 * @param signal ends it earlier
 * @throws {RuntimeError}
 */
export async function call<T>(
  what: string,
  limit: number,
  work: (abortSignal: AbortSignal) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const timeout = AbortSignal.timeout(limit)
  const either = signal ? AbortSignal.any([timeout, signal]) : timeout
  try {
    return await Promise.race([work(either), aborted(either)])
  } catch (error) {
    throw error instanceof RuntimeError ? error : new RuntimeError(kindOf(error), what, error)
  }
}

/** The client library does not always let go of a connection that is being set up. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) =>
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
  )
}

/** Status of the engine's answer; undefined when there was none. */
export const statusOf = (error: unknown) => (error as { statusCode?: number } | undefined)?.statusCode

/** No status means no answer: a socket that is missing, closed or silent. */
function kindOf(error: unknown): RuntimeErrorKind {
  const status = statusOf(error)
  if (status === undefined) return 'unreachable'
  if (status === 404) return /no such image/i.test(String((error as Error).message)) ? 'image' : 'missing'
  return status === 409 && /is already in use/i.test(String((error as Error).message)) ? 'conflict' : 'failed'
}
