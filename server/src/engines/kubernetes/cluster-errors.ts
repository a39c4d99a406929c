import { RuntimeError, type RuntimeErrorKind } from '#/engines/runtime-error.ts'

/** A `Status` object of the API, or what came in its place. */
interface ApiStatus {
  readonly kind?: string
  readonly reason?: string
  readonly message?: string
}

/** What the API server said instead of doing it. No header and no request is kept: they may have tokens. */
export class ApiErrorResponse extends Error {
  readonly status: number
  readonly reason: string

  constructor(status: number, reason: string, message: string) {
    super(`the API server answered ${status}${reason && ` ${reason}`}: ${message.slice(0, 500)}`)
    this.name = 'ApiErrorResponse'
    this.status = status
    this.reason = reason
  }
}

/** An answer of 400 and above, in the port's words. @param what was being done @param body of the answer */
export function errorResponseOf(what: string, status: number, body: string): RuntimeError {
  const said = parse(body)
  const answer = new ApiErrorResponse(status, said.reason ?? '', said.message ?? body)
  const kind = kindOf(answer, said)
  return new RuntimeError(kind, what, answer, kind === 'full' ? quotaIn(answer.message) : undefined)
}

/** What went wrong on the way says nothing about the world; a caller who gave up gets the reason of the signal back. */
export function toRuntimeError(error: unknown, what: string, signal: AbortSignal | undefined): unknown {
  if (error instanceof RuntimeError) return error
  if (signal?.aborted) return signal.reason
  return new RuntimeError('unreachable', what, error)
}

/** Status of the answer that an error has; undefined when there was none. */
export function statusOf(error: unknown): number | undefined {
  const cause = error instanceof RuntimeError ? error.cause : undefined
  return cause instanceof ApiErrorResponse ? cause.status : undefined
}

/** Whether this account may not do it, whatever there is room for. */
export const isForbidden = (error: unknown): boolean =>
  statusOf(error) === 403 && error instanceof RuntimeError && error.kind !== 'full'

/** Reason of the answer that an error has, such as `AlreadyExists`; undefined when there was none. */
export function reasonOf(error: unknown): string | undefined {
  const cause = error instanceof RuntimeError ? error.cause : undefined
  return cause instanceof ApiErrorResponse ? cause.reason : undefined
}

/** Whether what was asked for does not exist. */
export const isMissing = (error: unknown): boolean => error instanceof RuntimeError && error.kind === 'missing'

/**
 * "Not found" counts only as a `Status` of the API: a 404 of a proxy in between would make Berth forget what runs. An API
 * server that refuses the token (401), is overloaded (429) or fails (5xx) has said nothing about the world either.
 */
function kindOf({ status, message }: ApiErrorResponse, { kind, reason }: ApiStatus): RuntimeErrorKind {
  if (status === 404) return kind === 'Status' && reason === 'NotFound' ? 'missing' : 'unreachable'
  if (status === 401 || status === 429 || status >= 500) return 'unreachable'
  if (status === 409) return 'conflict'
  // A quota that every pod has to name resources for (`failed quota: few: must specify limits.cpu`) has room: it is the operator's to mend.
  const isFull = status === 403 && /exceeded quota|forbidden: .*quota/i.test(message) && !/failed quota:/i.test(message)
  return isFull ? 'full' : 'failed'
}

/** Name and numbers of the quota: `few, requested: pods=1, used: pods=3, limited: pods=3`. */
const quotaIn = (message: string): string | undefined => /exceeded quota: ([^\n]{1,300})/i.exec(message)?.[1]

function parse(body: string): ApiStatus {
  try {
    return (JSON.parse(body) as ApiStatus | null) ?? {}
  } catch {
    return {}
  }
}
