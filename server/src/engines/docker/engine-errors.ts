import { NetworkFull, RuntimeError, type RuntimeErrorKind } from '#/engines/runtime-error.ts'
import type { EngineCall } from './engine-client.ts'

/** What the engine said instead of doing it. */
export class EngineErrorResponse extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(`the engine answered ${status}: ${message}`)
    this.name = 'EngineErrorResponse'
    this.status = status
  }
}

/** An answer of 400 and above, in the port's words. */
export function errorResponseOf({ what }: EngineCall, status: number, body: string): RuntimeError {
  const answer = new EngineErrorResponse(status, messageIn(body))
  const kind = kindOf(answer)
  return kind === 'full' && isNetworkFull(answer.message)
    ? new NetworkFull(what, answer)
    : new RuntimeError(kind, what, answer)
}

/**
 * Whatever went wrong on the way, in the port's words. A connection that is refused, breaks, or carries no sense says
 * nothing about the world, so all of that is `unreachable`; a caller who gave up gets the reason of the signal back.
 */
export function toRuntimeError(error: unknown, { what, signal }: EngineCall): unknown {
  if (error instanceof RuntimeError) return error
  if (signal?.aborted) return signal.reason
  return new RuntimeError('unreachable', what, error)
}

/** Status of the engine's answer; undefined when there was none. */
export function statusOf(error: unknown): number | undefined {
  const cause = error instanceof RuntimeError ? error.cause : undefined
  return cause instanceof EngineErrorResponse ? cause.status : undefined
}

/**
 * The words are looked at beside the status: a 404 may come from a proxy in between that knows no such path, and
 * taking that for "gone" would make Berth forget containers that run.
 */
function kindOf({ status, message }: EngineErrorResponse): RuntimeErrorKind {
  if (status === 404 && /no such container/i.test(message)) return 'missing'
  if (status === 404 && /no such image|image not known/i.test(message)) return 'image'
  if (isOutOfSpace(message)) return 'full'
  return status === 409 ? 'conflict' : 'failed'
}

/** Of address pools, of a network's addresses, of a bridge's ports (EXFULL). */
const networkFullMessages =
  /non-overlapping IPv\d address pool|been fully subnetted|no available (IPv4 )?addresses|exchange full/i

const isNetworkFull = (words: string) => networkFullMessages.test(words)

/** Whether the engine's words say that there is no room for it: on its networks, or on its disk (ENOSPC). */
export const isOutOfSpace = (words: string) => isNetworkFull(words) || /no space left on device/i.test(words)

function messageIn(body: string): string {
  try {
    return String((JSON.parse(body) as { message?: unknown }).message)
  } catch {
    return body.slice(0, 500)
  }
}
